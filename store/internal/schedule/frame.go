package schedule

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/trace"
	"time"

	"handloom/tasks"
)

// frame is the state of a frame. The schedule keeps it, because frames allocate nothing.
type frame struct {
	Run
	schedule *Schedule
	ctx      context.Context
	systems  []int // running wave
	due      []int // whose If holds
	order    []int // permutation of due; nil: in order

	// By system, written on its own goroutine:
	times  []time.Duration
	failed []error

	step func(task int) error // runs one of due; bound once
}

const didNotRun time.Duration = -1

func (f *frame) init(s *Schedule) {
	n := len(s.systems)
	f.schedule = s
	f.due, f.times, f.failed = make([]int, 0, n), make([]time.Duration, n), make([]error, n)
	f.step = func(task int) error {
		if f.order != nil {
			task = f.order[task]
		}
		return f.system(f.due[task])
	}
}

func (f *frame) begin(ctx context.Context, o Run) error {
	f.Run, f.ctx = o, ctx
	for i := range f.times {
		f.times[i] = didNotRun
	}
	defer f.end() // deferred: Goexit may end the caller
	s := f.schedule
	for w, systems := range s.waves {
		if err := f.flush(w); err != nil {
			return fmt.Errorf("tasks: flush before wave %d: %w", w+1, err)
		}
		if err := f.wave(systems); err != nil {
			return err
		}
	}
	if err := f.flush(len(s.waves)); err != nil {
		return fmt.Errorf("tasks: flush at the end: %w", err)
	}
	return nil
}

func (f *frame) end() {
	f.schedule.timings.add(f.times)
	clear(f.failed)
	f.Run, f.ctx, f.order = Run{}, nil, nil
}

func (f *frame) flush(wave int) error {
	ends := f.schedule.ends[wave]
	if f.Flush == nil || len(f.schedule.flushes[wave])+len(ends) == 0 {
		return nil
	}
	if err := f.stopped(); err != nil {
		return err
	}
	return f.Flush(f.ctx, ends)
}

func (f *frame) stopped() error {
	if f.ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("tasks: schedule stopped: %w", context.Cause(f.ctx))
}

func (f *frame) wave(systems []int) error {
	if err := f.stopped(); err != nil {
		return err
	}
	f.systems, f.due = systems, f.due[:0]
	for _, i := range f.systems {
		if f.holds(i) {
			f.due = append(f.due, i)
		}
	}
	if err := f.lowest(); err != nil {
		return err
	}
	if f.Shuffle != nil {
		f.order = f.Shuffle(len(f.due))
	}
	err := tasks.Run(f.ctx, len(f.due), f.step, tasks.Options{Workers: f.Workers, Whole: true})
	if failed := f.lowest(); failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("tasks: schedule stopped: %w", err)
	}
	return nil
}

func (f *frame) holds(i int) (run bool) {
	condition := f.schedule.systems[i].If
	if condition == nil {
		return true
	}
	returned := false
	defer func() {
		if !returned {
			f.broken(i, recover())
		}
	}()
	run = condition()
	returned = true
	return run
}

// system stores failures by system, because a shuffled wave has other task numbers.
func (f *frame) system(i int) error {
	s := &f.schedule.systems[i]
	begin, returned := time.Now(), false
	defer func() {
		f.times[i] = time.Since(begin)
		if !returned {
			f.broken(i, recover())
		}
	}()
	defer trace.StartRegion(f.ctx, s.Name).End()
	if err := s.Run(f.ctx); err != nil {
		f.fail(i, err)
	}
	returned = true
	return nil
}

// broken stores a panic with value, or a Goexit if value is nil.
func (f *frame) broken(i int, value any) {
	if value == nil {
		f.fail(i, tasks.ErrGoexit)
		return
	}
	f.fail(i, &tasks.PanicError{Task: i, Value: value, Stack: debug.Stack()})
}

func (f *frame) fail(i int, err error) {
	f.failed[i] = &SystemError{System: f.schedule.systems[i].Name, Err: err}
}

func (f *frame) lowest() error {
	for _, i := range f.systems {
		if f.failed[i] != nil {
			return f.failed[i]
		}
	}
	return nil
}
