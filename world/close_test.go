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
		equal(t, "newest snapshot", snapshotsOf(t, l)[0], w.Status().Position)
	})
}

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
		ctx = within(t, time.Millisecond)
		wantError(t, errorOf(w.Step(ctx)), context.DeadlineExceeded)
		synctest.Wait()
		wantError(t, waits.err, world.ErrNotLeader)
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
		s := r.Status()
		failIf(t, s.Leader || s.Term != 1, "%v", s)
		r.end(t)
		failIf(t, r.Handoff(t.Context(), strings.Repeat("a", 1<<11)) == nil, "a name that no snapshot can hold")
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
		failIf(t, !errors.Is(err, store.ErrPhase) || strings.Count(err.Error(), "\n") != 2, "inside a Read: %v", err)
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
		wantError(t, v.Run(within(t, time.Minute)), fs.ErrClosed)
		mustClose(t, v, w)
	})
}
