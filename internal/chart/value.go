package chart

import "math"

// Value is a figure and the interval that the true one lies in: both ends 0 where
// there is no more to say, and infinite where too little was measured to tell
// them. Such a value is a guess, and drawn as one.
type Value struct {
	At        float64
	Low, High float64
}

// guess reports whether nobody knows how far v is from the truth.
func (v Value) guess() bool { return math.IsInf(v.Low, -1) || math.IsInf(v.High, 1) }

// ranges reports whether v has an interval to draw.
func (v Value) ranges() bool { return !v.guess() && v.Low < v.High }

// add makes room for v with its interval.
func (e *extent) addValue(v Value, scale Scale) {
	e.add(v.At, scale)
	if v.ranges() {
		e.add(v.Low, scale)
		e.add(v.High, scale)
	}
}
