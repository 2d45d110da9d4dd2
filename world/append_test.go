package world_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

var errLost = errors.New("the answer was lost")

func TestAppend_AppliesEachTickOnce(t *testing.T) {
	for _, c := range []struct {
		name       string
		kept, dies bool
	}{
		{"kept, and the process dies", true, true},
		{"not kept, and the process dies", false, true},
		{"kept, and the answer is lost", true, false},
		{"not kept, and the answer is lost", false, false},
	} {
		for n := range 6 {
			inBubble(t, fmt.Sprint(c.name, "/", n), func(t *testing.T) {
				shared := keeping{world.Memory()}
				ctx, die := context.WithCancel(t.Context())
				defer die()
				left := n + 1 // the start of the term comes first
				l := &faulty{Log: shared}
				l.append = func(ctx context.Context, prev uint64, rec []byte) (at uint64, err error) {
					if left--; left != 0 {
						return shared.Append(ctx, prev, rec)
					}
					if c.kept {
						_, err = shared.Append(ctx, prev, rec)
					}
					if c.dies {
						die()
					}
					return 0, errors.Join(err, errLost)
				}
				playAnyWay(ctx, t, l, n, c.kept, c.dies)
			})
		}
	}
}

func playAnyWay(ctx context.Context, t *testing.T, l *faulty, n int, kept, dies bool) {
	g := newGame(t, store.Options{})
	w, err := world.Open(ctx, g.Store, l, g.options())
	if n == 0 && dies {
		if err == nil {
			t.Fatal("Open came to its end, and its context had ended")
		}
		if w == nil { // the process died in Open
			w = mustOpen(t, newGame(t, store.Options{}), l.Log)
			steps(t, w, 3)
			mustClose(t, w)
			return
		}
	}
	noError(t, err)
	var calls []*submission
	for tick := 1; tick <= n+2; tick++ {
		s := submit(t.Context(), w, g.order(tick))
		calls = append(calls, s)
		if _, err = w.Step(ctx); err != nil {
			break
		}
		synctest.Wait()
		wantApplied(t, s, uint64(tick))
	}
	if dies != (err != nil) {
		t.Fatalf("the last step: %v", err)
	}
	last := calls[len(calls)-1]
	crash(t, w)
	synctest.Wait()
	failIf(t, dies && !errors.Is(last.err, store.ErrUncertain), "the call of the tick with which the process died: done %t, %v", last.done, last.err)
	fresh, again := newWorld(t, store.Options{Workers: 2}, l.Log)
	wantSame(t, g, fresh)
	want := uint64(len(calls))
	if dies && !kept {
		want--
	}
	tick := mustStep(t, again) // after the election timeout
	equal(t, "next tick", tick.Number, want+1)
	mustClose(t, again)
	noError(t, errorOf(world.AuditOf(t.Context(), l.Log)))
}

func TestAppend_ClosedLogHalts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &faulty{Log: world.Memory()}
		g, w := newWorld(t, store.Options{}, l)
		steps(t, w, 3)
		l.append = func(context.Context, uint64, []byte) (uint64, error) {
			return 0, fmt.Errorf("the disk: %w", fs.ErrClosed)
		}
		s := submit(t.Context(), w, g.order(1))
		wantError(t, errorOf(w.Step(t.Context())), fs.ErrClosed)
		synctest.Wait()
		wantError(t, s.err, store.ErrUncertain)
		_, err := w.Submit(t.Context(), g.order(2))
		failIf(t, !errors.Is(err, world.ErrNotLeader) || strings.Contains(err.Error(), "another world") || !strings.Contains(err.Error(), "the disk"), "a later Submit: %v", err)
		if err := w.Handoff(t.Context(), "second"); strings.Contains(err.Error(), "another world") || !strings.Contains(err.Error(), "the disk") {
			t.Errorf("a later Handoff: %v", err)
		}
		wantError(t, errorOf(w.Step(t.Context())), fs.ErrClosed)
		err = w.Read(t.Context(), func(_ context.Context, tick world.Tick) error {
			equal(t, "tick of Read", tick.Number, 3)
			return nil
		})
		noError(t, err)
		mustClose(t, w)
	})
}

