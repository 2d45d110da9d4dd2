package world_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

func TestClose_SavesLastState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &faulty{Log: world.Memory()}
		w := mustOpen(t, newGame(t, store.Options{}), l)
		l.save = func(ctx context.Context, at uint64, write func(w io.Writer) error) error {
			l.save = nil
			<-ctx.Done()
			return context.Cause(ctx)
		}
		steps(t, w, 7) // a snapshot is due after the 7th
		synctest.Wait()
		mustClose(t, w)
		equal(t, "newest snapshot", snapshotsOf(t, l)[0], w.Status().Position)
	})
}

func TestRun_ClosedLogEndsFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		w := mustOpen(t, newGame(t, store.Options{}), l)
		steps(t, w, 1)
		f := &faulty{Log: l}
		v := mustOpen(t, newGame(t, store.Options{}), f)
		f.tail = func(context.Context) (uint64, error) { return 0, fmt.Errorf("gone: %w", fs.ErrClosed) }
		wantError(t, v.Run(within(t, time.Minute)), fs.ErrClosed)
		mustClose(t, v, w)
	})
}

// Close fails only for what may be lost: with ErrUncertain for calls, and with the error of the log
// for ticks that lack a record. Other records decide about nothing.
func TestClose_PendingRecord(t *testing.T) {
	for _, kind := range []string{"a term start", "a tick", "a call", "a handoff", "ticks without a record"} {
		for fate, change := range map[string]func(t *testing.T, l *faulty){
			"arrives":     func(_ *testing.T, l *faulty) { l.append = nil },
			"has arrived": func(t *testing.T, l *faulty) { l.append = answers(t, l, errLost) },
			"is lost":     func(*testing.T, *faulty) {},
			"is late":     func(t *testing.T, l *faulty) { l.append = answers(t, l, nil) },
			"comes last":  func(t *testing.T, l *faulty) { leadFor(t, l, 2) },
			"is trimmed":  func(t *testing.T, l *faulty) { leadFor(t, l, 40) },
		} {
			inBubble(t, kind+" "+fate, func(t *testing.T) {
				l := &faulty{Log: world.Memory()}
				g, w, s := newPending(t, l, kind)
				change(t, l)
				err := w.Close(t.Context())
				in := fate == "arrives" || fate == "has arrived"
				unknown := kind == "a call" && !in && fate != "comes last"
				lost := kind == "ticks without a record" && !in
				if errors.Is(err, store.ErrUncertain) != unknown || (err != nil) != (unknown || lost) || lost && !strings.Contains(err.Error(), "2 ticks without input") {
					t.Errorf("Close: %v; a call may be applied: %t, ticks are lost: %t", err, unknown, lost)
				}
				wantFree(t, w, g)
				failIf(t, errors.Is(s.err, store.ErrUncertain) != unknown || kind == "a call" && (s.err == nil) != in, "Submit: %v", s.err)
				fresh, again := newWorld(t, alone, l.Log)
				if in {
					wantSame(t, g, fresh)
				}
				crash(t, again)
			})
		}
	}
}

// answers returns an Append that answers with err, or late.
func answers(t *testing.T, l *faulty, err error) func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
	return func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
		if err == nil {
			<-ctx.Done()
		}
		return 0, errors.Join(errorOf(l.Log.Append(t.Context(), prev, rec)), err, context.Cause(ctx))
	}
}

// newPending returns a World and a log that has not answered its last record.
func newPending(t *testing.T, l *faulty, kind string) (*game, *world.World, *submission) {
	t.Helper()
	s, g := new(submission), newGame(t, alone)
	idle := time.Duration(1)
	switch kind {
	case "a term start":
		other := mustOpen(t, newGame(t, alone), l.Log)
		mustStep(t, other)
		defer crash(t, other)
	case "ticks without a record":
		idle = 0
	}
	w := mustOpen(t, g, l, func(o *world.Options) { o.Idle = idle })
	if idle == 0 {
		pass(t, w, 3)
	}
	l.append = func(context.Context, uint64, []byte) (uint64, error) { return 0, errLost }
	ctx := within(t, time.Second)
	switch kind {
	case "ticks without a record":
		return g, w, s
	case "a handoff":
		wantError(t, w.Handoff(ctx, "game"), context.DeadlineExceeded)
		return g, w, s
	case "a call":
		s = submit(t.Context(), w, g.order(1))
	}
	wantError(t, errorOf(w.Step(ctx)), context.DeadlineExceeded, errLost)
	return g, w, s
}

// leadFor ends the fault of a log and runs ticks of another World.
func leadFor(t *testing.T, l *faulty, ticks int) {
	t.Helper()
	l.append = nil
	w := mustOpen(t, newGame(t, alone), l.Log)
	stepsSaving(t, w, ticks)
	crash(t, w)
}

type hang struct{ letGo, hangs chan struct{} }

func newHang() *hang { return &hang{make(chan struct{}), make(chan struct{})} }

// here blocks the first caller.
func (h *hang) here() {
	select {
	case <-h.hangs:
	default:
		close(h.hangs)
		<-h.letGo
	}
}

// save returns a Save that blocks.
func (h *hang) save(l world.Log) func(ctx context.Context, at uint64, write func(io.Writer) error) error {
	return func(ctx context.Context, at uint64, write func(io.Writer) error) error {
		h.here()
		return l.Save(ctx, at, write)
	}
}

func (h *hang) append(l world.Log, err error) func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
	return func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
		if h.here(); err != nil {
			return 0, err
		}
		return l.Append(context.WithoutCancel(ctx), prev, rec)
	}
}

