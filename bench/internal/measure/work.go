package measure

import (
	"runtime"
	"time"
)

// Work is a prepared case with a Body or a Measure.
type Work struct {
	Body    func() // timed; a loop in it belongs in its own function
	Items   int
	Prepare func() // untimed, before every Body; nil: bodies run back to back

	// Within calls sample where bodies can run, such as in a team; nil:
	// anywhere.
	Within func(sample func())

	// Measure returns one sample. It builds and drops its data.
	Measure func() float64

	// Count returns the number of operations of the first Body; nil: not
	// visible. Tests compare it with a count by hand.
	Count func() int

	Close func() // may be nil
}

// shortest is the least time between two readings of the clock, to make their
// cost small.
const shortest = 20 * time.Microsecond

// Sample is a measured value, its number of bodies and their time. A
// [Work.Measure] is one body of no time.
type Sample struct {
	Value  float64
	Bodies int
	Took   time.Duration
}

// Sample takes a sample of bodies that take at least atLeast; 0: one body.
func (w *Work) Sample(unit Unit, atLeast time.Duration) Sample {
	runtime.GC()
	if w.Measure != nil {
		return Sample{Value: w.Measure(), Bodies: 1}
	}
	var s Sample
	w.within(func() { s = w.sample(atLeast) })
	s.Value = unit.Of(float64(s.Took.Nanoseconds()), s.Bodies*max(w.Items, 1))
	return s
}

func (w *Work) within(f func()) {
	if w.Within == nil {
		f()
		return
	}
	w.Within(f)
}

// long is the time of a body from which cold caches do not matter.
const long = 20 * time.Millisecond

// sample runs bodies. The first does not count unless it is long.
func (w *Work) sample(atLeast time.Duration) (s Sample) {
	stretch, took := 1, w.stretch(1)
	if took >= max(long, atLeast) {
		return Sample{Bodies: 1, Took: took}
	}
	for w.Prepare == nil && took < shortest && atLeast > 0 {
		stretch *= 2
		took = w.stretch(stretch)
	}
	for s.Bodies == 0 || s.Took < atLeast {
		s.Took += w.stretch(stretch)
		s.Bodies += stretch
	}
	return s
}

func (w *Work) stretch(n int) time.Duration {
	if w.Prepare != nil {
		w.Prepare()
	}
	began := time.Now()
	for range n {
		w.Body()
	}
	return max(time.Since(began), 1)
}

func (w *Work) close() {
	if w.Close != nil {
		w.Close()
	}
}
