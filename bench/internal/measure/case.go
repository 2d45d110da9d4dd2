package measure

import (
	"cmp"
	"fmt"
	"strings"
)

type Case struct {
	Op, Impl         string
	N, Size, Workers int // items, bytes of an item, goroutines; 0: none, not in the name
	Unit             Unit
	With             string // op of its comparison; "": its own
	Rounds           int    // limit, for slow cases; 0: as many as requested

	// Open prepares the case right before the first round of its comparison, so
	// that only one comparison holds memory.
	Open func() *Work
}

// Name returns the name of the case, such as op=get/impl=map/n=1000/size=8.
func (c *Case) Name() string {
	var b strings.Builder
	fmt.Fprintf(&b, "op=%s/impl=%s", c.Op, c.Impl)
	for _, part := range []struct {
		key   string
		value int
	}{{"n", c.N}, {"size", c.Size}, {"workers", c.Workers}} {
		if part.value != 0 {
			fmt.Fprintf(&b, "/%s=%d", part.key, part.value)
		}
	}
	return b.String()
}

type Comparison struct {
	Op      string
	N, Size int
}

// Comparison returns the comparison of the case, for any number of workers.
func (c *Case) Comparison() Comparison {
	return Comparison{cmp.Or(c.With, c.Op), c.N, c.Size}
}

// Unit is the unit of the samples of a case.
type Unit string

// The runner computes times; other units take the value of [Work.Measure].
const (
	PerItem   Unit = "ns/item" // the zero Unit
	PerOp     Unit = "ns/op"
	PerSecond Unit = "events/s" // the only unit of which more is better
)

func (u Unit) HigherIsBetter() bool { return strings.HasSuffix(string(u), "/s") }

// Of returns the value of bodies that took ns nanoseconds for the items.
func (u Unit) Of(ns float64, items int) float64 {
	if u.HigherIsBetter() {
		return float64(items) / ns * 1e9
	}
	return ns / float64(items)
}
