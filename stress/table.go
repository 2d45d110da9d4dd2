package main

import (
	"fmt"
	"strconv"

	"handloom/internal/report"
)

func (r *replay) stats() *report.Table {
	t := report.NewTable("workers", "events", "events/s", "flush p50", "p99", "max",
		"items live", "slots", "depleted", "digest")
	for _, p := range r.players {
		var live, slots, depleted int
		for _, s := range p.store.Stats().Tables {
			live, slots, depleted = live+s.Live, slots+s.Slots, depleted+s.Depleted
		}
		t.Row(strconv.Itoa(p.workers), report.Count(r.events), report.Rate(r.events, p.busy),
			report.Duration(p.flushes.Quantile(0.5)), report.Duration(p.flushes.Quantile(0.99)), report.Duration(p.flushes.Max()),
			report.Count(live), report.Count(slots), report.Count(depleted), fmt.Sprintf("%016x", p.digest))
	}
	return t
}
