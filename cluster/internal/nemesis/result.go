package nemesis

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"handloom/internal/report"
)

// outages are the times without a tick of some events, in order.
type outages []time.Duration

func (o outages) quantile(q float64) time.Duration {
	return o[max(0, int(math.Ceil(q*float64(len(o))))-1)]
}

// by collects the outages of events by a name.
func (r *Result) by(name func(e *Event) string) map[string]outages {
	all := make(map[string]outages)
	for _, e := range r.Events {
		all[name(&e)] = append(all[name(&e)], e.Outage)
	}
	for _, o := range all {
		slices.Sort(o)
	}
	return all
}

// Print prints tables of the events and their outages.
func (r *Result) Print(w io.Writer) {
	events := report.NewTable("event", "n", "p50", "p99", "max")
	events.Left("event")
	byKind, byClass := r.by(func(e *Event) string { return e.Name }), r.by(func(e *Event) string { return e.Class })
	for _, k := range kinds {
		row(events, k.Name, byKind[k.Name])
	}
	classes := report.NewTable("longest time without a tick", "n", "p50", "p99", "max")
	classes.Left("longest time without a tick")
	for _, name := range classNames {
		row(classes, name, byClass[name])
	}
	what := report.NewTable("records", "ticks", "terms", "applied", "acknowledged", "refused", "uncertain", "zombies", "fenced", "checks", "took")
	what.Row(report.Count(r.Records), report.Count(r.Ticks), report.Count(r.Terms), report.Count(r.Told), report.Count(r.Acked), report.Count(r.Refused),
		report.Count(r.Uncertain), report.Count(r.Zombies), report.Count(r.Fenced), report.Count(r.Checks), report.Duration(r.Took))
	for _, t := range []*report.Table{events, classes, what} {
		if t.Len() > 0 {
			fmt.Fprintln(w)
			t.WriteTo(w)
		}
	}
	fmt.Fprintln(w)
}

func row(t *report.Table, name string, o outages) {
	if len(o) > 0 {
		t.Row(name, report.Count(len(o)), report.Duration(o.quantile(0.5)), report.Duration(o.quantile(0.99)), report.Duration(o[len(o)-1]))
	}
}
