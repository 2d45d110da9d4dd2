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

func (r *replay) totals() []fact {
	facts := []fact{
		{Name: "ticks", Value: report.Count(r.model.tick)},
		{Name: "events", Value: fmt.Sprintf("%s in tables %s", report.Count(r.events), report.Count(len(r.model.tables)))},
		{Name: "items", Value: report.Count(r.model.len())},
	}
	for _, p := range r.players {
		facts = append(facts, fact{
			Name: fmt.Sprintf("workers %d", p.workers),
			Value: fmt.Sprintf("events %s in phases; flush p50 %s, max %s; digest %016x", report.Rate(r.events, p.busy),
				report.Duration(p.flushes.Quantile(0.5)), report.Duration(p.flushes.Max()), p.digest),
		})
	}
	return facts
}
