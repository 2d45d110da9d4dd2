package results

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"handloom/bench/internal/measure"
	"handloom/internal/chart"
	"handloom/internal/report"
)

// charts returns the charts of the page that have values.
func charts(r *Run) (charts []chart.Chart) {
	if b := containers(r.Results); len(b.Groups) > 0 {
		charts = append(charts, b)
	}
	for _, c := range []struct {
		title string
		unit  measure.Unit
		ops   []string
	}{
		{"Ordering and bulk operations: time per item", measure.PerItem, []string{"insertitems", "sort", "defragment"}},
		{"Mixed load on 8 tasks: time per operation", measure.PerItem, []string{"mixed"}},
		{"A full collection while the items live", "ms/gc", []string{"gc"}},
		{"Memory beyond the item, after growth", "B/item", []string{"memory"}},
	} {
		if b := bars(r.Results, c.title, c.unit, c.ops); len(b.Groups) > 0 {
			charts = append(charts, b)
		}
	}
	return charts
}

func chartValue(r *measure.Result, scale float64) chart.Value {
	s := r.Summary()
	return chart.Value{At: s.Median * scale, Low: s.Low * scale, High: s.High * scale}
}

// colours are the containers with their own colour.
var colours = []string{"handlemap", "slotmap", "straight", "map"}

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

func containers(results []measure.Result) chart.Bars {
	b := chart.Bars{Title: "Containers: time per item, 100,000 items of 8 bytes", Unit: chart.Nanoseconds, Series: colours}
	for _, o := range operations {
		g, some := chart.Group{Name: o.name, Values: slices.Repeat([]chart.Value{{At: math.NaN()}}, len(colours))}, false
		for i := range results {
			r := &results[i]
			if at := slices.Index(colours, r.Impl); at >= 0 && r.Op == o.op && r.N == 100_000 && r.Size == 8 {
				g.Values[at], some = chartValue(r, 1), true
			}
		}
		if some {
			b.Groups = append(b.Groups, g)
		}
	}
	return b
}

// bars has one bar per operation and implementation, with the n and size of the first result and
// the most workers.
func bars(results []measure.Result, title string, unit measure.Unit, ops []string) chart.Bars {
	b := chart.Bars{Title: title, Unit: chart.Nanoseconds, Series: []string{"median"}}
	scale := 1.0
	switch unit {
	case "B/item":
		b.Unit = chart.Bytes
	case "ms/gc":
		scale = 1e6
	}
	var first *measure.Result
	best := map[string]*measure.Result{}
	var names []string
	for i := range results {
		r := &results[i]
		if !slices.Contains(ops, r.Op) || r.Unit != unit || first != nil && (r.N != first.N || r.Size != first.Size) {
			continue
		}
		if first == nil {
			first = r
			b.Title += fmt.Sprintf(", %s items of %d bytes", report.Count(r.N), r.Size)
		}
		name := r.Op + ": " + r.Impl
		if best[name] == nil {
			names = append(names, name)
		}
		if best[name] == nil || r.Workers > best[name].Workers {
			best[name] = r
		}
	}
	for _, name := range names {
		g := chart.Group{Name: name, Values: []chart.Value{chartValue(best[name], scale)}}
		if len(ops) == 1 {
			_, g.Name, _ = strings.Cut(name, ": ")
		}
		b.Groups = append(b.Groups, g)
	}
	return b
}
