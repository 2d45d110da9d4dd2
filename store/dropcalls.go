package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/check"
	"handloom/shard"
)

// prepareWithout prepares a flush again without the inbox calls that made prepare fail. It drops, in
// call order, each call that does not fit, claims a taken key, or has a value on which Links or a key
// function panics. It fails if the calls are not the cause. State and batch decide what is dropped.
func (f *flush) prepareWithout(p *phase, err error) error {
	prepared := false
	defer func() {
		if !prepared {
			f.store.batch.KeepCalls()
		}
	}()
	for err != nil {
		more, failed := f.dropCalls(p, err)
		if failed != nil || !more {
			return cmp.Or(failed, err)
		}
		f.collect(p.outer != nil)
		err = f.prepare(p)
	}
	prepared = true
	return nil
}

// dropCalls drops the calls that made prepare fail, and reports whether it dropped any.
func (f *flush) dropCalls(p *phase, failed error) (more bool, err error) {
	refused, panicked := isRefused(failed), isPanic(failed)
	if !refused && !(panicked && (f.visits || f.keyed)) {
		return false, nil
	}
	var calls []batch.InboxCall
	if err := f.guard(p, func() (err error) { calls, err = f.store.batch.Calls(); return err }); err != nil {
		return false, err
	}
	if refused {
		return f.dropWhatDoesNotFit(p, calls)
	}
	for _, c := range calls {
		switch err := f.guard(p, func() error { c.Visit(); f.store.visitKeys(c); return nil }); {
		case isPanic(err):
			c.Drop(err)
			more = true
		case err != nil:
			return false, err
		}
	}
	return more, nil
}

func (f *flush) guard(ctx context.Context, do func() error) error {
	return f.store.run(ctx, 1, func(int) error { return do() }, nil)
}

func isRefused(err error) bool { return errors.Is(err, ErrFull) || errors.Is(err, ErrDuplicate) }

func isPanic(err error) bool {
	var p *PanicError
	return errors.As(err, &p)
}

// dropWhatDoesNotFit plans the flush without calls. In call order it adds each call that
// fits and claims no taken key, and drops the others. If the passes alone fail, it drops
// no call and returns their error, the same as without calls.
func (f *flush) dropWhatDoesNotFit(p *phase, calls []batch.InboxCall) (more bool, err error) {
	b := f.store.batch
	b.Withhold(true)
	defer b.Withhold(false)
	defer f.cancel()
	a := admission{flush: f, phase: p, store: f.store, keys: f.store.newKeyTrials()}
	var queues []batch.InboxCall
	a.creates = b.NewAdmission(func(queue batch.InboxCall) { queues = append(queues, queue) })
	failed := a.tryKeys(queues...) // before the plan, which changes values
	f.collect(p.outer != nil)
	if err := cmp.Or(f.plan(p), failed); err != nil {
		return false, err
	}
	for _, t := range f.tables {
		t.cancelKeys() // a holds the keys of the passes
	}
	defer a.cancel()
	for _, c := range calls {
		if err := a.try(c); err != nil {
			if !isRefused(err) && !isPanic(err) {
				return false, err
			}
			c.Drop(err)
			more = true
		}
	}
	return more, nil
}

type admission struct {
	flush   *flush
	phase   *phase
	store   *Store
	creates *batch.Admission
	keys    *keyTrials // nil: no index
	marked  []marking  // erases of the call being tried
	tables  []*table   // tables that the call changes, with repetitions
	touched []*table   // tables that any call changes
}

type marking struct {
	shard     *shard.Shard
	id        ID
	depleting bool
}

// tryKeys adds the keys of calls or of queues of passes. It fails if a key is taken, a
// key function panics, or the context has ended.
func (a *admission) tryKeys(all ...batch.InboxCall) error {
	if a.keys == nil {
		return nil
	}
	err := a.flush.guard(a.phase, func() error { return a.keys.try(all...) })
	if err != nil {
		a.keys.undo()
	} else {
		a.keys.keep()
	}
	return err
}

