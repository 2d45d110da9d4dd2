package measure

import (
	"runtime"
	"time"
)

// Work is a case made ready. A case that measures time has a Body, any other one
// a Measure.
type Work struct {
	Body    func() // what is timed; a loop in it belongs into a function of its own
	Items   int    // that one Body takes care of; 0: one
	Prepare func() // before every Body, not timed; nil: bodies follow one another

	// Within calls sample where bodies can run, inside a team say. nil: anywhere.
	Within func(sample func())

	// Measure returns one sample in the unit of the case. It builds what it
	// needs and drops it.
	Measure func() float64

	// Count returns the number of operations of the first Body, taken from its result.
	// Tests compare it with a count made by hand. nil: the result does not show it.
	Count func() int

	Close func() // nil: nothing to close
}

// shortest is how long a stretch of bodies is that the clock is read around:
// reading it takes a share of this that does not matter.
const shortest = 20 * time.Microsecond

// Sample is one measured value, over how many bodies it was taken, and how long
// these took. Of [Work.Measure] it is one body that took no time.
type Sample struct {
	Value  float64
	Bodies int
	Took   time.Duration
}

// Sample takes one sample of bodies that took at least the given time; 0 is one
// body.
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

// long is how long a body takes that cold caches do not matter to.
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

// stretch returns how long n bodies took in a row.
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
