// Package soak runs one steady workload for a long time and sees that nothing
// grows: not the heap, not the goroutines, not the open files, and not the time
// that the slowest flushes take.
//
// The set of live items is constant in size, and every tick replaces a part of
// it, so that whatever rises is a leak, but for what is meant to rise: a slot that
// has named 65,535 items is depleted and never used again. Figures are taken at the end of each
// tenth of the run; the first is there for warming up, and counts for flush times
// alone.
package soak

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"handloom/internal/histogram"
	"handloom/internal/report"
	"handloom/stress/internal/feed"
)

// Options configure a run.
type Options struct {
	Duration time.Duration
	Live     int // items; 0: 30,000
	Workers  int // 0: GOMAXPROCS
	Seed     uint64
	Feed     *feed.Feed
}

// Kind is the kind of a fault.
type Kind string

// The kinds of faults.
const (
	Leak  Kind = "leak"
	Limit Kind = "limit"
	Model Kind = "model" // the store is not as it should be
)

// Result is what a run came to.
type Result struct {
	Tenths      []Tenth
	Interrupted bool
	Kind        Kind // "": nothing is wrong
	Fault       string
}

// Tenth are the figures of a tenth of the run.
type Tenth struct {
	Ticks      int
	Operations int
	Heap       uint64 // after a collection
	Goroutines int
	Files      int // open; -1: the platform does not tell
	Flush      feed.Quantiles
	Live       int
	Slots      int
	Depleted   int // slots that are out of use for good
}

const tenths = 10

// Run runs the workload for the duration, or until ctx ends.
func Run(ctx context.Context, o Options) *Result {
	if o.Live == 0 {
		o.Live = 30_000
	}
	r := new(Result)
	w, err := newWorkload(o)
	if err == nil {
		err = w.store.Team(context.WithoutCancel(ctx), func(team context.Context) error { return r.run(ctx, team, w, o) })
	}
	if err != nil {
		r.Kind, r.Fault = Model, err.Error()
	}
	if r.Fault == "" {
		r.judge()
	}
	return r
}

func (r *Result) run(ctx, team context.Context, w *workload, o Options) error {
	if err := w.fill(team); err != nil {
		return err
	}
	for tenth := range tenths {
		begun, flushes, done := time.Now(), new(histogram.Histogram), Tenth{}
		for time.Since(begun) < o.Duration/tenths || done.Ticks == 0 {
			if ctx.Err() != nil {
				r.Interrupted = true
				return nil
			}
			n, took, err := w.tick(team)
			if err != nil {
				return err
			}
			done.Ticks++
			done.Operations += n
			flushes.Add(took)
		}
		if err := w.store.Verify(team); err != nil {
			return fmt.Errorf("after tenth %d: %w", tenth+1, err)
		}
		done.take(w, flushes)
		r.Tenths = append(r.Tenths, done)
		o.Feed.Sample(w.sample(&done, time.Since(begun)))
	}
	return nil
}

// take takes the figures at the end of a tenth.
func (t *Tenth) take(w *workload, flushes *histogram.Histogram) {
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.Heap, t.Goroutines, t.Files = memory.HeapAlloc, runtime.NumGoroutine(), openFiles()
	t.Flush = feed.Quantiles{
		P50: flushes.Quantile(0.5), P99: flushes.Quantile(0.99), P999: flushes.Quantile(0.999), Max: flushes.Max(),
	}
	for _, s := range w.store.Stats().Tables {
		t.Live += s.Live
		t.Slots += s.Slots
		t.Depleted += s.Depleted
	}
}

const (
	heapSlack  = 1 << 20 // bytes by which the heap may rise beyond its share
	flushSlack = time.Millisecond

	// What a slot takes that has used all its generations: a word and, of the
	// stable table, a row; and the spare room of their arrays.
	depletedBytes = 128

	// The free slots that the shards gather before they use one again. The number of
	// ticks that this takes depends on the items, and a tenth may have a single tick.
	freeSlots = minFree * (packedShards + richShards)
)

// judge compares the last tenth with those before.
func (r *Result) judge() {
	if r.Interrupted || len(r.Tenths) < tenths {
		return
	}
	first, warm, last := r.Tenths[0], r.Tenths[1], r.Tenths[tenths-1]
	usable := func(t Tenth) int { return t.Slots - t.Depleted }
	full := max(usable(warm), warm.Live+freeSlots)
	switch limit := warm.Heap + warm.Heap/20 + heapSlack + depletedBytes*uint64(max(0, last.Depleted-warm.Depleted)); {
	case last.Heap > limit:
		r.fail(Leak, "the heap rose from %s to %s", report.Bytes(int64(warm.Heap)), report.Bytes(int64(last.Heap)))
	case last.Goroutines > warm.Goroutines:
		r.fail(Leak, "the goroutines rose from %d to %d", warm.Goroutines, last.Goroutines)
	case last.Files > warm.Files:
		r.fail(Leak, "the open files rose from %d to %d", warm.Files, last.Files)
	case usable(last) > full+full/20:
		r.fail(Leak, "the slots in use, depleted ones aside, rose from %d to %d", usable(warm), usable(last))
	case last.Live != warm.Live:
		r.fail(Model, "%d items live; want %d", last.Live, warm.Live)
	case last.Flush.P999 > max(first.Flush.P999*3/2, first.Flush.P999+flushSlack):
		r.fail(Limit, "the p99.9 of flushes rose from %s to %s, more than 1.5 times",
			report.Duration(first.Flush.P999), report.Duration(last.Flush.P999))
	}
}

func (r *Result) fail(k Kind, format string, args ...any) {
	r.Kind, r.Fault = k, fmt.Sprintf(format, args...)
}

var errLost = errors.New("an item is lost")
