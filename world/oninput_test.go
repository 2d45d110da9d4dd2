package world_test

import (
	"context"
	"errors"
	"flag"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

// A locked log has one leader.
type locked struct{ world.Log }

func (locked) ElectionTimeout() time.Duration { return 0 }

// onInput makes a world without Hz.
func onInput(o *world.Options) { o.Hz = 0 }

func TestRun_WithoutHzTicksOnlyWithInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &faulty{Log: locked{world.Memory()}}
		g := newGame(t, alone)
		r := runWorld(g, mustOpen(t, g, l, onInput))
		time.Sleep(time.Hour)
		if s := r.Status(); s.Tick != 0 || s.Position != 1 {
			t.Fatalf("an idle hour: %v", s)
		}
		wantApplied(t, submit(t.Context(), r.World, g.order(1)), 1)
		h := newHang()
		l.append = h.append(l.Log, nil)
		calls := []*submission{submit(t.Context(), r.World, g.order(2))}
		<-h.hangs
		for n := range 5 {
			calls = append(calls, submit(t.Context(), r.World, g.order(n)))
		}
		close(h.letGo)
		synctest.Wait()
		for i, s := range calls {
			wantApplied(t, s, uint64(2+min(i, 1))) // calls gather during an append
		}
		last := g.seen[len(g.seen)-1].Time
		failIf(t, time.Since(last) > time.Second, "the last tick has the time %v", last)
		r.end(t)
	})
}

func TestRun_WithoutHzKeepsLeadingASharedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		g, h := newGame(t, alone), newGame(t, alone)
		r, v := runWorld(g, mustOpen(t, g, l, onInput)), runWorld(h, mustOpen(t, h, l, onInput))
		time.Sleep(10 * time.Minute)
		s := v.Status()
		failIf(t, !r.Status().Leader || s.Leader || s.Term != 1 || s.Tick != 0, "after 10 idle minutes: %v", s)
		failIf(t, s.Position < 5900 || s.Position > 6100, "%d heartbeats in 600 s", s.Position)
		wantApplied(t, submit(t.Context(), r.World, g.order(1)), 1)
		time.Sleep(time.Minute) // an idle leader is not a missing one
		noError(t, r.Handoff(t.Context(), "game"))
		time.Sleep(time.Second)
		failIf(t, !v.Status().Leader || r.Status().Leader, "after the handoff: %v, %v", r.Status(), v.Status())
		wantApplied(t, submit(t.Context(), v.World, h.order(2)), 2)
		synctest.Wait()
		equal(t, "ClockOff", v.Status().ClockOff, 0)
		wantSame(t, g, h)
		wantTicks(t, h, 2)
		r.end(t)
		v.end(t)
	})
}

// Run completes the append that an earlier Run began, without another tick.
func TestRun_WithoutHzCompletesAnEarlierAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &faulty{Log: locked{world.Memory()}}
		g := newGame(t, alone)
		w := mustOpen(t, g, l, onInput)
		l.append = func(context.Context, uint64, []byte) (uint64, error) { return 0, errLost }
		s := submit(t.Context(), w, g.order(1))
		wantError(t, w.Run(within(t, time.Second)), context.DeadlineExceeded, errLost)
		l.append = nil
		wantError(t, w.Run(within(t, time.Second)), context.DeadlineExceeded)
		synctest.Wait()
		wantApplied(t, s, 1)
		equal(t, "ticks", w.Status().Tick, 1)
		mustClose(t, w)
	})
}

// Time that no World has seen is a jump of the clock. A World that takes over has seen the time since
// the last tick, or since it loaded a snapshot.
func TestTickTime_WithoutHzFollowsSeenTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		_, w := newWorld(t, alone, l, onInput)
		steps(t, w, 1)
		mustClose(t, w)
		time.Sleep(time.Hour)
		g, h := newGame(t, alone), newGame(t, alone)
		r := runWorld(g, mustOpen(t, g, l, onInput))
		time.Sleep(time.Second) // it leads
		v := runWorld(h, mustOpen(t, h, l, onInput))
		time.Sleep(10 * time.Minute) // at 1.5 times normal speed
		wantApplied(t, submit(t.Context(), r.World, g.order(1)), 2)
		off := r.Status().ClockOff
		noError(t, r.Handoff(t.Context(), "game"))
		time.Sleep(time.Second)
		wantApplied(t, submit(t.Context(), v.World, h.order(2)), 3)
		failIf(t, (off-55*time.Minute).Abs() > 2*time.Second || (off-v.Status().ClockOff).Abs() > 2*time.Second, "ClockOff %v, then %v", off, v.Status())
		r.end(t)
		v.end(t)
	})
}

func TestStep_WithoutHzTicksAtOnce(t *testing.T) {
	g, w := newWorld(t, alone, locked{world.Memory()}, onInput)
	steps(t, w, 3)
	wantTicks(t, g, 3)
	equal(t, "records", w.Status().Position, 4)
	mustClose(t, w)
}

var withdrawn = flag.Int("withdrawn", 20_000, "calls whose contexts end while the log fails")

// A call whose context ends before a tick took it is not applied, and does not wait for the log.
func TestSubmit_WithdrawsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &faulty{Log: locked{world.Memory()}}
		var full atomic.Bool
		l.append = func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
			if full.Load() {
				return 0, errLost
			}
			return l.Log.Append(ctx, prev, rec)
		}
		g := newGame(t, store.Options{Workers: 1, InboxLimit: 100})
		r := runWorld(g, mustOpen(t, g, l, onInput))
		full.Store(true)
		sealed := submit(t.Context(), r.World, g.order(1))
		for n := range *withdrawn {
			ctx, cancel := context.WithCancelCause(t.Context())
			_, err := r.Submit(ctx, func(q store.Queue) error {
				cancel(errGame)
				return g.order(n)(q)
			})
			if errors.Is(err, store.ErrUncertain) || !errors.Is(err, errGame) || !errors.Is(err, errLost) || !strings.Contains(err.Error(), "not applied") {
				t.Fatalf("call %d: %v", n, err)
			}
		}
		time.Sleep(time.Second)
		full.Store(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantApplied(t, sealed, 1)
		wantApplied(t, submit(t.Context(), r.World, g.order(2)), 2)
		equal(t, "camps", g.camps.Len(), 3)
		r.end(t)
	})
}
