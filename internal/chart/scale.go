package chart

import (
	"cmp"
	"math"
)

type Axis struct {
	Title string
	Unit  Unit
}

// scale maps the values lo to hi to the pixels from to to.
type scale struct {
	log      bool
	lo, hi   float64
	from, to float64
	ticks    []tick
}

type tick struct {
	value float64
	label string
}

// at returns the pixel of v. Values beyond the ends map to the ends.
func (s *scale) at(v float64) float64 {
	lo, hi, v := s.lo, s.hi, min(max(v, s.lo), s.hi)
	if s.log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	return s.from + (v-lo)/(hi-lo)*(s.to-s.from)
}

// apart reports whether the labels of a horizontal axis do not touch.
func (s *scale) apart() bool {
	for i := 1; i < len(s.ticks); i++ {
		a, b := s.ticks[i-1], s.ticks[i]
		if s.at(b.value)-s.at(a.value) < (width(a.label)+width(b.label))/2+8 {
			return false
		}
	}
	return true
}

// extent is the range of the values of an axis.
type extent struct {
	lo, hi float64
	some   bool
}

func (e *extent) add(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if !e.some {
		*e = extent{v, v, true}
	}
	e.lo, e.hi = min(e.lo, v), max(e.hi, v)
}

// linear returns an axis with about want ticks, at least 2. An axis of lengths
// begins at zero and ends at a tick.
func (e extent) linear(u Unit, want int, lengths bool) scale {
	if !e.some {
		return scale{hi: 1}
	}
	if lengths || e.lo > 0 && e.lo < e.hi/4 {
		e.lo, e.hi = min(e.lo, 0), max(e.hi, 0)
	}
	if e.hi-e.lo <= 1e-6*math.Abs(e.hi) { // one value, or a range that labels cannot resolve
		e.hi = e.lo + cmp.Or(math.Abs(e.lo)/10, 1)
	}
	step := u.step((e.hi - e.lo) / float64(want))
	first, last := math.Ceil(e.lo/step-1e-9), math.Floor(e.hi/step+1e-9)
	if lengths {
		first, last = math.Floor(e.lo/step+1e-9), math.Ceil(e.hi/step-1e-9)
		e.lo, e.hi = first*step, last*step
	}
	s := scale{lo: e.lo, hi: e.hi}
	for i := first; i <= last; i++ {
		s.ticks = append(s.ticks, u.tick(i*step, step, max(math.Abs(e.lo), math.Abs(e.hi))))
	}
	return s
}

// step returns a round distance between ticks, at least raw: 1, 2 or 5 times a
// power of ten; a power of two for bytes; clock units for long times.
func (u Unit) step(raw float64) float64 {
	if u == Bytes && raw > 1 {
		return math.Exp2(math.Ceil(math.Log2(raw) - 1e-9))
	}
	if u == Nanoseconds {
		for _, seconds := range []float64{15, 30, 60, 300, 900, 1800, 3600, 7200, 14400, 43200, 86400} {
			if raw > 10e9 && raw <= seconds*1e9 {
				return seconds * 1e9
			}
		}
	}
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, round := range []float64{1, 2, 5} {
		if raw <= round*power*(1+1e-9) {
			return round * power
		}
	}
	return 10 * power
}

// logarithmic returns an axis from a power of ten to another, with ticks at some
// of them; on a short axis also at 2 and 5 times a power.
func (e extent) logarithmic(u Unit, want int) scale {
	low, high := math.Floor(math.Log10(e.lo)+1e-9), math.Ceil(math.Log10(e.hi)-1e-9)
	high = max(high, low+1)
	stride, multiples := math.Ceil((high-low)/float64(want)), []float64{1}
	if int(high-low)*3 <= want {
		multiples = []float64{1, 2, 5}
	}
	s := scale{log: true, lo: math.Pow(10, low), hi: math.Pow(10, high)}
	for p := low; p <= high; p += stride {
		for _, m := range multiples {
			if v := m * math.Pow(10, p); v <= s.hi*(1+1e-9) {
				s.ticks = append(s.ticks, tick{v, u.Format(v)})
			}
		}
	}
	return s
}
