package report

import (
	"math"
	"strconv"
	"time"
)

// Count returns n with a comma between thousands: 1,234,567.
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

// CountOrEmpty returns Count of n, or "" for 0: a cell of a table without such a number.
func CountOrEmpty(n int) string {
	if n == 0 {
		return ""
	}
	return Count(n)
}

// Rate returns how many times per second something happened that happened n
// times in d, in three digits: 870/s, 3.20M/s. Of no time at all it is "-".
func Rate(n int, d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return scale(float64(n)/d.Seconds(), "", "k", "M", "G", "T") + "/s"
}

// Duration returns d in three digits and the unit that leaves one to three of
// them before the point: 41.2 us, 1.33 ms, 75.0 s. Nanoseconds are whole.
func Duration(d time.Duration) string {
	if d >= time.Second {
		return digits(d.Seconds()) + " s"
	}
	return scale(float64(d), " ns", " us", " ms", " s")
}

// Share returns a share of a whole in per cent: 12 %. One that is not known, which
// is infinite or not a number, is "?".
func Share(v float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return "?"
	}
	return strconv.FormatFloat(100*v, 'f', 0, 64) + " %"
}

// scale divides v by 1000 until it is below that, or out of units. A whole v
// that needs no division has no digits behind the point.
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

// Digits returns v with three digits, or all that are before the point, with
// commas between thousands.
func Digits(v float64) string {
	if v >= 999.5 && v < math.MaxInt64 {
		return Count(int(math.Round(v)))
	}
	return digits(v)
}

// digits returns v with three digits, or all that are before the point.
func digits(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
