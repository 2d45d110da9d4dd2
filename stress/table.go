package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"handloom/internal/report"
)

// row is what a replay found out about one number of workers, and a row of
// every output.
type row struct {
	Workers  int     `json:"workers"`
	Events   int     `json:"events"`
	Seconds  float64 `json:"seconds"` // in phases
	Rate     float64 `json:"events_per_second"`
	Flushes  int     `json:"flushes"` // with commands
	P50      int64   `json:"flush_p50_ns"`
	P99      int64   `json:"flush_p99_ns"`
	P999     int64   `json:"flush_p999_ns"`
	Max      int64   `json:"flush_max_ns"`
	Live     int     `json:"items_live"`
	Slots    int     `json:"slots"`
	Depleted int     `json:"depleted"`
	Bytes    int64   `json:"bytes"`
	Digest   string  `json:"digest"` // hexadecimal
	Beside   beside  `json:"beside_plain_maps"`

	busy time.Duration
}

func (r *replay) rows() []row {
	rows := make([]row, len(r.players))
	for i, p := range r.players {
		rows[i] = row{
			Workers: p.workers, Events: r.events,
			busy: p.busy, Seconds: p.busy.Seconds(),
			Flushes: p.flushes.Len(), Max: int64(p.flushes.Max()),
			P50: int64(p.flushes.Quantile(0.5)), P99: int64(p.flushes.Quantile(0.99)), P999: int64(p.flushes.Quantile(0.999)),
			Digest: fmt.Sprintf("%016x", p.digest),
		}
		if p.busy > 0 {
			rows[i].Rate = float64(r.events) / p.busy.Seconds()
		}
		for _, t := range p.store.Stats().Tables {
			rows[i].Live += t.Live
			rows[i].Slots += t.Slots
			rows[i].Depleted += t.Depleted
			rows[i].Bytes += t.Bytes
		}
		rows[i].Beside = r.beside(p, rows[i].Bytes)
	}
	return rows
}

// writeTable prints the rows for a person.
func writeTable(w io.Writer, rows []row) {
	t := report.NewTable("workers", "events", "events/s", "flush p50", "p99", "max",
		"items live", "slots", "depleted", "digest")
	for _, r := range rows {
		t.Row(strconv.Itoa(r.Workers), report.Count(r.Events), report.Rate(r.Events, r.busy),
			report.Duration(time.Duration(r.P50)), report.Duration(time.Duration(r.P99)), report.Duration(time.Duration(r.Max)),
			report.Count(r.Live), report.Count(r.Slots), report.Count(r.Depleted), r.Digest)
	}
	t.WriteTo(w)
}
