package chart

import (
	"math"
	"strconv"
	"strings"
)

// Unit is the unit of an axis and determines the format of its values.
type Unit int

const (
	Plain       Unit = iota // 1,500,000 is 1.5M
	Nanoseconds             // 1,500,000 is 1.5 ms
	Bytes                   // 1,572,864 is 1.5 MiB
)

type prefix struct {
	size float64
	name string
}

var prefixes = map[Unit][]prefix{
	Plain:       {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}},
	Nanoseconds: {{1, " ns"}, {1e3, " us"}, {1e6, " ms"}, {1e9, " s"}, {120e9, " min"}, {7200e9, " h"}},
	Bytes:       {{1, " B"}, {1 << 10, " KiB"}, {1 << 20, " MiB"}, {1 << 30, " GiB"}, {1 << 40, " TiB"}},
}

// prefix returns the greatest prefix up to v. Minutes and hours start at two.
func (u Unit) prefix(v float64) prefix {
	all := prefixes[u]
	best := all[0]
	for _, p := range all[1:] {
		if math.Abs(v) >= p.size*(1-1e-9) {
			best = p
		}
	}
	switch best.name {
	case " min":
		best.size = 60e9
	case " h":
		best.size = 3600e9
	}
	return best
}

// tick returns a tick of a linear axis. All have the format of the greatest.
func (u Unit) tick(v, step, greatest float64) tick {
	if math.Abs(v) < step/2 {
		return tick{v, "0"}
	}
	p := u.prefix(greatest)
	return tick{v, strconv.FormatFloat(v/p.size, 'f', decimals(step/p.size), 64) + p.name}
}

// decimals returns the number of decimals that multiples of step need.
func decimals(step float64) int {
	for n := range 9 {
		if scaled := step * math.Pow10(n); math.Abs(scaled-math.Round(scaled)) < scaled*1e-6 {
			return n
		}
	}
	return 9
}

// Format formats a value with three digits, without trailing zeros.
func (u Unit) Format(v float64) string {
	if v == 0 {
		return "0"
	}
	p := u.prefix(v)
	v /= p.size
	digits := min(max(2-int(math.Floor(math.Log10(math.Abs(v))+1e-9)), 0), 9)
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + p.name
}
