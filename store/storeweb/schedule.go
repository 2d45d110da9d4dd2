package storeweb

import (
	"html/template"
	"time"

	"handloom/internal/chart"
	"handloom/store"
)

// A schedule describes a store.Schedule.
type schedule struct {
	Explain string   `json:"explain"`
	Systems []system `json:"systems"` // in the order of registration
}

// A system has the accesses of a system and its recent durations.
type system struct {
	System string        `json:"system"`
	Reads  []string      `json:"reads,omitempty"`
	Writes []string      `json:"writes,omitempty"`
	Emits  []string      `json:"emits,omitempty"`
	Runs   int           `json:"runs"` // number of measured runs, at most 128
	Last   time.Duration `json:"last_ns"`
	P50    time.Duration `json:"p50_ns"`
	P99    time.Duration `json:"p99_ns"`
	Max    time.Duration `json:"max_ns"`
}

func newSchedule(s *store.Schedule) schedule {
	all := schedule{Explain: s.Explain()}
	systems := s.Systems()
	for i, t := range s.Timings() {
		y := &systems[i]
		all.Systems = append(all.Systems, system{
			t.System, names(y.Reads), names(y.Writes), names(y.Emits),
			t.Runs, t.Last, t.P50, t.P99, t.Max,
		})
	}
	return all
}

func names(resources []store.Resource) (all []string) {
	for _, r := range resources {
		all = append(all, r.Name())
	}
	return all
}

func (s schedule) Picture() template.HTML {
	var systems []chart.System
	for _, y := range s.Systems {
		systems = append(systems, chart.System{Name: y.System, Reads: y.Reads, Writes: y.Writes, Emits: y.Emits, Runs: y.Runs, Took: y.P50})
	}
	return template.HTML(chart.Frame(s.Explain, systems)) // escaped by the chart package
}
