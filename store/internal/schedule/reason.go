package schedule

import (
	"cmp"
	"slices"
)

// mode is a set of uses.
type mode uint8

const (
	reads mode = 1 << iota
	writes
	emits
)

// String returns a verb. Writing includes reading.
func (m mode) String() string {
	switch {
	case m&emits != 0:
		return "emits"
	case m&writes != 0:
		return "writes"
	}
	return "reads"
}

// accesses are a system's uses, by ascending resource.
type accesses []access

type access struct {
	resource Resource
	mode
}

func accessesOf(s *System) accesses {
	var all accesses
	for _, list := range []struct {
		mode
		resources []Resource
	}{{reads, s.Reads}, {writes, s.Writes}, {emits, s.Emits}} {
		for _, r := range list.resources {
			at, found := all.find(r)
			if !found {
				all = slices.Insert(all, at, access{resource: r})
			}
			all[at].mode |= list.mode
		}
	}
	return all
}

func (a accesses) find(r Resource) (at int, found bool) {
	return slices.BinarySearchFunc(a, r, func(a access, r Resource) int { return cmp.Compare(a.resource, r) })
}

func (a accesses) to(r Resource) mode {
	if at, found := a.find(r); found {
		return a[at].mode
	}
	return 0
}

// reason is why a system waits for another: their uses of a resource, or After if both are
// 0.
type reason struct {
	other       int
	resource    Resource
	own, others mode
}

// distance returns the minimum number of waves between the systems. An emitter may share a
// wave with an earlier system, but not precede it: a flush would apply its commands too
// early.
func (r reason) distance() int {
	if r.own == emits {
		return 0
	}
	return 1
}

// reasons returns the reasons to wait, by system, except between emitters; see
// [plan.orderEmitters].
func reasons(systems []System, all []accesses) [][]reason {
	waits := make([][]reason, len(systems))
	for later := range systems {
		for earlier := range later {
			for _, a := range all[later] {
				if r, ok := conflict(all[earlier].to(a.resource), a.mode); ok {
					r.other, r.resource = earlier, a.resource
					waits[later] = append(waits[later], r)
				}
			}
		}
		for _, name := range systems[later].After {
			other := slices.IndexFunc(systems, func(s System) bool { return s.Name == name })
			if other >= 0 { // else it is a fault
				waits[later] = append(waits[later], reason{other: other})
			}
		}
	}
	return waits
}

func conflict(earlier, later mode) (reason, bool) {
	const touches = reads | writes
	switch {
	case earlier&writes != 0 && later&touches != 0, earlier&reads != 0 && later&writes != 0:
		return reason{own: later & touches, others: earlier & touches}, true
	case earlier&emits != 0 && later&touches != 0:
		return reason{own: later & touches, others: emits}, true
	case earlier&touches != 0 && later&emits != 0:
		return reason{own: emits, others: earlier & touches}, true
	}
	return reason{}, false
}
