package chart

import "math"

type Axis struct {
	Title string
	Unit  Unit
	Scale Scale
}

type Scale int

// A logarithmic axis omits values up to zero.
const (
	Linear Scale = iota
	Log10
)

// scale maps the values lo to hi to the pixels from to to.
type scale struct {
	kind     Scale
	lo, hi   float64
	from, to float64
	ticks    []tick
}

func (k Scale) shows(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (k == Linear || v > 0)
}

// at returns the pixel of v. Values beyond the ends map to the ends.
func (s *scale) at(v float64) float64 {
	lo, hi, v := s.lo, s.hi, min(max(v, s.lo), s.hi)
	if s.kind != Linear {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	return s.from + (v-lo)/(hi-lo)*(s.to-s.from)
}

type extent struct {
	lo, hi float64
	some   bool
}

func (e *extent) add(v float64, scale Scale) {
	if !scale.shows(v) {
		return
	}
	if !e.some {
		*e = extent{v, v, true}
	}
	e.lo, e.hi = min(e.lo, v), max(e.hi, v)
}

// overhang returns the width of the labels of a horizontal axis beyond its
// ends.
func (s *scale) overhang(font float64) (left, right float64) {
	if n := len(s.ticks); n > 0 {
		left, right = width(s.ticks[0].label, font)/2, width(s.ticks[n-1].label, font)/2
	}
	return left, right
}

func (s *scale) apart(font float64) bool {
	for i, b := range s.ticks {
		if i == 0 {
			continue
		}
		a := s.ticks[i-1]
		if s.at(b.value)-s.at(a.value) < (width(a.label, font)+width(b.label, font))/2+8 {
			return false
		}
	}
	return true
}
