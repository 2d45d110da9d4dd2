package chart

import "math"

// Value is a figure with the interval of its true value: both ends 0 if exact,
// infinite if there were too few samples. The latter is a guess and drawn
// hollow.
type Value struct {
	At        float64
	Low, High float64
}

// guess reports whether the interval is unknown.
func (v Value) guess() bool { return math.IsInf(v.Low, -1) || math.IsInf(v.High, 1) }

func (v Value) ranges() bool { return !v.guess() && v.Low < v.High }

func (e *extent) addValue(v Value, scale Scale) {
	e.add(v.At, scale)
	if v.ranges() {
		e.add(v.Low, scale)
		e.add(v.High, scale)
	}
}
