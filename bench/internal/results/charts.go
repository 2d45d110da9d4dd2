package results

import (
	"fmt"
	"math"
	"slices"

	"handloom/bench/internal/measure"
	"handloom/internal/chart"
	"handloom/internal/report"
)

func charts(r *Run) (charts []chart.Chart) {
	d := newChartData(r)
	for _, c := range []chart.Chart{
		d.containers(),
		d.bars("Ordering and bulk operations: time per item", measure.PerItem, "insertitems", "sort", "defragment"),
		d.bars("Mixed load on 8 tasks: time per operation", measure.PerItem, "mixed"),
		d.bars("A full collection while the items live", "ms/gc", "gc"),
		d.bars("Memory beyond the item, after growth", "B/item", "memory"),
	} {
		if c != nil {
			charts = append(charts, c)
		}
	}
	return charts
}

type chartData struct {
	results []*measure.Result
}

func newChartData(r *Run) chartData {
	var d chartData
	for _, group := range r.Groups() {
		d.results = append(d.results, group...)
	}
	return d
}

func (d chartData) where(f func(*measure.Result) bool) (found []*measure.Result) {
	for _, r := range d.results {
		if f(r) {
			found = append(found, r)
		}
	}
	return found
}

func chartValue(s measure.Summary, scale float64) chart.Value {
	return chart.Value{At: s.Median * scale, Low: s.Low * scale, High: s.High * scale}
}

// Containers with their own colour, and the n and size of the bars.
var colours = []string{"handlemap", "slotmap", "straight", "map"}

const (
	barsN    = 100_000
	barsSize = 8
)

var operations = []struct{ op, name string }{
	{"create", "create"},
	{"insert", "create, reserved"},
	{"iterate", "iterate"},
	{"getinorder", "look up, in order"},
	{"get", "look up, random"},
	{"erase", "erase, random"},
	{"churn", "erase and create"},
	{"clear", "clear"},
}

func (d chartData) containers() chart.Chart {
	b := chart.Bars{
		Title:  "Containers: time per item",
		X:      chart.Axis{Title: "logarithmic", Unit: chart.Nanoseconds, Scale: chart.Log10},
		Series: colours,
		Note:   fmt.Sprintf("%s items of %d bytes.", report.Count(barsN), barsSize),
	}
	for _, o := range operations {
		g := chart.Group{Name: o.name, Values: slices.Repeat([]chart.Value{{At: math.NaN()}}, len(colours))}
		found := d.where(func(r *measure.Result) bool { return r.Op == o.op && r.N == barsN && r.Size == barsSize })
		for _, r := range found {
			if i := slices.Index(colours, r.Impl); i >= 0 {
				g.Values[i] = chartValue(r.Summary(), 1)
			}
		}
		if len(found) > 0 {
			b.Groups = append(b.Groups, g)
		}
	}
	if len(b.Groups) == 0 {
		return nil
	}
	return b
}

// bars returns one bar per implementation, with the n and size of the first
// result and the most workers.
func (d chartData) bars(title string, unit measure.Unit, ops ...string) chart.Chart {
	b := chart.Bars{Title: title, X: chart.Axis{Title: "logarithmic", Scale: chart.Log10}, Series: []string{"median"}}
	scale := 1.0
	switch unit {
	case "B/item":
		b.X = chart.Axis{Unit: chart.Bytes}
	case "ms/gc":
		b.X.Unit, scale = chart.Nanoseconds, 1e6
	default:
		b.X.Unit = chart.Nanoseconds
	}
	for _, op := range ops {
		found := d.where(func(r *measure.Result) bool { return r.Op == op && r.Unit == unit })
		for _, r := range perImplementation(found) {
			name := r.Impl
			if len(ops) > 1 {
				name = op + ": " + r.Impl
			}
			b.Groups = append(b.Groups, chart.Group{Name: name, Values: []chart.Value{chartValue(r.Summary(), scale)}})
		}
		if len(found) > 0 {
			b.Note = note(found[0])
		}
	}
	if len(b.Groups) == 0 {
		return nil
	}
	return b
}

func note(r *measure.Result) string {
	s := fmt.Sprintf("%s items of %d bytes", report.Count(r.N), r.Size)
	if r.Op == "mixed" {
		s += ", on all workers; of 100 operations 90 look up, 5 insert and 5 erase"
	}
	return s + "."
}

// perImplementation returns the result of each implementation with the n and size of the
// first result and the most workers.
func perImplementation(found []*measure.Result) (chosen []*measure.Result) {
	at := make(map[string]int)
	for _, r := range found {
		if r.N != found[0].N || r.Size != found[0].Size {
			continue
		}
		i, ok := at[r.Impl]
		switch {
		case !ok:
			at[r.Impl] = len(chosen)
			chosen = append(chosen, r)
		case r.Workers > chosen[i].Workers:
			chosen[i] = r
		}
	}
	return chosen
}
