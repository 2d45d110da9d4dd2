package targets

import (
	"fmt"
	"strconv"
	"strings"

	"handloom/bench/internal/measure"
)

// value is how a clause comes to its value: from which cases, and how from one
// sample of each.
type value struct {
	cases []string // op/impl or op/impl/workers
	from  func(samples []float64) float64
	best  bool // all cases but the first are rivals, of which the one with the lowest median stays
}

// sample is the value of a case itself.
func sample(name string) value {
	return value{cases: []string{name}, from: func(s []float64) float64 { return s[0] }}
}

// ratio is how many times as much a is as b.
func ratio(a, b string) value {
	return value{cases: []string{a, b}, from: func(s []float64) float64 { return s[0] / s[1] }}
}

// best is how many times as much the best of the rivals is as a.
func best(a string, peers ...string) value {
	return value{append([]string{a}, peers...), func(s []float64) float64 { return s[1] / s[0] }, true}
}

// bestMixed is how many times as much the best rival in the mixed load is as the table, each
// with so many workers.
func bestMixed(workers int) value {
	impls := []string{"table", "syncmap", "xsync", "rwmutexmap", "shardedmap", "rwmutexstraight"}
	for i, impl := range impls {
		impls[i] = fmt.Sprintf("mixed/%s/%d", impl, workers)
	}
	return best(impls[0], impls[1:]...)
}

// name returns the name of the result that a clause calls op/impl, or op/impl/workers.
func name(called string, at place) measure.Case {
	parts := strings.Split(called, "/")
	c := measure.Case{Op: parts[0], Impl: parts[1], N: at.n, Size: at.size}
	if len(parts) == 3 {
		c.Workers, _ = strconv.Atoi(parts[2])
	}
	return c
}

// limit is what a value must not exceed or, higher, must not fall short of.
type limit struct {
	value  float64
	higher bool
	none   bool // nothing is promised
}

func atMost(v float64) limit  { return limit{value: v} }
func atLeast(v float64) limit { return limit{value: v, higher: true} }

var noLimit = limit{none: true}

func (l limit) met(v float64) bool {
	if l.higher {
		return v >= l.value
	}
	return v <= l.value
}
