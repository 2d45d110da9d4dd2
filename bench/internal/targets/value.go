package targets

import (
	"fmt"
	"strconv"
	"strings"

	"handloom/bench/internal/measure"
)

// value computes the value of a clause from one sample of each case.
type value struct {
	cases []string // op/impl or op/impl/workers
	from  func(samples []float64) float64
	best  bool // only the first case and the best of the others count

	starts bool // a sample is the median of one start of the program
}

func sample(name string) value {
	return value{cases: []string{name}, from: func(s []float64) float64 { return s[0] }}
}

func ratio(a, b string) value {
	return value{cases: []string{a, b}, from: func(s []float64) float64 { return s[0] / s[1] }}
}

// perStart is [ratio] for cases whose ratio changes with the place of code and data in
// memory. ± is then the reach over the starts of the program.
func perStart(a, b string) value {
	v := ratio(a, b)
	v.starts = true
	return v
}

// best returns the best peer divided by a.
func best(a string, peers ...string) value {
	return value{cases: append([]string{a}, peers...), from: func(s []float64) float64 { return s[1] / s[0] }, best: true}
}

// bestMixed returns the best peer in the mixed load divided by the table.
func bestMixed(workers int) value {
	impls := []string{"table", "syncmap", "xsync", "rwmutexmap", "shardedmap", "rwmutexstraight"}
	for i, impl := range impls {
		impls[i] = fmt.Sprintf("mixed/%s/%d", impl, workers)
	}
	return best(impls[0], impls[1:]...)
}

// name converts op/impl or op/impl/workers to the name of a result.
func name(called string, at place) measure.Case {
	parts := strings.Split(called, "/")
	c := measure.Case{Op: parts[0], Impl: parts[1], N: at.n, Size: at.size}
	if len(parts) == 3 {
		c.Workers, _ = strconv.Atoi(parts[2])
	}
	return c
}

// limit is an upper limit or, if higher, a lower limit.
type limit struct {
	value  float64
	higher bool
	none   bool // no promise
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
