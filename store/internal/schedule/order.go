package schedule

import (
	"errors"
	"slices"
)

// serialOrder returns the systems in serial order: the next is the first registered one
// that waits for none. If all wait, it returns an error with all cycles.
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
		for _, r := range cycle {
			place(r.system)
		}
	}
	return order, errors.Join(cycles...)
}

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
	first := 0 // the message must not depend on the start of the walk
	for i := range cycle {
		if cycle[i].system < cycle[first].system {
			first = i
		}
	}
	return append(cycle[first:len(cycle):len(cycle)], cycle[:first]...)
}
