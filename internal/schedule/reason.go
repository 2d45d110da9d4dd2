package schedule

import (
	"cmp"
	"slices"
)

// mode is what a system does to a resource.
type mode uint8

const (
	reads mode = 1 << iota
	writes
	emits
)

// String says it as a verb. Writing includes reading.
func (m mode) String() string {
	switch {
	case m&emits != 0:
		return "emits"
	case m&writes != 0:
		return "writes"
	}
	return "reads"
}

// accesses are what a system does, by ascending resource.
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

// to returns what the system does to a resource.
func (a accesses) to(r Resource) mode {
	if at, found := a.find(r); found {
		return a[at].mode
	}
	return 0
}

// reason is why one system has to wait for another: what each of them does to a
// resource. If both are 0, it asked for it with After.
type reason struct {
	other       int
	resource    Resource
	own, others mode
}

// distance is how many waves later the system must be at least. A system that
// emits what another one touches or emits may run beside it, because commands are
// only recorded, but not in an earlier wave: a flush in between would apply them
// too early.
func (r reason) distance() int {
	if r.own == emits {
		return 0
	}
	return 1
}

// reasons lists, by system, for whom it waits, but for those who emit to the same
// resource: see [plan.orderEmitters].
func reasons(systems []System, all []accesses) [][]reason {
	of := make([][]reason, len(systems))
	for later := range systems {
		for earlier := range later {
			for _, a := range all[later] {
				if r, ok := conflict(all[earlier].to(a.resource), a.mode); ok {
					r.other, r.resource = earlier, a.resource
					of[later] = append(of[later], r)
				}
			}
		}
		for _, name := range systems[later].After {
			other := slices.IndexFunc(systems, func(s System) bool { return s.Name == name })
			if other >= 0 { // otherwise it is one of the faults
				of[later] = append(of[later], reason{other: other})
			}
		}
	}
	return of
}

// conflict tells whether, and over what, a system that was registered later has
// to wait for one that was registered earlier, given what both do to a resource.
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
