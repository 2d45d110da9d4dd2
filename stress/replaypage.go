package main

import (
	"fmt"
	"time"

	"handloom/internal/report"
)

// totals are the figures of a replay for people.
func (r *replay) totals() []fact {
	facts := []fact{
		{Name: "ticks", Value: report.Count(r.model.tick)},
		{Name: "events", Value: fmt.Sprintf("%s in tables %s", report.Count(r.events), report.Count(len(r.model.tables)))},
	}
	facts = append(facts, typeFacts(r.types()[0])...)
	rows := r.rows()
	for _, of := range rows {
		facts = append(facts, fact{
			Name: fmt.Sprintf("workers %d", of.Workers),
			Value: fmt.Sprintf("events %s in phases; flush p50 %s, p99 %s, max %s; digest %s", report.Rate(of.Events, of.busy),
				report.Duration(time.Duration(of.P50)), report.Duration(time.Duration(of.P99)), report.Duration(time.Duration(of.Max)), of.Digest),
		})
	}
	if len(rows) > 0 { // all alike, or there are mismatches
		of := rows[0]
		facts = append(facts, fact{
			Name:  "items",
			Value: fmt.Sprintf("%s in %s slots, %s depleted, %s", report.Count(of.Live), report.Count(of.Slots), report.Count(of.Depleted), report.Bytes(of.Bytes)),
		})
	}
	return facts
}
