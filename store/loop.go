package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"handloom/internal/check"
)

// Loop calls a function at a fixed rate: the clock of a simulation, whose ticks
// all stand for the same time, however long they take.
//
// The guide's page is guide/frames.md.
type Loop struct {
	Hz         int // ticks per second; 0: 60
	MaxCatchUp int // ticks that may be run without a pause after one that came late

	dropped atomic.Uint64
	steps   *ticking // of Steps; nil before the first call
}

// Run calls tick with the numbers 0, 1, 2 and so on, tick n as soon as n/Hz
// seconds have passed since Run began, one at a time, on the caller's goroutine.
// When ticks took so long that others are overdue, they follow without a pause.
// Of those more than MaxCatchUp, the oldest are dropped: the clock of the
// simulation stands still for as long, instead of falling behind for good when
// each tick takes longer than it stands for. Numbers have no gap; what was
// dropped is counted by [Loop.Dropped].
//
// Run returns the first error of tick, or the cause of ctx when that ends, which
// it looks at before each tick. It fails at once if MaxCatchUp is negative or Hz
// is no rate between one tick per second and one per nanosecond.
func (l *Loop) Run(ctx context.Context, tick func(ctx context.Context, tick uint64) error) error {
	check.Given(ctx != nil, "store: Loop.Run", "context")
	check.Given(tick != nil, "store: Loop.Run", "function")
	t, err := l.begin(time.Now())
	if err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for number := uint64(0); ; number++ {
		timer.Reset(t.due(t.next) - time.Since(t.began))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		if ctx.Err() != nil { // of two channels that are ready, select takes any
			return context.Cause(ctx)
		}
		l.overdue(t, time.Since(t.began))
		if err := tick(ctx, number); err != nil {
			return err
		}
		t.next++
	}
}

// Steps returns the number of ticks that are due at now, for an engine that has a loop
// of its own and calls Steps in each of its rounds. The program runs so many ticks, and
// then draws: alpha, from 0 up to but not 1, is the part of the next tick that has passed.
//
// Ticks are due as in [Loop.Run], which does not share this clock: tick 0 at the time of
// the first call, tick n when n/Hz seconds have passed since. A call returns at most
// 1+MaxCatchUp ticks; older ones are dropped, and [Loop.Dropped] counts them. An engine
// that draws less often than Hz needs a MaxCatchUp above 0 to keep the rate. A now before
// the last one is 0 ticks.
//
// Steps takes O(1) time and does not wait. It panics where Run returns an error for
// MaxCatchUp or Hz. One goroutine calls it; Hz must not change between calls.
func (l *Loop) Steps(now time.Time) (ticks int, alpha float64) {
	if l.steps == nil {
		t, err := l.begin(now)
		if err != nil {
			panic(err)
		}
		l.steps = t
	}
	t := l.steps
	passed := max(now.Sub(t.began), 0)
	ticks = l.overdue(t, passed)
	t.next += uint64(ticks)
	last := t.due(t.next - 1)
	return ticks, float64(max(passed-last, 0)) / float64(t.due(t.next)-last)
}

// Dropped returns how many ticks were dropped since the Loop was made. It may be
// called from any goroutine.
func (l *Loop) Dropped() uint64 { return l.dropped.Load() }

// ticking is a clock that runs, and the next tick.
type ticking struct {
	clock
	began time.Time
	next  uint64
}

func (l *Loop) begin(now time.Time) (*ticking, error) {
	c, err := l.clock()
	return &ticking{clock: c, began: now}, err
}

// overdue returns the number of ticks that are due when d has passed, after it drops
// those above the limit.
func (l *Loop) overdue(t *ticking, d time.Duration) int {
	due := t.at(d) + 1
	if due <= t.next {
		return 0
	}
	if most := uint64(l.MaxCatchUp) + 1; due-t.next > most {
		l.dropped.Add(due - t.next - most)
		t.next = due - most
	}
	return int(due - t.next)
}

// clock tells times by the number of ticks since the loop began. Whole seconds
// are reckoned apart from parts of one, so that nothing overflows.
type clock struct{ hz uint64 }

func (l *Loop) clock() (clock, error) {
	var errs []error
	if l.Hz < 0 || l.Hz > int(time.Second) {
		errs = append(errs, fmt.Errorf("store: Loop: Hz %d is outside 1..%d; 0 means 60", l.Hz, int(time.Second)))
	}
	if l.MaxCatchUp < 0 {
		errs = append(errs, fmt.Errorf("store: Loop: MaxCatchUp %d is negative; 0 means no tick is caught up on", l.MaxCatchUp))
	}
	if l.Hz == 0 {
		return clock{60}, errors.Join(errs...)
	}
	return clock{uint64(l.Hz)}, errors.Join(errs...)
}

// due is when a tick is to begin, in whole nanoseconds and not before.
func (c clock) due(tick uint64) time.Duration {
	seconds, rest := tick/c.hz, tick%c.hz
	return time.Duration(seconds)*time.Second + time.Duration((rest*uint64(time.Second)+c.hz-1)/c.hz)
}

// at is the last tick that is due when d has passed.
func (c clock) at(d time.Duration) uint64 {
	seconds, rest := uint64(d/time.Second), uint64(d%time.Second)
	return seconds*c.hz + rest*c.hz/uint64(time.Second)
}
