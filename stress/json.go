package main

import (
	"encoding/json"
	"runtime"

	"handloom/internal/cli"
)

// document is what -json writes. Its version changes when a field changes its
// meaning or goes; new fields may come.
type document struct {
	Version    int        `json:"version"`
	Command    string     `json:"command"`
	Verdict    string     `json:"verdict"` // verified, mismatch, malformed, failed or interrupted
	ExitCode   int        `json:"exit_code"`
	Reason     string     `json:"reason"`
	Trace      string     `json:"trace"`
	Events     int        `json:"events"`
	Ticks      int        `json:"ticks"`
	Tables     int        `json:"tables"`
	Shards     int        `json:"shards"` // of each table
	FullChecks int        `json:"full_checks"`
	Rows       []row      `json:"rows"`  // by number of workers, as asked for
	Types      []typeRow  `json:"types"` // all together, then one by one
	PlainMaps  plainCost  `json:"plain_maps"`
	Mismatches []mismatch `json:"mismatches"`
	Go         string     `json:"go"`
	Platform   string     `json:"platform"`
	GOMAXPROCS int        `json:"gomaxprocs"`
}

func (r *replay) document(s settings, o cli.Verdict) ([]byte, error) {
	text, err := json.MarshalIndent(document{
		Version: 1, Command: s.command(),
		Verdict: o.Name, ExitCode: o.Exit, Reason: o.Reason,
		Trace: r.name, Events: r.events, Ticks: r.model.tick, Tables: len(r.model.tables), Shards: r.shards,
		FullChecks: r.full, Rows: r.rows(), Types: r.types(), PlainMaps: r.model.cost(), Mismatches: append([]mismatch{}, r.mismatches...),
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, GOMAXPROCS: runtime.GOMAXPROCS(0),
	}, "", "\t")
	return append(text, '\n'), err
}
