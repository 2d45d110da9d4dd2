package world_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"

	"handloom/proof/maptest"
	"handloom/store"
	"handloom/world"
)

func wantText(t testing.TB, err error, want string) {
	t.Helper()
	failIf(t, err == nil || !strings.Contains(err.Error(), want), "got error %v, want %s", err, want)
}

func TestOpen_NamesTheFix(t *testing.T) {
	type held struct {
		Name string
		Next *int
	}
	g, unsavable, j, l := newGame(t, alone), newGame(t, alone), openJournal(t, t.TempDir()), world.Memory()
	store.Register(unsavable.Store, store.TableOptions[held]{Name: "held"})
	claimed, w := newWorld(t, alone, j)
	open := func(g *game, l world.Log, change func(o *world.Options)) error {
		o := g.options()
		change(&o)
		return errorOf(world.Open(t.Context(), g.Store, l, o))
	}
	unchanged := func(*world.Options) {}
	for want, err := range map[string]error{
		"Options.Tick is nil; give the function": open(g, l, func(o *world.Options) { o.Tick = nil }),
		"Options.Hz is -1, want 0 to":            open(g, l, func(o *world.Options) { o.Hz = -1 }),
		"Options.InputBytes is 134217728, want":  open(g, l, func(o *world.Options) { o.InputBytes = 1 << 27 }),
		"Options.SnapshotTicks is -1, want 1 to": open(g, l, func(o *world.Options) { o.SnapshotTicks = -1 }),
		"Options.DigestTicks is -1, want 1 to":   open(g, l, func(o *world.Options) { o.DigestTicks = -1 }),
		"Options.Shadow is 1.5, want 0 to 1":     open(g, l, func(o *world.Options) { o.Shadow = 1.5 }),
		"Options.Version has 1025 bytes, want":   open(g, l, func(o *world.Options) { o.Version = strings.Repeat("a", 1<<10+1) }),
		"cannot begin an empty log":              open(g, readOnly{l, t}, func(o *world.Options) { o.Observe = true }),
		errGame.Error():                          open(g, l, func(o *world.Options) { o.Init = func(context.Context, *store.Writer) error { return errGame } }),
		"Next":                                   open(unsavable, l, unchanged),
		"a driver has claimed the store":         open(claimed, l, unchanged),
		"another World writes this journal; close that World, give this one a folder of its own, or set Options.Observe": open(g, j, unchanged),
	} {
		wantText(t, err, want)
	}
	equal(t, "snapshots", len(snapshotsOf(t, l)), 0)
	wantError(t, open(g, readOnly{l, t}, func(o *world.Options) { o.Observe = true }), fs.ErrNotExist)
	wantError(t, open(unsavable, l, unchanged), store.ErrSnapshot)
	for _, err := range []error{open(claimed, l, unchanged), claimed.Inbox(claimed.order(1)), errorOf(claimed.Flush(t.Context()))} {
		wantError(t, err, store.ErrPhase)
	}
	mustClose(t, mustOpen(t, newGame(t, alone), j, func(o *world.Options) { o.Observe = true }), w)
	noError(t, claimed.Inbox(claimed.order(1)))
	mustClose(t, mustOpen(t, newGame(t, alone), j))
}