func wantLate(t *testing.T, w *world.World, names string) {
	t.Helper()
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if err := w.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), names) {
			t.Errorf("Close: %v", err)
		}
		cancel()
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Close(ended); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), names) {
		t.Errorf("Close with a context that has ended: %v", err)
	}
	wantError(t, errorOf(w.Submit(t.Context(), func(store.Queue) error { return nil })), store.ErrClosed)
	ctx := within(t, time.Second)
	if err := w.Export(ctx, io.Discard); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Export: %v", err)
	}
}

func wantFree(t *testing.T, w *world.World, g *game) {
	t.Helper()
	synctest.Wait()
	noError(t, errorOf(g.Flush(t.Context())))
	mustClose(t, w)
}

func TestClose_EndsWithItsContext(t *testing.T) {
	inBubble(t, "a tick blocks", func(t *testing.T) {
		h, g := newHang(), newGame(t, alone)
		g.fault = func(world.Tick) error { h.here(); return nil }
		w := mustOpen(t, g, world.Memory())
		s := submit(t.Context(), w, g.order(1))
		stepped := stepAside(t, w)
		<-h.hangs
		wantLate(t, w, "a tick")
		close(h.letGo)
		noError(t, <-stepped)
		wantFree(t, w, g)
		wantApplied(t, s, 1)
	})
	for name, kept := range map[string]bool{"an append hangs": true, "an append hangs and fails": false} {
		inBubble(t, name, func(t *testing.T) { closeWhileAnAppendHangs(t, kept) })
	}
	for name, ticks := range map[string]int{"a snapshot hangs": 2, "a snapshot of a tick hangs": 8} {
		inBubble(t, name, func(t *testing.T) {
			h, g := newHang(), newGame(t, alone)
			l := &faulty{Log: world.Memory()}
			w := mustOpen(t, g, l)
			l.save = h.save(l.Log)
			steps(t, w, ticks)
			wantLate(t, w, "a snapshot")
			close(h.letGo)
			wantFree(t, w, g)
		})
	}
}

// stepAside calls Step in a goroutine.
func stepAside(t *testing.T, w *world.World) <-chan error {
	stepped := make(chan error, 1)
	go func() {
		_, err := w.Step(t.Context())
		stepped <- err
	}()
	return stepped
}

func closeWhileAnAppendHangs(t *testing.T, kept bool) {
	h, g := newHang(), newGame(t, alone)
	l := &faulty{Log: world.Memory()}
	w := mustOpen(t, g, l)
	steps(t, w, 2)
	l.append = h.append(l.Log, map[bool]error{false: errLost}[kept])
	sealed := submit(t.Context(), w, g.order(1))
	stepped := stepAside(t, w)
	<-h.hangs
	waits := submit(t.Context(), w, g.order(2))
	wantLate(t, w, "an append")
	close(h.letGo)
	equal(t, "Step succeeds", <-stepped == nil, kept)
	wantFree(t, w, g)
	failIf(t, kept && sealed.err != nil || !kept && !errors.Is(sealed.err, store.ErrUncertain), "the call of the append: done %t, %v", sealed.done, sealed.err)
	failIf(t, !errors.Is(waits.err, store.ErrClosed) || errors.Is(waits.err, store.ErrUncertain), "a call that no tick has taken: done %t, %v", waits.done, waits.err)
}

func TestExport_EndsWithItsContext(t *testing.T) {
	w := mustOpen(t, newGame(t, store.Options{}), world.Memory())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	writes := 0
	err := w.Export(ctx, writerFunc(func(b []byte) (int, error) {
		writes++
		cancel()
		return len(b), nil
	}))
	failIf(t, !errors.Is(err, context.Canceled) || writes != 1, "%d writes, %v", writes, err)
	mustClose(t, w)
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestStep_EndsWithItsContextDuringSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := world.Memory()
		open := func(l world.Log) (*game, *world.World) {
			return newWorld(t, alone, l, func(o *world.Options) { o.SnapshotTicks, o.DigestTicks = 20, 4 })
		}
		leader, w := open(shared)
		h := newHang()
		follower, v := open(&faulty{Log: shared, save: h.save(shared)})
		for range 100 {
			steps(t, w, 1)
			if v.Status().Tick < 30 {
				steps(t, v, 1)
			}
			synctest.Wait()
		}
		<-h.hangs
		wantError(t, errorOf(v.Step(within(t, time.Second))), context.DeadlineExceeded)
		close(h.letGo)
		for v.Status().Tick < 100 {
			mustStep(t, v)
		}
		wantSame(t, leader, follower)
		mustClose(t, v, w)
	})
}

// The World reads the start of its term while the append of it has no outcome.
func TestHandoff_TakenBackTermIsAppliedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := keeping{world.Memory()}
		var appends atomic.Int64
		l := &faulty{Log: shared, append: func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
			at, err := shared.Append(ctx, prev, rec)
			if appends.Add(-1) == 0 {
				<-ctx.Done()
				return 0, context.Cause(ctx)
			}
			return at, err
		}}
		r := run(t, newGame(t, alone), l)
		time.Sleep(time.Second)
		appends.Store(2) // the handoff is the first
		h := handOff(within(t, time.Second), r.World, "second")
		time.Sleep(5 * time.Second)
		wantHanded(t, h, context.DeadlineExceeded)
		s := r.Status()
		failIf(t, !s.Leader || s.Term != 2 || s.Halted != "", "%v", s)
		r.end(t)
		mustAudit(t, l)
	})
}
