package scenario

import (
	"fmt"
	"iter"
	"runtime"
	"time"

	"handloom/internal/histogram"
	"handloom/internal/report"
	"handloom/store"
	"handloom/stress/internal/feed"
)

// load notes how many items each shard holds.
func (r *run) load(w *store.Writer) {
	r.shards = nil
	for i, t := range r.world.tables {
		t.shards(w, func(shard, items int, _ iter.Seq[store.ID]) {
			r.shards = append(r.shards, feed.Shard{Table: r.scenario.Tables[i].Name, Index: shard, Live: items})
		})
	}
}

// sample tells the figures since the last one and looks at the limits.
func (r *run) sample(now time.Time) error {
	heap := r.memory.read()
	s := feed.Sample{
		Interval: now.Sub(r.since), Ticks: r.result.Ticks, Late: r.result.Late, Operations: r.commands,
		Flush: quantiles(&r.flushes), Tick: quantiles(&r.ticks),
		Heap: heap, Goroutines: runtime.NumGoroutine(), Shards: r.shards, Verdict: "running",
	}
	for _, shard := range r.shards {
		s.Live += shard.Live
	}
	r.result.Heap = max(r.result.Heap, heap)
	r.collect()
	r.since = now
	if s.Late > 0 {
		s.Verdict = feed.Late
	}
	err := r.limits()
	if err != nil || r.slow() != nil {
		s.Verdict = "over a limit"
	}
	r.Feed.Sample(s)
	return err
}

// collect adds the histograms of the interval to those of the run.
func (r *run) collect() {
	r.result.Flush.Merge(&r.flushes)
	r.result.Tick.Merge(&r.ticks)
	r.flushes, r.ticks, r.commands = histogram.Histogram{}, histogram.Histogram{}, 0
}

// limits returns errLimit when the heap has outgrown its limit: at once, for the
// sake of the machine. The p99 is judged at the end.
func (r *run) limits() error {
	if r.MaxHeap > 0 && r.result.Heap > r.MaxHeap {
		return fmt.Errorf("%w: %s of heap objects exceed -max-heap, %s", errLimit, report.Bytes(r.result.Heap), report.Bytes(r.MaxHeap))
	}
	return nil
}

// slow returns errLimit when the p99 of the tick time exceeds its limit.
func (r *run) slow() error {
	if p99 := r.result.Tick.Quantile(0.99); r.MaxP99 > 0 && p99 > r.MaxP99 {
		return fmt.Errorf("%w: the p99 of the tick time, %s, exceeds -max-p99, %s", errLimit, report.Duration(p99), report.Duration(r.MaxP99))
	}
	return nil
}

func quantiles(h *histogram.Histogram) feed.Quantiles {
	return feed.Quantiles{P50: h.Quantile(0.5), P99: h.Quantile(0.99), P999: h.Quantile(0.999), Max: h.Max()}
}

// measure takes the figures at the end of a run.
func (r *Result) measure(of *run) {
	of.collect()
	r.Tables = of.store.Stats().Tables
	r.Collections, r.Stops, r.StopP99, r.StopMax = of.memory.pauses()
	r.Heap = max(r.Heap, of.memory.read())
}
