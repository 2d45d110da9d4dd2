package tasks

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"handloom/internal/check"
)

// Loop calls a function at a fixed rate, for simulations whose ticks all last the same
// simulated time.
//
// See guide/frames.md.
type Loop struct {
	Hz         int // ticks per second; default 60
	MaxCatchUp int // max ticks without a pause after a late one; default 0

	dropped atomic.Uint64
	steps   *ticking // of Steps; nil before the first call
}

// Run calls tick with the numbers 0, 1, 2 and so on, one at a time, on the caller's
// goroutine. Tick n begins as soon as n/Hz seconds have passed since Run began. Overdue
// ticks follow without a pause, at most MaxCatchUp of them; the oldest of the others are
// dropped, so that slow ticks slow the simulation instead of accumulating delay. Numbers
// have no gap; [Loop.Dropped] counts dropped ticks.
//
// Run returns the first error of tick, or the cause of ctx, which it checks before each
// tick. It fails at once if MaxCatchUp is negative or Hz is outside 0 to 1e9.
func (l *Loop) Run(ctx context.Context, tick func(ctx context.Context, tick uint64) error) error {
	check.Given(ctx != nil, "tasks: Loop.Run", "context")
	check.Given(tick != nil, "tasks: Loop.Run", "function")
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
		if ctx.Err() != nil { // select picks any ready channel
			return context.Cause(ctx)
		}
		l.overdue(t, time.Since(t.began))
		if err := tick(ctx, number); err != nil {
			return err
		}
		t.next++
	}
}

// Steps returns the number of ticks that are due at now, for an engine with its own loop,
// and alpha, the elapsed fraction of the next tick, 0 <= alpha < 1. The program runs the
// ticks, and then draws.
//
// Ticks are due as in [Loop.Run], on a clock of its own: tick 0 at the first call, tick n
// after n/Hz seconds. A call returns at most 1+MaxCatchUp ticks; older ones are dropped,
// and [Loop.Dropped] counts them. An engine that draws less often than Hz needs a
// MaxCatchUp above 0 to keep the rate. A now before the last one returns 0 ticks.
//
// Steps takes O(1) time and does not wait. It panics where Run fails because of
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

// Dropped returns the number of ticks dropped since the Loop was made. Any goroutine may
// call it.
func (l *Loop) Dropped() uint64 { return l.dropped.Load() }

type ticking struct {
	clock
	began time.Time
	next  uint64
}

func (l *Loop) begin(now time.Time) (*ticking, error) {
	c, err := l.clock()
	return &ticking{clock: c, began: now}, err
}

// overdue drops ticks above the limit, and returns the number of ticks due when d has
// passed.
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

// clock converts between times and ticks since the loop began. It handles whole seconds
// separately, to avoid overflow.
type clock struct{ hz uint64 }

func (l *Loop) clock() (clock, error) {
	var errs []error
	if l.Hz < 0 || l.Hz > int(time.Second) {
		errs = append(errs, fmt.Errorf("tasks: Loop: Hz %d is outside 1..%d; 0 means 60", l.Hz, int(time.Second)))
	}
	if l.MaxCatchUp < 0 {
		errs = append(errs, fmt.Errorf("tasks: Loop: MaxCatchUp %d is negative; 0 means no catch-up", l.MaxCatchUp))
	}
	if l.Hz == 0 {
		return clock{60}, errors.Join(errs...)
	}
	return clock{uint64(l.Hz)}, errors.Join(errs...)
}

// due returns the start of a tick, rounded up to nanoseconds.
func (c clock) due(tick uint64) time.Duration {
	seconds, rest := tick/c.hz, tick%c.hz
	return time.Duration(seconds)*time.Second + time.Duration((rest*uint64(time.Second)+c.hz-1)/c.hz)
}

// at returns the last tick that is due when d has passed.
func (c clock) at(d time.Duration) uint64 {
	seconds, rest := uint64(d/time.Second), uint64(d%time.Second)
	return seconds*c.hz + rest*c.hz/uint64(time.Second)
}
