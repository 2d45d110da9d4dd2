package tasks

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// burn is work that touches no memory.
//
//go:noinline
func burn(rounds int) uint64 {
	x := uint64(rounds) | 1
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

var sink [64]struct {
	x uint64
	_ [cacheLine - 8]byte
}

func roundsFor(d time.Duration) int {
	const rounds = 10_000
	best := time.Hour
	for range 200 {
		start := time.Now()
		sink[0].x += burn(rounds)
		best = min(best, time.Since(start))
	}
	return int(int64(rounds) * int64(d) / int64(best))
}

// BenchmarkPhase measures a Run of one equal task per worker, in multiples of the task: 2
// means that the caller ran all. gap is work of the caller between two phases.
func BenchmarkPhase(b *testing.B) {
	for _, team := range []string{"warm", "none"} {
		for _, us := range [][2]time.Duration{{0, 0}, {5, 0}, {20, 0}, {20, 20}, {20, 200}, {20, 2000}, {100, 0}, {500, 0}} {
			length, gap := us[0]*time.Microsecond, us[1]*time.Microsecond
			b.Run(fmt.Sprintf("op=phase/team=%s/workers=2/task=%v/gap=%v", team, length, gap), func(b *testing.B) {
				if team == "none" {
					benchmarkPhase(b, b.Context(), length, gap)
					return
				}
				_ = WithTeam(b.Context(), 2, func(ctx context.Context) error {
					benchmarkPhase(b, ctx, length, gap)
					return nil
				})
			})
		}
	}
}

func benchmarkPhase(b *testing.B, ctx context.Context, length, gap time.Duration) {
	rounds, alone := roundsFor(length), roundsFor(gap)
	fn := func(task int) error {
		sink[task].x += burn(rounds)
		return nil
	}
	times := make([]time.Duration, 0, 1<<16)
	b.ReportAllocs()
	for b.Loop() {
		sink[2].x += burn(alone)
		start := time.Now()
		_ = Run(ctx, 2, fn, Options{Workers: 2})
		if len(times) < cap(times) {
			times = append(times, time.Since(start))
		}
	}
	if length > 0 {
		slices.Sort(times)
		b.ReportMetric(float64(times[0])/float64(length), "min-ratio")
		b.ReportMetric(float64(times[len(times)/2])/float64(length), "median-ratio")
		b.ReportMetric(float64(times[len(times)*9/10])/float64(length), "p90-ratio")
	}
}