func TestAppend_RetriesRefusedRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := world.Memory()
		l := &faulty{Log: shared}
		g, w := newWorld(t, store.Options{}, l)
		refusals := 5
		l.append = func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
			if refusals--; refusals >= 0 {
				if refusals%2 == 0 {
					l.tail = func(context.Context) (uint64, error) { return 0, errLost }
				}
				return 0, errors.New("the disk is full")
			}
			l.tail = nil
			return shared.Append(ctx, prev, rec)
		}
		s := submit(t.Context(), w, g.order(1))
		steps(t, w, 1)
		synctest.Wait()
		wantApplied(t, s, 1)
		st := w.Status()
		failIf(t, refusals != -1 || st.AppendErr != "" || st.Tick != 1, "%d refusals are left; %+v", refusals, st)
		mustClose(t, w)
	})
}

func TestAppend_OlderSnapshotIsNotATrim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &faulty{Log: world.Memory()}
		g, w := newWorld(t, alone, l)
		steps(t, w, 7)
		synctest.Wait() // the snapshot has the last record
		equal(t, "newest snapshot", snapshotsOf(t, l)[0], w.Status().Position)
		l.append = func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
			l.append, l.read = nil, func(context.Context, uint64, func(uint64, []byte) error) error {
				l.read = nil
				return errLost
			}
			return 0, errors.Join(errorOf(l.Log.Append(ctx, prev, rec)), errLost)
		}
		s := submit(t.Context(), w, g.order(1))
		steps(t, w, 1)
		synctest.Wait()
		wantApplied(t, s, 8)
		equal(t, "terms", w.Status().Term, 1)
		mustClose(t, w)
	})
}

func TestRun_EndsAfterRunningAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := world.Memory()
		slow := false
		l := &faulty{Log: shared, append: func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
			if slow {
				select {
				case <-time.After(500 * time.Millisecond):
				case <-ctx.Done():
					return 0, context.Cause(ctx)
				}
			}
			return shared.Append(ctx, prev, rec)
		}}
		g, w := newWorld(t, alone, l)
		slow = true
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		s := submit(t.Context(), w, g.order(1))
		go func() { done <- w.Run(ctx) }()
		time.Sleep(200 * time.Millisecond) // during the append
		stop()
		wantError(t, <-done, context.Canceled)
		synctest.Wait()
		failIf(t, !s.done || s.err != nil || w.Status().Tick != 1, "Submit: done %t, %v; tick %d, want 1", s.done, s.err, w.Status().Tick)
		crash(t, w)
	})
}

func TestStep_FinishesTickAfterContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		g, h := newGame(t, store.Options{}), newGame(t, store.Options{})
		w, v := mustOpen(t, g, l), mustOpen(t, h, l)
		for _, c := range []struct {
			*world.World
			*game
		}{{w, g}, {v, h}} {
			ctx, cancel := context.WithCancel(t.Context())
			c.fault = func(world.Tick) error { cancel(); return nil }
			tick, err := c.Step(ctx)
			failIf(t, err != nil && !errors.Is(err, context.Canceled), "Step: tick %d, %v", tick.Number, err)
			c.fault = nil
			s := c.Status()
			failIf(t, s.Tick != 1 || s.Halted != "", "%v", s)
		}
		stepEach(t, w, v)
		wantSame(t, g, h)
		mustClose(t, v, w)
	})
}

func TestInputBytes_LimitsEachTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w := newWorld(t, store.Options{}, world.Memory(), func(o *world.Options) { o.InputBytes = 1 })
		var calls []*submission
		for n := range 3 {
			calls = append(calls, submit(t.Context(), w, g.order(n)))
		}
		for n, s := range calls {
			equal(t, "waiting calls", w.Status().CallsWaiting, 3-n)
			stepsSaving(t, w, 1)
			wantApplied(t, s, uint64(n+1))
		}
		mustClose(t, w)
	})
}
