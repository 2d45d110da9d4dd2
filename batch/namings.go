package batch

import "slices"

// namings name the creates of the inbox. Calls that begin between two flushes
// share a naming; those that record longer keep theirs, so that there may be
// several at a time, each with a number that no other has.
type namings struct {
	current  *naming   // of calls that begin now
	older    []*naming // that calls still refer to
	spare    []*naming
	number   uint16   // given last
	resolved []uint16 // whose names resolve, because the last batch that was flushed has them
}

func (o *namings) init() {
	o.number = 1
	o.current = &naming{number: o.number, first: inboxSegments}
}

// take returns the naming of a call that begins.
func (o *namings) take() *naming {
	if o.current.low.Load() {
		o.renew()
	}
	o.current.users++
	return o.current
}

// release ends a call's use of a naming.
func (o *namings) release(s *naming) {
	s.users--
	if s.users > 0 || s == o.current {
		return
	}
	at := slices.Index(o.older, s)
	o.older = slices.Delete(o.older, at, at+1)
	o.spare = append(o.spare, s)
}

// renew gives calls that begin from now on names of another number.
func (o *namings) renew() {
	if o.current.users > 0 {
		o.older = append(o.older, o.current)
		if n := len(o.spare); n > 0 {
			o.current, o.spare = o.spare[n-1], o.spare[:n-1]
		} else {
			o.current = &naming{first: inboxSegments}
		}
	}
	for o.number++; o.taken(o.number); o.number++ {
	}
	o.current.restart(o.number)
}

// taken reports whether names of a number are in use, or resolve.
func (o *namings) taken(number uint16) bool {
	return slices.Contains(o.resolved, number) ||
		slices.ContainsFunc(o.older, func(s *naming) bool { return s.number == number })
}
