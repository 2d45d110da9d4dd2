package world_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

// alone avoids idle workers, which would spin while the fake clock stands.
var alone = store.Options{Workers: 1}

type running struct {
	*world.World
	game *game
	stop context.CancelFunc
	done chan error
}

func run(t *testing.T, g *game, l world.Log) *running {
	t.Helper()
	return runWorld(g, mustOpen(t, g, l))
}

func runWorld(g *game, w *world.World) *running {
	ctx, stop := context.WithCancel(context.Background())
	r := &running{w, g, stop, make(chan error, 1)}
	go func() { r.done <- w.Run(ctx) }()
	return r
}

func (r *running) end(t testing.TB) {
	t.Helper()
	r.stop()
	wantError(t, <-r.done, context.Canceled)
	crash(t, r.World)
}

func mustAudit(t *testing.T, l world.Log) world.Audit {
	t.Helper()
	a, err := world.AuditOf(context.Background(), l)
	noError(t, err)
	return a
}

// A keeping log is never trimmed.
type keeping struct{ world.Log }

func (keeping) Trim(context.Context, uint64) error { return nil }

// If the log is trimmed after its record, the leader cannot know the outcome and loads a
// snapshot.
func TestTakeover_PausedLeaderFollows(t *testing.T) {
	for name, trims := range map[string]bool{"the log keeps all": false, "the log is trimmed": true} {
		inBubble(t, name, func(t *testing.T) { pauseOwner(t, trims) })
	}
}

func pauseOwner(t *testing.T, trims bool) {
	shared := world.Memory()
	if !trims {
		shared = keeping{shared}
	}
	l := &faulty{Log: shared}
	paused := make(chan struct{})
	g, h := newGame(t, alone), newGame(t, alone)
	g.seeded, h.seeded = true, true
	w, v := mustOpen(t, g, l), mustOpen(t, h, shared)
	steps(t, w, 5)
	l.append = func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
		<-paused
		return shared.Append(ctx, prev, rec)
	}
	sealed := submit(t.Context(), w, g.order(1))
	stepped := make(chan world.Tick)
	go func() { stepped <- mustStep(t, w) }()
	synctest.Wait()
	waits := submit(t.Context(), w, g.order(2))
	stepsSaving(t, v, 40)
	if s := v.Status(); !s.Leader || s.Tick != 40 {
		t.Fatalf("the other: %v", s)
	}
	close(paused)
	if tick := <-stepped; tick.Number <= 5 || trims && tick.Number <= 20 {
		t.Errorf("the paused world's step is tick %d", tick.Number)
	}
	synctest.Wait()
	failIf(t, !errors.Is(waits.err, world.ErrNotLeader) || errors.Is(waits.err, store.ErrUncertain), "a call that waited: done %t, %v", waits.done, waits.err)
	failIf(t, !trims && !errors.Is(sealed.err, world.ErrNotLeader) || errors.Is(sealed.err, store.ErrUncertain) != trims, "the call of the record: done %t, %v", sealed.done, sealed.err)
	failIf(t, w.Status().Leader, "the paused world: %v", w.Status())
	for last := mustStep(t, v); w.Status().Tick < last.Number; {
		mustStep(t, w)
	}
	equal(t, "digest", digest(t, g), digest(t, h))
	wantSame(t, g, h)
	mustClose(t, w, v)
	equal(t, "terms", v.Status().Term, 2)
}

// Each term ends with its first tick until the timeout has grown.
func TestTakeover_StormsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := keeping{world.Memory()}
		var worlds [3]*running
		for i := range worlds {
			g := newGame(t, alone)
			var slow atomic.Pointer[world.World]
			g.fault = func(world.Tick) error {
				if w := slow.Load(); w != nil && w.Status().Leader {
					time.Sleep(900 * time.Millisecond)
				}
				return nil
			}
			worlds[i] = run(t, g, l)
			slow.Store(worlds[i].World)
		}
		time.Sleep(30 * time.Second)
		early := mustAudit(t, l)
		time.Sleep(time.Minute)
		late := mustAudit(t, l)
		for _, w := range worlds {
			w.end(t)
			wantSame(t, worlds[0].game, w.game)
		}
		if early.Terms < 3 || early.Terms > 12 || late.Terms != early.Terms || late.Ticks-early.Ticks < 60 {
			t.Errorf("%d terms in half a minute, %d in the minute behind it with %d ticks", early.Terms, late.Terms-early.Terms, late.Ticks-early.Ticks)
		}
	})
}

// Handoffs are not a storm: the next takeover is as fast as the first.
func TestTakeover_FastAfterHandoffs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := keeping{world.Memory()}
		a, b := run(t, newGame(t, alone), l), run(t, newGame(t, alone), l)
		for range 4 {
			time.Sleep(l.ElectionTimeout())
			if !a.Status().Leader {
				a, b = b, a
			}
			noError(t, a.Handoff(t.Context(), "game"))
		}
		a, b = b, a
		a.end(t)
		time.Sleep(l.ElectionTimeout() * 3 / 2) // b may get the last record a tick later
		failIf(t, !b.Status().Leader, "nobody leads after the election timeout: %v", b.Status())
		b.end(t)
	})
}

func TestTakeover_WaitsForThreeTicks(t *testing.T) {
	for hz, want := range map[int]time.Duration{1: 3 * time.Second, 100: world.Memory().ElectionTimeout()} {
		inBubble(t, fmt.Sprint("hz=", hz), func(t *testing.T) {
			l, clocked := keeping{world.Memory()}, func(o *world.Options) { o.Hz = hz }
			w := mustOpen(t, newGame(t, alone), l, clocked)
			g := newGame(t, alone)
			v := runWorld(g, mustOpen(t, g, l, clocked))
			mustStep(t, w)
			synctest.Wait()
			time.Sleep(want - time.Millisecond)
			failIf(t, v.Status().Leader, "a follower leads before %v", want)
			time.Sleep(2 * time.Millisecond)
			failIf(t, !v.Status().Leader, "nobody leads after %v", want)
			v.end(t)
			crash(t, w)
		})
	}
}

func TestTakeover_NeedsTailOfLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := keeping{world.Memory()}
		cut := &faulty{Log: shared}
		w := mustOpen(t, newGame(t, store.Options{}), shared)
		v := mustOpen(t, newGame(t, store.Options{}), cut)
		steps(t, w, 3)
		cut.tail = func(context.Context) (uint64, error) { return 0, errLost }
		wantError(t, v.Run(within(t, time.Minute)), context.DeadlineExceeded)
		s := v.Status()
		failIf(t, s.Leader || s.Term != 1 || s.Tick != 3, "%+v", s)
		mustClose(t, v, w)
	})
}

func TestTakeover_IgnoresReplayedTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		open := func() *world.World {
			return mustOpen(t, newGame(t, alone), l, func(o *world.Options) { o.SnapshotTicks = 1000 })
		}
		for range 4 {
			w := open()
			steps(t, w, 2)
			time.Sleep(time.Minute)
			crash(t, w)
		}
		w := open()
		begin := time.Now()
		steps(t, w, 1)
		took := time.Since(begin)
		failIf(t, took > l.ElectionTimeout(), "the takeover took %v, want %v", took, l.ElectionTimeout())
		crash(t, w)
	})
}
