package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"handloom/internal/histogram"
	"handloom/store"
	"handloom/stress/internal/feed"
)

// Options say how a scenario is run. The zero Options are good.
type Options struct {
	Workers  int           // of passes and flushes; 0: GOMAXPROCS
	Seed     uint64        // of everything random
	Duration time.Duration // no tick begins after it; 0: all ticks are played
	MaxP99   time.Duration // of the tick time; 0: no limit
	MaxHeap  int64         // bytes; 0: no limit
	Feed     *feed.Feed    // told samples and progress; nil: nobody
}

const sampleEvery = 250 * time.Millisecond

// errLimit ends a run that has reached a limit.
var errLimit = errors.New("limit")

// run is one run of a scenario.
type run struct {
	Options
	*world
	pace   pace
	memory *memory
	result *Result

	since    time.Time // of the last sample
	commands int       // since then
	flushes  histogram.Histogram
	ticks    histogram.Histogram
	shards   []feed.Shard
}

// Run plays the scenario to its end and says how it went, also when its time or
// ctx ends first, a limit is reached or something fails: the result holds what was
// measured until then. It leaves no goroutine behind.
func (s *Scenario) Run(ctx context.Context, o Options) *Result {
	r := &run{Options: o, result: &Result{Scenario: s, Options: o}}
	w, err := newWorld(s, o.Workers, o.Seed)
	if err != nil {
		return r.result.judge(err)
	}
	w.flushed = r.flushed
	r.world = w
	whole := context.WithoutCancel(ctx) // phases run whole; between ticks ctx is looked at
	err = w.store.Team(whole, func(team context.Context) error { return r.play(ctx, team) })
	if _, closing := w.store.Close(whole); err == nil {
		err = closing
	}
	return r.result.judge(err)
}

// play runs the ticks and inspects what they leave.
func (r *run) play(ctx, team context.Context) error {
	if err := r.fill(team); err != nil {
		return err
	}
	r.memory = newMemory()
	readers := startReaders(ctx, r.world, r.scenario.Readers)
	err := r.loop(ctx, team)
	err = errors.Join(err, readers.stop())
	r.result.Reads = readers.times
	r.result.measure(r)
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, errLimit) {
		err = errors.Join(err, r.inspect(team))
	}
	return err
}

// inspect verifies the store and takes its digest.
func (r *run) inspect(ctx context.Context) (err error) {
	if err := r.store.Verify(ctx); err != nil {
		return fmt.Errorf("%w: %w", errInvariant, err)
	}
	r.result.Digest, err = r.store.Digest(ctx)
	return err
}

func (r *run) loop(ctx, team context.Context) error {
	r.pace = pace{begun: time.Now(), now: time.Now}
	if hz := r.scenario.Hz; hz > 0 {
		r.pace.period = time.Second / time.Duration(hz)
	}
	r.since = r.pace.begun
	for tick := range r.scenario.Ticks {
		due, err := r.pace.wait(ctx, tick)
		if err != nil {
			return err
		}
		if err := r.one(team, tick, due); err != nil {
			return err
		}
		if r.over(r.result.Elapsed) {
			break
		}
	}
	return r.slow()
}

// over reports whether the time of the run is over.
func (r *run) over(elapsed time.Duration) bool { return r.Duration > 0 && elapsed >= r.Duration }

// one runs a tick that was due then. The clock stops before the sample is taken.
func (r *run) one(team context.Context, tick int, due time.Time) error {
	var ended time.Time
	var sampled bool
	err := r.world.play(team, func(w *store.Writer) {
		ended = time.Now()
		last := tick == r.scenario.Ticks-1 || r.over(ended.Sub(r.pace.begun))
		if sampled = last || ended.Sub(r.since) >= sampleEvery; sampled {
			r.load(w)
		}
	})
	if err != nil {
		return err
	}
	r.ticks.Add(ended.Sub(due))
	r.result.Ticks++
	r.result.Elapsed = ended.Sub(r.pace.begun)
	if r.pace.late(tick, ended) {
		r.result.Late++
	}
	if !sampled {
		return nil
	}
	return r.sample(ended)
}

// flushed counts what a flush did.
func (r *run) flushed(took time.Duration, report *store.Report) {
	r.flushes.Add(took)
	r.commands += report.Total.Commands()
	r.result.Counts.Add(report.Total)
}
