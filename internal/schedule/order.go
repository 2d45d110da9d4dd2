package schedule

import (
	"errors"
	"slices"
)

// serialOrder returns the systems in the order in which they would run one by
// one: next is always the one that was registered first of those that wait for
// nobody still to come. When there is none, some wait for each other, and the
// error lists them.
func serialOrder(w words, reasons [][]reason) ([]int, error) {
	var order []int
	var cycles []error
	n := len(w.systems)
	placed := make([]bool, n)
	place := func(i int) { placed[i], order = true, append(order, i) }
	ready := func(i int) bool {
		return !placed[i] && !slices.ContainsFunc(reasons[i], func(r reason) bool { return !placed[r.other] })
	}
	for len(order) < n {
		next := 0
		for next < n && !ready(next) {
			next++
		}
		if next < n {
			place(next)
			continue
		}
		cycle := findCycle(reasons, placed)
		cycles = append(cycles, w.cycleError(cycle))
		for _, r := range cycle { // look for others beyond it
			place(r.system)
		}
	}
	return order, errors.Join(cycles...)
}

// findCycle returns systems that wait for each other, in the order in which each
// would have to be before the next; the reason is why it waits for the one
// before it, which for the first is the last. Every system that is not placed
// waits for another one.
func findCycle(reasons [][]reason, placed []bool) []cause {
	at := slices.Index(placed, false)
	var path []cause
	for !slices.ContainsFunc(path, func(c cause) bool { return c.system == at }) {
		r := reasons[at][slices.IndexFunc(reasons[at], func(r reason) bool { return !placed[r.other] })]
		path = append(path, cause{at, r})
		at = r.other
	}
	cycle := path[slices.IndexFunc(path, func(c cause) bool { return c.system == at }):]
	slices.Reverse(cycle)
	first := 0 // registered, so that the message does not depend on where the walk began
	for i := range cycle {
		if cycle[i].system < cycle[first].system {
			first = i
		}
	}
	return append(cycle[first:len(cycle):len(cycle)], cycle[:first]...)
}
