package chart_test

import (
	"math"

	"handloom/internal/chart"
)

// The charts that the other tests draw, by the name of their golden files.
var charts = map[string]chart.Chart{
	"quantiles": chart.Lines{
		Title: "Flush time, per interval", Note: "An interval is one second.",
		X:      chart.Axis{Title: "time since the start", Unit: chart.Nanoseconds},
		Y:      chart.Axis{Title: "flush time", Unit: chart.Nanoseconds, Scale: chart.Log10},
		Series: []chart.Series{band(wave("p50", 40e3, 60), 2.4e6), wave("p99", 95e3, 60)},
	},
	"rate": chart.Lines{
		Title:  "Commands applied",
		X:      chart.Axis{Title: "time since the start", Unit: chart.Nanoseconds},
		Y:      chart.Axis{Title: "commands per second"},
		Series: []chart.Series{wave("commands", 3.1e6, 400)},
	},
	"scaling": chart.Lines{
		Title: "Random look-up, items of 8 bytes",
		X:     chart.Axis{Title: "items", Scale: chart.Log10},
		Y:     chart.Axis{Title: "time per item", Unit: chart.Nanoseconds, Scale: chart.Log10},
		Series: []chart.Series{
			power("handlemap", 3.1, 0.3), power("slotmap", 3.3, 0.2), power("straight Go", 3.2, 0.32),
			power("map[uint64]T", 14, 0.35), power("sync.Map", 160, 0.2), power("xsync.Map", 60, 0.4),
		},
	},
	"workers": chart.Lines{
		Title:  "One flush of 1,000,000 commands over 64 shards, by number of workers: how much faster than one worker",
		X:      chart.Axis{Title: "workers", Scale: chart.Log2},
		Y:      chart.Axis{Title: "times faster than one worker", Unit: chart.Times},
		Series: []chart.Series{{Name: "team", Points: []chart.Point{{1, guess(1)}, {2, guess(1.9)}, {4, guess(3.6)}, {8, guess(6.8)}, {16, guess(12.5)}}}},
	},
	"bars": chart.Bars{
		Title:  "Time per item",
		Says:   "handlemap is beaten by nothing in 4 of 5 operations; map[uint64]T takes up to 21x as long.",
		X:      chart.Axis{Title: "logarithmic", Unit: chart.Nanoseconds, Scale: chart.Log10},
		Series: []string{"100,000 items", "1,000,000 items"},
		Groups: []chart.Group{
			{"create one by one, reserved / handlemap", values(5.2, 5.4)},
			{"create one by one, reserved / map[uint64]T", values(25, 114)},
			{"look up, random", values(3.1, 22)},
			{"erase all in random order, with <a> & \"quotes\"", values(8.9, math.NaN())},
			{"iterate", []chart.Value{guess(0.28), guess(0.35)}},
		},
	},
	"ratios": chart.Bars{
		Title:  "Ratio to straight Go",
		X:      chart.Axis{Title: "times the time of straight Go", Unit: chart.Times},
		Series: []string{"handlemap"},
		Groups: []chart.Group{{"insert", []chart.Value{{At: 0.92}}}, {"get", values(1.02)}, {"erase", []chart.Value{guess(1.4)}}},
		Limit:  &chart.Limit{Name: "as fast as straight Go", At: 1},
	},
	"empty-lines": chart.Lines{Title: "Nothing", X: chart.Axis{Unit: chart.Nanoseconds}, Y: chart.Axis{Title: "heap", Unit: chart.Bytes}, Series: []chart.Series{{Name: "heap"}}},
	"empty-bars":  chart.Bars{Title: "Nothing", Series: []string{"x"}},
}

// measured returns v with an interval of 10 % around it.
func measured(v float64) chart.Value { return chart.Value{At: v, Low: 0.9 * v, High: 1.1 * v} }

// guess returns v as it is after too few rounds.
func guess(v float64) chart.Value {
	return chart.Value{At: v, Low: math.Inf(-1), High: math.Inf(1)}
}

func values(all ...float64) (values []chart.Value) {
	for _, v := range all {
		values = append(values, measured(v))
	}
	return values
}

// band returns s with a band up to high.
func band(s chart.Series, high float64) chart.Series {
	for i := range s.Points {
		s.Points[i].Y.Low, s.Points[i].Y.High = s.Points[i].Y.At, high
	}
	return s
}

// wave returns n points a second apart, always the same.
func wave(name string, middle float64, n int) chart.Series {
	s := chart.Series{Name: name}
	for i := range n {
		f := float64(i)
		s.Points = append(s.Points, chart.Point{X: (f + 1) * 1e9, Y: chart.Value{At: middle * (1 + 0.3*math.Round(100*math.Sin(f/5))/100 + 0.1*float64(i*7%5))}})
	}
	return s
}

// power returns a line that rises with the logarithm of the size.
func power(name string, first, exponent float64) chart.Series {
	s := chart.Series{Name: name}
	for n := 1e3; n <= 1e7; n *= 10 {
		s.Points = append(s.Points, chart.Point{X: n, Y: measured(math.Round(100*first*math.Pow(n/1e3, exponent)) / 100)})
	}
	return s
}
