package soak

import (
	"context"
	"testing"
	"time"

	"handloom/internal/seam"
)

func TestASteadyWorkloadLeaksNothing(t *testing.T) {
	r := Run(t.Context(), Options{Duration: 500 * time.Millisecond, Live: 4000, Workers: 2, Seed: 1})
	if r.Kind == Leak || r.Kind == Model {
		t.Errorf("%s: %s", r.Kind, r.Fault)
	}
	if len(r.Tenths) != tenths || r.Tenths[0].Live != 4000 {
		t.Errorf("%d tenths, %+v", len(r.Tenths), r.Tenths[0])
	}
}

// A run on a busy machine may have one tick per tenth. The slots rise until each shard
// has its free ones, which takes more ticks than the warm-up then has.
func TestRun_OneTickPerTenthIsNoLeak(t *testing.T) {
	for _, live := range []int{1000, 4000, 30_000} {
		r := Run(t.Context(), Options{Duration: 1, Live: live, Workers: 2, Seed: 1})
		if r.Kind == Leak || r.Kind == Model {
			t.Errorf("live=%d: %s: %s", live, r.Kind, r.Fault)
		}
	}
}

// A workload that goes on for long enough depletes its slots. How long that is
// depends on the machine.
func TestAWorkloadMayDepleteItsSlots(t *testing.T) {
	defer seam.Narrow(1, 0)()
	for duration := 100 * time.Millisecond; ; duration *= 2 {
		r := Run(t.Context(), Options{Duration: duration, Live: 2000, Workers: 2, Seed: 1})
		if r.Kind == Leak || r.Kind == Model {
			t.Fatalf("%s: %s", r.Kind, r.Fault)
		}
		end := r.Tenths[len(r.Tenths)-1]
		if end.Depleted > end.Live {
			return
		}
		if duration > time.Minute {
			t.Fatalf("it ends with %+v", end)
		}
	}
}

func TestARunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r := Run(ctx, Options{Duration: time.Hour, Live: 1000, Seed: 1}); !r.Interrupted || r.Fault != "" {
		t.Errorf("%+v", r)
	}
}

// The free slots of a short warm-up are granted, and none beyond their share.
func TestJudge_GrantsTheFreeSlotsOnce(t *testing.T) {
	for extra, want := range map[int]Kind{0: "", 64: "", 65: Leak} { // 1284 / 20 is 64
		r := &Result{Tenths: make([]Tenth, tenths)}
		for i := range r.Tenths {
			r.Tenths[i] = Tenth{Slots: 900, Live: 900}
		}
		r.Tenths[tenths-1].Slots = 900 + 6*64 + extra
		if r.judge(); r.Kind != want {
			t.Errorf("extra=%d: %q, %s; want %q", extra, r.Kind, r.Fault, want)
		}
	}
}

// Whatever rises is told, and under its own name.
func TestWhatRisesIsAFault(t *testing.T) {
	steady := Tenth{Heap: 50 << 20, Goroutines: 4, Files: 7, Slots: 1300, Live: 900}
	steady.Flush.P999 = 10 * time.Millisecond
	for name, tt := range map[string]struct {
		kind Kind
		edit func(*Tenth)
	}{
		"nothing":    {"", func(*Tenth) {}},
		"some heap":  {"", func(t *Tenth) { t.Heap += 3 << 20 }},
		"heap":       {Leak, func(t *Tenth) { t.Heap += 4 << 20 }},
		"goroutines": {Leak, func(t *Tenth) { t.Goroutines++ }},
		"files":      {Leak, func(t *Tenth) { t.Files++ }},
		"some slots": {"", func(t *Tenth) { t.Slots += 65 }},
		"slots":      {Leak, func(t *Tenth) { t.Slots += 66 }},
		"depletion":  {"", func(t *Tenth) { t.Slots, t.Depleted = 2*t.Slots, t.Slots }},
		"heap of depletion": {"", func(t *Tenth) {
			t.Slots, t.Depleted, t.Heap = t.Slots+100_000, 100_000, t.Heap+(15<<20)
		}},
		"items":     {Model, func(t *Tenth) { t.Live-- }},
		"some time": {"", func(t *Tenth) { t.Flush.P999 = 15 * time.Millisecond }},
		"time":      {Limit, func(t *Tenth) { t.Flush.P999 = 16 * time.Millisecond }},
	} {
		r := &Result{}
		for range tenths {
			r.Tenths = append(r.Tenths, steady)
		}
		tt.edit(&r.Tenths[tenths-1])
		if r.judge(); r.Kind != tt.kind {
			t.Errorf("%s: %q, %s; want %q", name, r.Kind, r.Fault, tt.kind)
		}
	}
}
