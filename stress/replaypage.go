package main

import (
	"bytes"
	"fmt"
	"time"

	"handloom/internal/report"
	"handloom/stress/internal/feed"
	"handloom/stress/internal/page"
)

// pointEvery is how far the points of a replay's charts are apart.
const pointEvery = 100 * time.Millisecond

// replayPage collects what the page of a replay shows.
type replayPage struct {
	kept feed.Collector
	feed *feed.Feed

	told   time.Duration // when the last point was
	events int           // by then
}

func newReplayPage(s settings, source string) *replayPage {
	p := new(replayPage)
	p.feed = feed.New(&p.kept)
	p.feed.Start(feed.Start{
		Title: "replay of " + source, Command: s.command(), Unit: "events replayed and checked",
		Details: []feed.Fact{{Name: "workers", Value: s.workers.String()}, {Name: "shards of each table", Value: report.Count(s.shards)}},
	})
	return p
}

// tick adds a point if one is due.
func (p *replayPage) tick(r *replay) {
	if p.feed.Elapsed()-p.told >= pointEvery {
		p.point(r)
	}
}

func (p *replayPage) point(r *replay) {
	now := p.feed.Elapsed()
	p.feed.Sample(feed.Sample{Interval: now - p.told, Operations: r.events - p.events, Live: r.model.len(), Verdict: "no mismatch"})
	p.told, p.events = now, r.events
}

// write writes the page of a replay that came to o.
func (p *replayPage) write(file string, r *replay, o outcome) error {
	p.point(r)
	for _, m := range r.mismatches {
		p.feed.Failure(feed.Failure{What: m.String(), Replay: p.kept.Start.Command})
	}
	p.feed.Verdict(feed.Verdict{Verdict: o.verdict, ExitCode: o.exit, Reason: o.reason, Totals: r.totals()})
	var text bytes.Buffer
	if err := page.Report(&text, &p.kept, r.charts(r.rows(), r.types())...); err != nil {
		return err
	}
	return writeOut(file, text.Bytes())
}

// totals are the figures of a replay for people.
func (r *replay) totals() []feed.Fact {
	facts := []feed.Fact{
		{Name: "ticks", Value: report.Count(r.model.tick)},
		{Name: "events", Value: fmt.Sprintf("%s in tables %s", report.Count(r.events), report.Count(len(r.model.tables)))},
	}
	facts = append(facts, typeFacts(r.types()[0])...)
	rows := r.rows()
	for _, of := range rows {
		facts = append(facts, feed.Fact{
			Name: fmt.Sprintf("workers %d", of.Workers),
			Value: fmt.Sprintf("events %s in phases; flush p50 %s, p99 %s, max %s; digest %s", report.Rate(of.Events, of.busy),
				report.Duration(time.Duration(of.P50)), report.Duration(time.Duration(of.P99)), report.Duration(time.Duration(of.Max)), of.Digest),
		})
	}
	if len(rows) > 0 { // all alike, or there are mismatches
		of := rows[0]
		facts = append(facts, feed.Fact{
			Name:  "items",
			Value: fmt.Sprintf("%s in %s slots, %s depleted, %s", report.Count(of.Live), report.Count(of.Slots), report.Count(of.Depleted), report.Bytes(of.Bytes)),
		})
	}
	return facts
}
