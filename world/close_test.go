package world_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
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
		if saved, err := l.Snapshots(t.Context()); err != nil || saved[0] != w.Status().Position {
			t.Errorf("record %d; saved %d, %v", w.Status().Position, saved, err)
		}
	})
}

// The World completes the append that a Handoff left pending.
func TestHandoff_IsCompletedAfterTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &faulty{Log: world.Memory()}
		g, w := newWorld(t, store.Options{}, l)
		steps(t, w, 2)
		lost := func(context.Context, uint64, []byte) (uint64, error) { return 0, errLost }
		l.append = lost
		waits := submit(t.Context(), w, g.order(1))
		ctx := within(t, time.Second)
		wantError(t, w.Handoff(ctx, "second"), context.DeadlineExceeded)
		l.append = nil
		begin := time.Now()
		ctx = within(t, time.Millisecond)
		wantError(t, errorOf(w.Step(ctx)), context.DeadlineExceeded)
		synctest.Wait()
		if !errors.Is(waits.err, world.ErrNotLeader) {
			t.Errorf("Submit: done %t behind %v, %v", waits.done, time.Since(begin), waits.err)
		}
		noError(t, w.Handoff(t.Context(), "second"))
		tail, _ := l.Tail(t.Context())
		equal(t, "records", tail, 4)
		steps(t, w, 1)
		l.append = lost
		handoff := make(chan error)
		go func() { handoff <- w.Handoff(context.Background(), "second") }()
		synctest.Wait()
		crash(t, w)
		wantError(t, <-handoff, store.ErrClosed)
	})
}

// The wait of others begins when Handoff returns.
func TestHandoff_LargeStateStaysHandedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := openJournal(t, filepath.Join(t.TempDir(), "log"))
		var large atomic.Bool
		r := run(t, newGame(t, alone), &faulty{Log: j, save: func(ctx context.Context, at uint64, write func(w io.Writer) error) error {
			if large.Load() {
				time.Sleep(time.Minute)
			}
			return j.Save(ctx, at, write)
		}})
		time.Sleep(time.Second)
		large.Store(true)
		noError(t, r.Handoff(t.Context(), "second"))
		time.Sleep(100 * time.Millisecond)
		if s := r.Status(); s.Leader || s.Term != 1 {
			t.Errorf("%v", s)
		}
		r.end(t)
		if err := r.Handoff(t.Context(), strings.Repeat("a", 1<<11)); err == nil {
			t.Error("a name that no snapshot can hold")
		}
		mustCloseJournal(t, j)
	})
}

func TestStep_InsideReadIsErrPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		g, w := newWorld(t, store.Options{}, l)
		s := submit(t.Context(), w, g.order(1))
		err := w.Read(t.Context(), func(ctx context.Context, _ world.Tick) error {
			_, err := w.Step(ctx)
			return errors.Join(err, w.Run(ctx), w.Handoff(ctx, ""))
		})
		if !errors.Is(err, store.ErrPhase) || strings.Count(err.Error(), "\n") != 2 {
			t.Errorf("inside a Read: %v", err)
		}
		steps(t, w, 1)
		synctest.Wait()
		wantApplied(t, s, 1)
		mustClose(t, w)
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
		ctx := within(t, time.Minute)
		wantError(t, v.Run(ctx), fs.ErrClosed)
		mustClose(t, v, w)
	})
}
