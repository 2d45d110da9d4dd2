package page

import (
	"fmt"
	"math"
	"slices"

	"handloom/bench/internal/measure"
	"handloom/bench/internal/results"
	"handloom/internal/chart"
	"handloom/internal/report"
)

// charts returns the charts that the run has values for.
func charts(r *results.Run) (charts []chart.Chart) {
	d := newData(r)
	for _, c := range []chart.Chart{
		d.containers(),
		d.bars("Ordering and bulk operations", "time per item, logarithmic", measure.PerItem, "insertitems", "eraseitems", "sort", "defragment"),
		d.bars("Mixed load on 8 tasks", "time per operation, logarithmic", measure.PerItem, "mixed"),
		d.speedUp(),
		d.overN("get", "Look up, random order: cost over n"),
		d.overN("insert", "Insert into reserved room: cost over n"),
		d.overN("erase", "Erase, random order: cost over n"),
		d.overN("iterate", "Iterate: cost over n"),
		d.bars("A full collection while the items live", "time, logarithmic", "ms/gc", "gc"),
		d.bars("Memory beyond the item, after growth", "bytes per item", "B/item", "memory"),
	} {
		if c != nil {
			charts = append(charts, c)
		}
	}
	return charts
}

// data is the medians of a run, by what they are looked up by.
type data struct {
	results []*measure.Result
}

func newData(r *results.Run) data {
	var d data
	for _, group := range r.Groups() {
		d.results = append(d.results, group...)
	}
	return d
}

// where returns the results for which f is true.
func (d data) where(f func(*measure.Result) bool) (found []*measure.Result) {
	for _, r := range d.results {
		if f(r) {
			found = append(found, r)
		}
	}
	return found
}

func median(r *measure.Result) float64 { return r.Summary().Median }

// The containers that have a colour of their own, and the n and size that bars
// are of.
var colours = []string{"handlemap", "slotmap", "straight", "pointers", "map", "mapofpointers"}

const (
	barsN    = 100_000
	barsSize = 8
)

// containers returns the bars of every operation on every container.
func (d data) containers() chart.Chart {
	b := chart.Bars{
		Title:  fmt.Sprintf("Containers of %s items of %d bytes (shorter is better)", report.Count(barsN), barsSize),
		X:      chart.Axis{Title: "time per item, logarithmic", Unit: chart.Nanoseconds, Scale: chart.Log10},
		Series: colours,
	}
	ops := []struct{ op, name string }{
		{"create", "create"},
		{"insert", "create, reserved"},
		{"iterate", "iterate"},
		{"getinorder", "look up, in order"},
		{"get", "look up, random"},
		{"erase", "erase, random"},
		{"churn", "erase and create"},
		{"clear", "clear"},
	}
	for _, o := range ops {
		g := chart.Group{Name: o.name, Values: slices.Repeat([]float64{math.NaN()}, len(colours))}
		found := d.where(func(r *measure.Result) bool { return r.Op == o.op && r.N == barsN && r.Size == barsSize })
		for _, r := range found {
			if i := slices.Index(colours, r.Impl); i >= 0 {
				g.Values[i] = median(r)
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

// bars returns one bar for each implementation of the operations. Where there are
// several n, sizes or workers, the bars are of those that the first result has and
// of the most workers.
func (d data) bars(title, axis string, unit measure.Unit, ops ...string) chart.Chart {
	b := chart.Bars{Title: title, X: chart.Axis{Title: axis, Scale: chart.Log10}, Series: []string{"median"}}
	scale := 1.0
	switch unit {
	case "B/item":
		b.X.Unit, b.X.Scale = chart.Bytes, chart.Linear
	case "ms/gc":
		b.X.Unit, scale = chart.Nanoseconds, 1e6
	default:
		b.X.Unit = chart.Nanoseconds
	}
	for _, op := range ops {
		found := d.where(func(r *measure.Result) bool { return r.Op == op && r.Unit == unit })
		for _, r := range alike(found) {
			name := r.Impl
			if len(ops) > 1 {
				name = op + ": " + r.Impl
			}
			b.Groups = append(b.Groups, chart.Group{Name: name, Values: []float64{median(r) * scale}})
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

// note says what bars are of.
func note(r *measure.Result) string {
	s := fmt.Sprintf("%s items of %d bytes", report.Count(r.N), r.Size)
	if r.Op == "mixed" {
		s += ", on all workers; of 100 operations 90 look up, 5 insert and 5 erase"
	}
	return s
}

// alike returns of each implementation the result with the n and size of the first
// one and with the most workers.
func alike(found []*measure.Result) (chosen []*measure.Result) {
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
