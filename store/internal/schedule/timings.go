package schedule

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// ringSize is two seconds of frames at 60 Hz.
const ringSize = 128

type timings struct {
	lock  sync.Mutex
	rings []ring // by system
}

func (t *timings) add(took []time.Duration) {
	t.lock.Lock()
	defer t.lock.Unlock()
	for i, d := range took {
		if d != didNotRun {
			t.rings[i].add(d)
		}
	}
}

type ring struct {
	durations [ringSize]time.Duration
	added     int
}

func (r *ring) add(d time.Duration) {
	r.durations[r.added%ringSize] = d
	r.added++
}

func (r *ring) timing(system string) Timing {
	t := Timing{System: system, Runs: min(r.added, ringSize)}
	if t.Runs == 0 {
		return t
	}
	t.Last = r.durations[(r.added-1)%ringSize]
	sorted := slices.Sorted(slices.Values(r.durations[:t.Runs]))
	t.P50, t.P99, t.Max = quantile(sorted, 50), quantile(sorted, 99), sorted[t.Runs-1]
	return t
}

// quantile returns the lowest duration that percent % of the sorted ones do not exceed.
func quantile(sorted []time.Duration, percent int) time.Duration {
	return sorted[(len(sorted)*percent+99)/100-1]
}

type Timings []Timing

func (t Timings) String() string {
	width := 0
	for _, s := range t {
		width = max(width, len(s.System))
	}
	var b strings.Builder
	for _, s := range t {
		fmt.Fprintf(&b, "%-*s  %3d runs  p50 %v  p99 %v  max %v\n", width, s.System, s.Runs, s.P50, s.P99, s.Max)
	}
	return b.String()
}
