//go:build unix

package nemesis

import (
	"encoding/json"
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
func (r *Result) by(name func(e *event) string) map[string]outages {
	all := make(map[string]outages)
	for _, e := range r.events {
		all[name(e)] = append(all[name(e)], e.outage)
	}
	for _, o := range all {
		slices.Sort(o)
	}
	return all
}

func kindOf(e *event) string  { return e.Name }
func classOf(e *event) string { return classNames[e.outcome()] }

// WriteTo prints tables of what was done, and of what came of it.
func (r *Result) WriteTo(w io.Writer) (n int64, err error) {
	events := report.NewTable("event", "n", "p50", "p99", "max")
	events.Left("event")
	byKind, byClass := r.by(kindOf), r.by(classOf)
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
		if t.Len() == 0 {
			continue
		}
		k, err := io.WriteString(w, "\n")
		m, err2 := t.WriteTo(w)
		if n += int64(k) + m; err != nil || err2 != nil {
			return n, err
		}
	}
	_, err = io.WriteString(w, "\n")
	return n + 1, err
}

func row(t *report.Table, name string, o outages) {
	if len(o) > 0 {
		t.Row(name, report.Count(len(o)), report.Duration(o.quantile(0.5)), report.Duration(o.quantile(0.99)), report.Duration(o[len(o)-1]))
	}
}

// MarshalJSON writes what WriteTo prints, and each event.
func (r *Result) MarshalJSON() ([]byte, error) {
	type outage struct {
		N   int           `json:"n"`
		P50 time.Duration `json:"p50_ns"`
		P99 time.Duration `json:"p99_ns"`
		Max time.Duration `json:"max_ns"`
	}
	told := func(all map[string]outages) map[string]outage {
		of := make(map[string]outage)
		for name, o := range all {
			of[name] = outage{len(o), o.quantile(0.5), o.quantile(0.99), o[len(o)-1]}
		}
		return of
	}
	type happened struct {
		At         time.Duration `json:"at_ns"`
		Event      string        `json:"event"`
		Victims    []string      `json:"victims"`
		Before     uint32        `json:"term_before"`
		After      uint32        `json:"term_after"`
		Outage     time.Duration `json:"outage_ns"`
		Settled    time.Duration `json:"settled_ns"`
		LeaderLost bool          `json:"leader_lost"`
		Fenced     bool          `json:"fenced"`
	}
	events := []happened{}
	for _, e := range r.events {
		events = append(events, happened{e.at, e.Name, e.victims, e.before, e.after, e.outage, e.settled, e.leaderLost, e.fenced})
	}
	return json.Marshal(map[string]any{
		"findings": r.Findings, "zombies": r.Zombies, "fenced": r.Fenced, "checks": r.Checks, "took_ns": r.Took,
		"outages": told(r.by(classOf)), "outages_by_event": told(r.by(kindOf)), "events": events,
	})
}
