package chart

import (
	"cmp"
	"math"
)

type tick struct {
	value float64
	label string
}

// newScale returns an axis over e with about want ticks, at least 2. A linear
// axis of lengths begins at zero; an axis of positions may begin at the values.
func newScale(a Axis, e extent, want int, lengths bool) scale {
	if !e.some {
		return scale{lo: 0, hi: 1}
	}
	if a.Scale == Log10 {
		return logScale(a, e, want)
	}
	if lengths || e.lo > 0 && e.lo < e.hi/4 {
		e.lo, e.hi = min(e.lo, 0), max(e.hi, 0)
	}
	if e.hi-e.lo <= 1e-6*math.Abs(e.hi) { // one value, or a range that labels cannot resolve
		e.hi = e.lo + cmp.Or(math.Abs(e.lo)/10, 1)
	}
	step := a.Unit.step((e.hi - e.lo) / float64(want))
	first, last := math.Ceil(e.lo/step-1e-9), math.Floor(e.hi/step+1e-9)
	if lengths { // the axis ends at the last tick
		first, last = math.Floor(e.lo/step+1e-9), math.Ceil(e.hi/step-1e-9)
		e.lo, e.hi = first*step, last*step
	}
	var values []float64
	for i := first; i <= last; i++ {
		values = append(values, i*step)
	}
	return scale{kind: Linear, lo: e.lo, hi: e.hi, ticks: a.Unit.label(values, step)}
}

// step returns a round distance between ticks, at least raw: 1, 2 or 5 times a
// power of ten; a power of two for bytes; clock units for long times.
func (u Unit) step(raw float64) float64 {
	if u == Bytes && raw > 1 {
		return math.Exp2(math.Ceil(math.Log2(raw) - 1e-9))
	}
	if u == Nanoseconds {
		for _, seconds := range []float64{15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400} {
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

// logScale returns an axis with ticks at powers of ten, at most want; on a
// short axis also at 2 and 5 times a power.
func logScale(a Axis, e extent, want int) scale {
	low, high := floorLog(e.lo), -floorLog(1/e.hi)
	if low == high {
		high++
	}
	lo, hi := tighten(math.Pow(10, float64(low)), math.Pow(10, float64(high)), e)
	values := powers(lo, hi, low, high, 1, 1, 2, 5)
	if n := len(values); n == 0 || n > want {
		values = powers(lo, hi, low, high, stride(high-low, want), 1)
	}
	return scale{kind: a.Scale, lo: lo, hi: hi, ticks: a.Unit.label(values, 0)}
}

func stride(powers, want int) int {
	for _, round := range []int{1, 2, 3, 5, 6, 10} {
		if round*want >= powers {
			return round
		}
	}
	return powers/want + 1
}

// powers returns the multiples of powers of ten, low to high in strides, within
// the axis.
func powers(lo, hi float64, low, high, stride int, multiples ...float64) []float64 {
	var values []float64
	first := int(math.Ceil(float64(low)/float64(stride))) * stride
	for p := first; p <= high; p += stride {
		for _, m := range multiples {
			if v := m * math.Pow(10, float64(p)); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
				values = append(values, v)
			}
		}
	}
	return values
}

// floorLog returns the greatest p with 10^p <= v, tolerating rounding errors.
func floorLog(v float64) int { return int(math.Floor(math.Log10(v) + 1e-9)) }

// tighten moves the ends of a short axis inwards to 2 or 5 times a power of
// ten.
func tighten(lo, hi float64, e extent) (float64, float64) {
	for _, m := range []float64{5, 2} {
		if lo*m <= e.lo*(1+1e-9) && lo*m < hi/2 {
			lo *= m
			break
		}
	}
	for _, m := range []float64{5, 2} {
		if hi/10*m >= e.hi*(1-1e-9) && hi/10*m > lo*2 {
			hi = hi / 10 * m
		}
	}
	return lo, hi
}
