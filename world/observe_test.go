package world_test

import (
	"context"
	"io"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

type readOnly struct {
	world.Log
	t *testing.T
}

func (l readOnly) Append(context.Context, uint64, []byte) (uint64, error) { return 0, l.called() }

func (l readOnly) Save(context.Context, uint64, func(io.Writer) error) error { return l.called() }

func (l readOnly) Trim(context.Context, uint64) error { return l.called() }

func (l readOnly) Reject(context.Context, uint64) error { return l.called() }

func (l readOnly) ElectionTimeout() time.Duration {
	l.t.Error("ElectionTimeout is called")
	return 0
}

func (l readOnly) called() error {
	l.t.Error("a call changes the log")
	return fs.ErrInvalid
}

func observe(t *testing.T, l world.Log) (*game, *world.World) {
	t.Helper()
	return newWorld(t, alone, readOnly{l, t}, func(o *world.Options) { o.Observe, o.SnapshotTicks = true, 12 })
}

func TestObserve_FollowsAndChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &faulty{Log: world.Memory()}
		g, h := newGame(t, alone), newGame(t, alone)
		rarely := func(o *world.Options) { o.SnapshotTicks = 1000 }
		w, v := mustOpen(t, g, l, rarely), mustOpen(t, h, l, rarely)
		seen, u := observe(t, l)
		late := 0
		l.load = func(ctx context.Context, at uint64) (io.ReadCloser, error) {
			late++
			return l.Log.Load(ctx, at)
		}
		want := func(tick uint64) {
			t.Helper()
			for u.Status().Tick < tick {
				noError(t, errorOf(u.Step(within(t, time.Hour))))
			}
			if s := u.Status(); s.Leader || s.Tick != tick || s.AppendErr != "" || s.SaveErr != "" {
				t.Fatalf("want tick %d, got %v", tick, s)
			}
			wantSame(t, g, seen)
			wantSame(t, h, seen)
		}
		idle := func() {
			t.Helper()
			tail, _ := l.Tail(t.Context())
			wantError(t, errorOf(u.Step(within(t, time.Hour))), context.DeadlineExceeded)
			if now, _ := l.Tail(t.Context()); now != tail || u.Status().AppendErr != "" {
				t.Fatalf("the tail is %d, and was %d; %v", now, tail, u.Status())
			}
		}
		for n := range 20 {
			sent := submit(t.Context(), w, g.order(n))
			stepsSaving(t, w, 1)
			wantApplied(t, sent, uint64(n+1))
			stepsSaving(t, v, 1)
			want(uint64(n + 1))
			wantError(t, errorOf(u.Submit(t.Context(), seen.order(n))), world.ErrNotLeader)
			wantError(t, u.Handoff(t.Context(), "game"), world.ErrNotLeader)
		}
		wantTicks(t, seen, 20)
		handed := handOff(t.Context(), w, "game")
		stepsSaving(t, v, 3)
		wantHanded(t, handed, nil)
		crash(t, w)
		want(23)
		handed = handOff(t.Context(), v, "game")
		crash(t, v)
		synctest.Wait()
		wantHanded(t, handed, store.ErrClosed)
		idle()
		again, x := newWorld(t, alone, l)
		late = 0
		stepsSaving(t, x, 60) // more than the log keeps
		mustStep(t, u)
		want(83)
		failIf(t, late == 0, "it loads no snapshot")
		wantSame(t, again, seen)
		crash(t, x)
		idle()
		mustClose(t, u)
	})
}
