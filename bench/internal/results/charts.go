package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"handloom/bench/internal/measure"
	"handloom/internal/chart"
	"handloom/internal/report"
)

// charts returns the charts that the run has values for.
func charts(r *Run) (charts []chart.Chart) {
	d := newChartData(r)
	for _, c := range []chart.Chart{
		d.containers(),
		d.bars("Ordering and bulk operations: time per item", measure.PerItem, "insertitems", "eraseitems", "sort", "defragment"),
		d.bars("Mixed load on 8 tasks: time per operation", measure.PerItem, "mixed"),
		d.speedUp(),
		d.overN("get", "Look up in random order: time per item over n"),
		d.overN("insert", "Insert into reserved room: time per item over n"),
		d.overN("erase", "Erase in random order: time per item over n"),
		d.overN("iterate", "Iterate: time per item over n"),
		d.bars("A full collection while the items live", "ms/gc", "gc"),
		d.bars("Memory beyond the item, after growth", "B/item", "memory"),
	} {
		if c != nil {
			charts = append(charts, c)
		}
	}
	return charts
}

// chartData is the medians of a run, by what they are looked up by.
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

// where returns the results for which f is true.
func (d chartData) where(f func(*measure.Result) bool) (found []*measure.Result) {
	for _, r := range d.results {
		if f(r) {
			found = append(found, r)
		}
	}
	return found
}

// chartValue returns the median of a result in its interval, times scale.
func chartValue(s measure.Summary, scale float64) chart.Value {
	return chart.Value{At: s.Median * scale, Low: s.Low * scale, High: s.High * scale}
}

// The containers that have a colour of their own, and the n and size that bars
// are of.
var colours = []string{"handlemap", "slotmap", "straight", "pointers", "map", "mapofpointers"}

const (
	barsN    = 100_000
	barsSize = 8
)

// operations are those of containers.
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

// containers returns the bars of every operation on every container.
func (d chartData) containers() chart.Chart {
	b := chart.Bars{
		Title:  "Containers: time per item",
		X:      chart.Axis{Title: "logarithmic", Unit: chart.Nanoseconds, Scale: chart.Log10},
		Series: colours,
		Note:   fmt.Sprintf("%s items of %d bytes.", report.Count(barsN), barsSize),
	}
	for _, o := range operations {
		g := chart.Group{Name: o.name, Values: slices.Repeat([]chart.Value{{At: math.NaN()}}, len(colours))}
		found := d.ofContainers(o.op)
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

// ofContainers returns the results of an operation that [chartData.containers] shows.
func (d chartData) ofContainers(op string) []*measure.Result {
	return d.where(func(r *measure.Result) bool { return r.Op == op && r.N == barsN && r.Size == barsSize })
}

// against says in how many operations nothing is faster than ours, as far as one
// can tell, and how its time compares with a rival's.
func (d chartData) against(ours, rival string) string {
	unbeaten, all := 0, 0
	low, high := math.Inf(1), math.Inf(-1)
	for _, o := range operations {
		found := d.ofContainers(o.op)
		i := slices.IndexFunc(found, func(r *measure.Result) bool { return r.Impl == ours })
		if i < 0 || !found[i].Summary().Known() {
			continue
		}
		all++
		if !slices.ContainsFunc(found, func(r *measure.Result) bool { return r.Summary().High < found[i].Summary().Low }) {
			unbeaten++
		}
		for _, r := range found {
			if r.Impl == rival {
				ratio := RatioOf(r, found[i]).Median
				low, high = min(low, ratio), max(high, ratio)
			}
		}
	}
	if all == 0 {
		return ""
	}
	text := fmt.Sprintf("Nothing is faster than %s in %d of %d operations", ours, unbeaten, all)
	if low <= high {
		text += fmt.Sprintf("; %s takes %sx to %sx as long", rival, report.Digits(low), report.Digits(high))
	}
	return text + "."
}

// bars returns one bar for each implementation of the operations. Where there are
// several n, sizes or workers, the bars are of those that the first result has and
// of the most workers.
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
		for _, r := range alike(found) {
			name := r.Impl
			if len(ops) > 1 {
				name = op + ": " + r.Impl
			}
			b.Groups = append(b.Groups, chart.Group{Name: name, Values: []chart.Value{chartValue(r.Summary(), scale)}})
		}
		if len(found) > 0 {
			b.Note = note(found[0])
			if len(ops) == 1 {
				b.Says = extremes(alike(found))
			}
		}
	}
	if len(b.Groups) == 0 {
		return nil
	}
	return b
}

// extremes says which result is lowest and how far the others are from it, where
// one can tell.
func extremes(found []*measure.Result) string {
	byMedian := func(a, b *measure.Result) int { return cmp.Compare(a.Summary().Median, b.Summary().Median) }
	found = slices.SortedFunc(slices.Values(found), byMedian)
	lowest, highest := found[0], found[len(found)-1]
	if !measure.Apart(lowest.Summary(), highest.Summary()) {
		return ""
	}
	times := func(r *measure.Result) string {
		ratio := RatioOf(r, lowest).Median
		if math.IsInf(ratio, 0) || math.IsNaN(ratio) { // beside nothing at all
			return "more"
		}
		return report.Digits(ratio) + "x as much"
	}
	text := fmt.Sprintf("Lowest: %s. The highest, %s, is %s", lowest.Impl, highest.Impl, times(highest))
	if next := found[1]; next != highest && measure.Apart(lowest.Summary(), next.Summary()) {
		text += fmt.Sprintf("; the next, %s, %s", next.Impl, times(next))
	}
	return text + "."
}

// note says what bars are of.
func note(r *measure.Result) string {
	s := fmt.Sprintf("%s items of %d bytes", report.Count(r.N), r.Size)
	if r.Op == "mixed" {
		s += ", on all workers; of 100 operations 90 look up, 5 insert and 5 erase"
	}
	return s + "."
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
