package world_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"handloom/store"
	"handloom/world"
)

var errGame = errors.New("the game is up")

func TestErrTick_HaltsEveryWorld(t *testing.T) {
	for name, fault := range map[string]func() error{
		"error": func() error { return errGame },
		"panic": func() error { panic(errGame) },
	} {
		inBubble(t, name, func(t *testing.T) { haltAndSkip(t, fault) })
	}
}

func haltAndSkip(t *testing.T, fault func() error) {
	l := keeping{world.Memory()}
	bad := func() *game {
		g := newGame(t, store.Options{})
		g.fault = func(world.Tick) error {
			for _, o := range g.orders.All() {
				if o.Name == "by 4" {
					return fault()
				}
			}
			return nil
		}
		return g
	}
	g, h := bad(), bad()
	w, v := mustOpen(t, g, l), mustOpen(t, h, l)
	var last *submission
	for n := 1; n <= 4; n++ {
		last = submit(t.Context(), w, g.order(n))
		if n < 4 {
			stepEach(t, w, v)
		}
	}
	waits := submit(t.Context(), w, func(store.Queue) error { return nil })
	for _, world := range []*world.World{w, v} {
		_, err := world.Step(t.Context())
		wantTickError(t, err)
		_, err = world.Step(t.Context())
		wantTickError(t, err)
	}
	synctest.Wait()
	wantTickError(t, last.err)
	failIf(t, !waits.done || waits.err != nil, "Submit: done %t, %v", waits.done, waits.err)
	wantError(t, errorOf(w.Submit(t.Context(), g.order(5))), world.ErrNotLeader)
	wantError(t, w.Export(t.Context(), new(strings.Builder)), world.ErrTick)
	mustClose(t, w, v)
	again := bad()
	_, err := world.Open(t.Context(), again.Store, l, again.options())
	wantTickError(t, err)

	for _, tick := range []uint64{3, 4, 4, 0, 3, 5} { // the second time changes nothing
		equal(t, fmt.Sprint("SkipInput of tick ", tick, " after 4 succeeds"), world.SkipInput(t.Context(), l, tick) == nil, tick == 4)
	}
	again = bad()
	w = mustOpen(t, again, l)
	equal(t, "tick", w.Status().Tick, 4)
	wantSame(t, g, again)
	steps(t, w, 5)
	crash(t, w)
	another := bad()
	v = mustOpen(t, another, l)
	wantSame(t, again, another)
	mustClose(t, v)
	mustAudit(t, l)
}

func TestExport_FailsAfterFailedTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w := newWorld(t, store.Options{}, world.Memory())
		exported := make(chan error, 1)
		g.fault = func(world.Tick) error {
			go func() { exported <- w.Export(context.Background(), io.Discard) }()
			synctest.Wait()
			return errGame
		}
		_, stepped := w.Step(t.Context())
		err := <-exported
		failIf(t, !errors.Is(stepped, world.ErrTick) || !errors.Is(err, world.ErrTick), "Step: %v; Export: %v", stepped, err)
		mustClose(t, w)
	})
}

func wantTickError(t *testing.T, err error) {
	t.Helper()
	var e *world.TickError
	failIf(t, !errors.Is(err, world.ErrTick) || !errors.Is(err, errGame) || !errors.As(err, &e) || e.Tick != 4, "not the error of tick 4: %v", err)
}

func TestSkipInput_KeepsInputOfGoodTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := keeping{world.Memory()}
		g, w := newWorld(t, store.Options{}, l, func(o *world.Options) { o.SnapshotTicks = 1000 })
		for n := range 5 {
			submit(t.Context(), w, g.order(n))
			steps(t, w, 1)
		}
		noError(t, world.SkipInput(t.Context(), l, 5))
		steps(t, w, 3) // loses to the skip record, then takes over
		crash(t, w)
		h, v := newWorld(t, store.Options{}, l)
		wantSame(t, g, h)
		wantTicks(t, h, 8)
		mustClose(t, v)
		mustAudit(t, l)
	})
}

func TestTick_FlushesAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGame(t, store.Options{})
		emplace := func(ctx context.Context, _ *store.Writer) error {
			return g.Do(ctx, func(q store.Queue) { g.hits.Emplace(q, hit{}) })
		}
		w := mustOpen(t, g, world.Memory(), func(o *world.Options) {
			o.Init = emplace
			o.Tick = func(ctx context.Context, w *store.Writer, _ world.Tick) error { return emplace(ctx, w) }
		})
		s := submit(t.Context(), w, g.order(1))
		steps(t, w, 2)
		synctest.Wait()
		wantApplied(t, s, 1)
		failIf(t, g.hits.Len() != 3 || g.orders.Len() != 1, "got %d hits and %d orders, want 3 and 1", g.hits.Len(), g.orders.Len())
		mustClose(t, w)
	})
}

func TestTick_UnfinishedHalts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w := newWorld(t, alone, world.Memory())
		g.fault = func(world.Tick) error { runtime.Goexit(); return nil }
		s := submit(t.Context(), w, g.order(1))
		stepOnce(w)
		synctest.Wait()
		wantError(t, s.err, world.ErrTick)
		wantError(t, errorOf(w.Step(t.Context())), world.ErrTick, store.ErrGoexit)
		mustClose(t, w)
	})
}
