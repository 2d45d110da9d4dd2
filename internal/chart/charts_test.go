package chart_test

import (
	"math"

	"handloom/internal/chart"
)

var sinceStart = chart.Axis{Title: "time since the start", Unit: chart.Nanoseconds}

var charts = map[string]chart.Chart{
	"series": chart.Lines{
		Title: "Flush time, per interval", X: sinceStart, Y: chart.Axis{Title: "flush time", Unit: chart.Nanoseconds},
		Series: []chart.Series{wave("p50", 40e3, 60), wave("p99", 95e3, 60)},
	},
	"rate": chart.Lines{
		Title: "Commands applied", X: sinceStart, Y: chart.Axis{Title: "commands per second"},
		Series: []chart.Series{wave("commands", 3.1e6, 400)},
	},
	"bars": chart.Bars{
		Title:  "Time per item",
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
	"linear": chart.Bars{
		Title:  "Memory beyond the item",
		X:      chart.Axis{Title: "after growth", Unit: chart.Bytes},
		Series: []string{"median"},
		Groups: []chart.Group{{"handlemap", []chart.Value{{At: 12}}}, {"slotmap", values(13)}, {"map", []chart.Value{guess(18)}}},
	},
	"empty-lines": chart.Lines{Title: "Nothing", X: chart.Axis{Unit: chart.Nanoseconds}, Y: chart.Axis{Title: "heap", Unit: chart.Bytes}, Series: []chart.Series{{Name: "heap"}}},
}

func measured(v float64) chart.Value { return chart.Value{At: v, Low: 0.9 * v, High: 1.1 * v} }

func guess(v float64) chart.Value { return chart.Value{At: v, Low: math.Inf(-1), High: math.Inf(1)} }

func values(all ...float64) (values []chart.Value) {
	for _, v := range all {
		values = append(values, measured(v))
	}
	return values
}

// wave returns n fixed points, one per second.
func wave(name string, middle float64, n int) chart.Series {
	s := chart.Series{Name: name}
	for i := range n {
		f := float64(i)
		s.Points = append(s.Points, chart.Point{X: (f + 1) * 1e9, Y: middle * (1 + 0.3*math.Round(100*math.Sin(f/5))/100 + 0.1*float64(i*7%5))})
	}
	return s
}
