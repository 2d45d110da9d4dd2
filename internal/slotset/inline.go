package slotset

import "handloom/shard/handle"

// Inline stands for the type of the generic functions here, which are generic only to
// be inlined where a map is used: a package passes on the bodies of generic functions to
// who imports it, those of others only if it inlines them itself. So they call nothing,
// not even a method of a handle. They are what nearly every single erase and insert does
// with the freelist (op=churn, op=refillrandom).
type Inline struct{}

// TryRetire does what [Freelist.Retire] does where the ring has room behind the last
// slot without going around, and no slot is depleted. Else it changes nothing.
func TryRetire[_ any](s *Freelist, slot Slot, w handle.ID) (handle.ID, bool) {
	ticket := s.back
	at := ticket - s.base
	if at >= uint64(len(s.ring)) || uint16(w>>32) == s.last {
		return 0, false
	}
	s.ring[at] = slot
	s.back = ticket + 1
	if s.Next != 0 && ticket-s.front >= uint64(s.minFree) {
		s.Next = 0
	}
	return (w | rowMask) + (handle.FreeBit + 1) + handle.ID(uint32(ticket)), true // see retired
}

// TryPop takes the front slot off the freelist if it is to be issued next and lies
// where the ring has not gone around. Its word goes through [Reissue].
func TryPop[_ any](s *Freelist) (Slot, bool) {
	ticket := s.front
	at := ticket - s.base
	if s.back-ticket <= uint64(s.minFree) || at >= uint64(len(s.ring)) {
		return 0, false
	}
	s.front = ticket + 1
	return s.ring[at], true
}

// Reissue returns the upper half of the handle that the vacant slot with the word w is
// issued with.
func Reissue[_ any](s *Freelist, w handle.ID) handle.ID {
	upper := w &^ (handle.FreeBit | rowMask)
	if g := uint16(w >> 32); g > s.highest {
		s.highest = g
	}
	return upper
}
