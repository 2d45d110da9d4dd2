package main

import (
	"fmt"
	"time"

	"handloom/internal/report"
	"handloom/stress/internal/page"
)

// pointEvery is how far the points of a replay's charts are apart.
const pointEvery = 100 * time.Millisecond

// replayPage collects what the page of a replay shows.
type replayPage struct {
	page.Run
	begun time.Time
	told  time.Duration // time of the last point
}

func newReplayPage(s settings, source string) *replayPage {
	return &replayPage{begun: time.Now(), Run: page.Run{
		Title: "replay of " + source, Command: s.command(), Unit: "events",
		Facts: []page.Fact{{Name: "workers", Value: s.workers.String()}, {Name: "shards of each table", Value: report.Count(s.shards)}},
	}}
}

// tick adds a point if one is due.
func (p *replayPage) tick(r *replay) {
	if time.Since(p.begun)-p.told >= pointEvery {
		p.point(r)
	}
}

func (p *replayPage) point(r *replay) {
	p.told = time.Since(p.begun)
	p.Add(page.Point{At: p.told, Done: r.events, Live: r.model.len()})
}

// write writes the page of a replay that came to o.
func (p *replayPage) write(file string, r *replay, o outcome) error {
	p.point(r)
	for _, m := range r.mismatches {
		p.Failures = append(p.Failures, page.Failure{What: m.String(), Replay: p.Command})
	}
	p.Verdict, p.ExitCode, p.Totals, p.Elapsed = o.String(), o.exit, r.totals(), p.told
	p.Charts = r.charts(r.rows(), r.types())
	return writePage(file, p.Run)
}

// totals are the figures of a replay for people.
func (r *replay) totals() []page.Fact {
	facts := []page.Fact{
		{Name: "ticks", Value: report.Count(r.model.tick)},
		{Name: "events", Value: fmt.Sprintf("%s in tables %s", report.Count(r.events), report.Count(len(r.model.tables)))},
	}
	facts = append(facts, typeFacts(r.types()[0])...)
	rows := r.rows()
	for _, of := range rows {
		facts = append(facts, page.Fact{
			Name: fmt.Sprintf("workers %d", of.Workers),
			Value: fmt.Sprintf("events %s in phases; flush p50 %s, p99 %s, max %s; digest %s", report.Rate(of.Events, of.busy),
				report.Duration(time.Duration(of.P50)), report.Duration(time.Duration(of.P99)), report.Duration(time.Duration(of.Max)), of.Digest),
		})
	}
	if len(rows) > 0 { // all alike, or there are mismatches
		of := rows[0]
		facts = append(facts, page.Fact{
			Name:  "items",
			Value: fmt.Sprintf("%s in %s slots, %s depleted, %s", report.Count(of.Live), report.Count(of.Slots), report.Count(of.Depleted), report.Bytes(of.Bytes)),
		})
	}
	return facts
}