func TestCalls_NameTheFix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, l := newGame(t, store.Options{InboxLimit: 4}), world.Memory()
		var w *world.World
		during := map[string]func(ctx context.Context) error{
			"Submit inside a tick or Applied: not allowed in this phase; record in a pass": func(ctx context.Context) error { return errorOf(w.Submit(ctx, g.order(1))) },
			"Export inside a tick or Applied: not allowed in this phase; call it":          func(ctx context.Context) error { return w.Export(ctx, io.Discard) },
			"Close inside a tick or Applied: not allowed in this phase; end the":           func(ctx context.Context) error { return w.Close(ctx) },
			"Handoff inside a tick or Applied: not allowed in this phase; call it":         func(ctx context.Context) error { return w.Handoff(ctx, "") },
			"Step during another Run or Step, or inside a tick":                            func(ctx context.Context) error { return errorOf(w.Step(ctx)) },
			"Write":                              func(ctx context.Context) error { return g.Write(ctx, func(*store.Writer) {}) },
			"Run during another Run or Step, or": func(context.Context) error { return w.Run(t.Context()) },
		}
		refused := func(ctx context.Context) {
			for want, call := range during {
				err := call(ctx)
				wantError(t, err, store.ErrPhase)
				wantText(t, err, want)
			}
		}
		w = mustOpen(t, g, l, func(o *world.Options) {
			tick := o.Tick
			o.Tick = func(ctx context.Context, writer *store.Writer, at world.Tick) error {
				refused(ctx)
				return tick(ctx, writer, at)
			}
			o.Applied = func(ctx context.Context, _ world.Outcome) { refused(ctx) }
		})
		s := submit(t.Context(), w, g.order(1))
		drives := func(ctx context.Context) error {
			return errors.Join(errorOf(w.Step(ctx)), w.Run(ctx), w.Handoff(ctx, ""))
		}
		err := w.Read(t.Context(), func(ctx context.Context, _ world.Tick) error { return drives(ctx) })
		failIf(t, !errors.Is(err, store.ErrPhase) || strings.Count(err.Error(), "inside a phase of the store") != 3, "inside a Read: %v", err)
		gone, end := context.WithCancelCause(t.Context())
		end(errLost)
		err = drives(gone)
		failIf(t, strings.Contains(err.Error(), "inside") || strings.Count(err.Error(), errLost.Error()) != 3, "after the end of ctx: %v", err)
		steps(t, w, 1)
		synctest.Wait()
		wantApplied(t, s, 1)

		h, v := newWorld(t, alone, l)
		wantError(t, errorOf(v.Submit(t.Context(), h.order(1))), world.ErrNotLeader)
		wantError(t, errorOf(w.Submit(t.Context(), func(store.Queue) error { return errGame })), errGame)
		wantError(t, errorOf(w.Submit(t.Context(), func(q store.Queue) error {
			g.camps.EmplaceItems(q, make([]camp, 5), nil)
			return nil
		})), store.ErrQueueFull)
		mustClose(t, w, w, v)
		wantError(t, errorOf(w.Submit(t.Context(), g.order(1))), store.ErrClosed)
		wantError(t, errorOf(w.Step(t.Context())), store.ErrClosed)
	})
}

func TestNil_IsNamed(t *testing.T) {
	ctx, none := context.Background(), context.Context(nil)
	log := world.Memory()
	g, w := newWorld(t, alone, log)
	for want, f := range map[string]func(){
		"world: Open with a nil context":      func() { _, _ = world.Open(none, g.Store, log, world.Options{}) },
		"world: Open with a nil Store":        func() { _, _ = world.Open(ctx, nil, log, world.Options{}) },
		"world: Open with a nil Log":          func() { _, _ = world.Open(ctx, g.Store, nil, world.Options{}) },
		"world: Replay with a nil Log":        func() { _ = world.Replay(ctx, g.Store, nil, world.Options{}, 0) },
		"world: SkipInput with a nil Log":     func() { _ = world.SkipInput(ctx, nil, 1) },
		"world: SkipInput with a nil context": func() { _ = world.SkipInput(none, log, 1) },
		"world: Run with a nil context":       func() { _ = w.Run(none) },
		"world: Step with a nil context":      func() { _, _ = w.Step(none) },
		"world: Submit with a nil context":    func() { _, _ = w.Submit(none, g.order(1)) },
		"world: Submit with a nil function":   func() { _, _ = w.Submit(ctx, nil) },
		"world: Read with a nil context":      func() { _ = w.Read(none, func(context.Context, world.Tick) error { return nil }) },
		"world: Read with a nil function":     func() { _ = w.Read(ctx, nil) },
		"world: Export with a nil context":    func() { _ = w.Export(none, nil) },
		"world: Export with a nil io.Writer":  func() { _ = w.Export(ctx, nil) },
		"world: Handoff with a nil context":   func() { _ = w.Handoff(none, "") },
		"world: Close with a nil context":     func() { _ = w.Close(none) },
	} {
		equal(t, "panic", maptest.PanicOf(f), any(want+"; give one"))
	}
	steps(t, w, 1)
	mustClose(t, w)
}