func (a *admission) try(c batch.InboxCall) error {
	a.marked, a.tables = a.marked[:0], a.tables[:0]
	a.creates.Try(c, func(ordinal int) { a.tables = append(a.tables, a.store.tables[ordinal]) })
	a.touched = append(a.touched, a.tables...)
	c.Erases(func(ordinal, shard int, ids []handle.ID) {
		t := a.store.tables[ordinal]
		if shard >= 0 {
			a.erase(t.order[shard], ids)
			return
		}
		for _, sh := range t.order {
			for id := range sh.Map.All {
				a.erase(sh, []handle.ID{id})
			}
		}
	})
	err := a.fit()
	if err == nil {
		err = a.tryKeys(c)
	}
	if err != nil {
		for _, m := range a.marked {
			m.shard.UnplanErase(m.id, m.depleting)
		}
		a.creates.Undo()
		return err
	}
	a.creates.Keep()
	return nil
}

func (a *admission) fit() error {
	for _, t := range a.tables {
		if err := t.fits(a.creates.Survivors(t.ordinal)); err != nil {
			return err
		}
	}
	return nil
}

func (a *admission) erase(sh *shard.Shard, ids []handle.ID) {
	for _, id := range ids {
		if marked, depleting := sh.PlanErase(id); marked {
			a.marked = append(a.marked, marking{sh, id, depleting})
		}
	}
}

// cancel undoes the planned erases of calls.
func (a *admission) cancel() {
	for _, t := range a.touched {
		for _, sh := range t.order {
			sh.Cancel()
		}
	}
}

// fits returns an error that wraps ErrFull unless the creates fit the table after the
// planned erases. own is the number of the last creates, for the error.
func (t *table) fits(creates, own int) error {
	if creates == 0 {
		return nil
	}
	take, kept := t.flushing.take, 0
	for i, stats := range t.stats.shards {
		take[i] = stats.Live - t.order[i].Erased()
		kept += take[i]
	}
	if t.maxItems > 0 && kept+creates > t.maxItems {
		return t.tooMany(kept+creates-own, own)
	}
	shard.Deal(take, creates)
	for i, n := range take {
		if err := t.order[i].Fits(n); err != nil {
			return fmt.Errorf("table %q: %w", t.name, err)
		}
	}
	return nil
}

// callAfterFlush calls Options.AfterFlush. Its own stack frame marks the goroutine for
// [insideAfterFlush].
//
//go:noinline
func (s *Store) callAfterFlush(r *Report) {
	defer s.flush.reporting.Store(nil)
	if check.Full {
		s.goroutines.enter(&phase{op: opAfterFlush})
		defer s.goroutines.leave()
	}
	s.options.AfterFlush(r)
}

var afterFlushEntry = reflect.ValueOf((*Store).callAfterFlush).Pointer()

// refusedAfterFlush returns an error if the phase would wait for the Frame or Run that
// called AfterFlush and waits for it to return. Phases of other goroutines wait as usual.
// An AfterFlush of another store is refused too, because two of them could wait for each
// other.
//
// It reads the stack only while an AfterFlush runs inside a Frame or Run; otherwise it
// costs one load.
func (p *phase) refusedAfterFlush() error {
	flush := p.store.flush.reporting.Load()
	if flush == nil || flush.outer == nil || !insideAfterFlush() {
		return nil
	}
	holds, fix := flush.outer.op, "call it when Run has returned"
	if holds == opFrame {
		fix = "pass it the context that Frame gave to its function"
	}
	return fmt.Errorf("store: %v inside Options.AfterFlush of a flush inside %v: %w: it would wait forever; %s", p.op, holds, ErrPhase, fix)
}

func insideAfterFlush() bool {
	var callers [64]uintptr
	for skip := 2; ; skip += len(callers) {
		n := runtime.Callers(skip, callers[:])
		if n == 0 {
			return false
		}
		frames := runtime.CallersFrames(callers[:n])
		for {
			frame, more := frames.Next()
			if frame.Entry == afterFlushEntry {
				return true
			}
			if !more {
				break
			}
		}
	}
}
