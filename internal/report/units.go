package report

import (
	"math"
	"strconv"
	"time"
)

// Count returns n with commas: 1,234,567.
func Count(n int) string {
	digits := strconv.Itoa(n)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func CountOrEmpty(n int) string {
	if n == 0 {
		return ""
	}
	return Count(n)
}

// Rate returns n events in d as 870/s or 3.20M/s, or "-" if d is 0.
func Rate(n int, d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return scale(float64(n)/d.Seconds(), "", "k", "M", "G", "T") + "/s"
}

// Duration returns d with three digits and a unit: 41.2 us, 1.33 ms, 75.0 s. Nanoseconds
// are whole.
func Duration(d time.Duration) string {
	if d >= time.Second {
		return digits(d.Seconds()) + " s"
	}
	return scale(float64(d), " ns", " us", " ms", " s")
}

// Share returns a fraction in per cent: 12 %. An infinity or NaN is "?".
func Share(v float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return "?"
	}
	return strconv.FormatFloat(100*v, 'f', 0, 64) + " %"
}

// scale divides v by 1000 until it is below 1000 or units are exhausted. A whole v stays
// whole.
func scale(v float64, units ...string) string {
	if v < 999.5 && v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64) + units[0]
	}
	for v >= 999.5 && len(units) > 1 {
		v /= 1000
		units = units[1:]
	}
	return digits(v) + units[0]
}

// Digits returns v with at least three digits, and commas between thousands.
func Digits(v float64) string {
	if v >= 999.5 && v < math.MaxInt64 {
		return Count(int(math.Round(v)))
	}
	return digits(v)
}

func digits(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
