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
	MaxCatchUp int // ticks that may be run without a pause behind one that came late

	dropped atomic.Uint64
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
	c, err := l.clock()
	if err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	begin, next := time.Now(), uint64(0)
	for number := uint64(0); ; number++ {
		timer.Reset(c.due(next) - time.Since(begin))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		if ctx.Err() != nil { // of two channels that are ready, select takes any
			return context.Cause(ctx)
		}
		if now, catchUp := c.at(time.Since(begin)), uint64(l.MaxCatchUp); now > next+catchUp {
			l.dropped.Add(now - next - catchUp)
			next = now - catchUp
		}
		if err := tick(ctx, number); err != nil {
			return err
		}
		next++
	}
}

// Dropped returns how many ticks were dropped since the Loop was made. It may be
// called from any goroutine.
func (l *Loop) Dropped() uint64 { return l.dropped.Load() }

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
