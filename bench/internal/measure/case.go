package measure

import (
	"fmt"
	"strings"
)

// Case is one thing to measure.
type Case struct {
	Op, Impl         string
	N, Size, Workers int // items, bytes of one, goroutines; 0: has none, and the name does not say it
	Unit             Unit
	With             string // the op of the comparison it belongs to; "": its own
	Rounds           int    // at most; 0: as many as are asked for. For what takes long

	// Open makes the case ready. It is called right before the first round of
	// its comparison, so that memory is held for one comparison at a time.
	Open func() *Work
}

// Name returns what the case is called: op=get/impl=map/n=1000/size=8.
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

// Comparison is what cases have in common that are set side by side.
type Comparison struct {
	Op      string
	N, Size int
}

// Comparison returns the comparison that the case belongs to. Cases that differ
// in workers alone are in one.
func (c *Case) Comparison() Comparison {
	op := c.With
	if op == "" {
		op = c.Op
	}
	return Comparison{op, c.N, c.Size}
}

// Unit is what the samples of a case are counted in.
type Unit string

// The units. Those that count a time are filled in by the runner, for the
// others [Work.Measure] returns the value.
const (
	PerItem   Unit = "ns/item" // the zero Unit means this one
	PerOp     Unit = "ns/op"
	PerSecond Unit = "events/s" // the only one of which more is better
)

// HigherIsBetter reports whether more of it is an improvement.
func (u Unit) HigherIsBetter() bool { return strings.HasSuffix(string(u), "/s") }

// Of returns the value of bodies that took ns nanoseconds for the items.
func (u Unit) Of(ns float64, items int) float64 {
	if u.HigherIsBetter() {
		return float64(items) / ns * 1e9
	}
	return ns / float64(items)
}
