package world_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

func refusing[A any](questions *int, err error, answer func(ctx context.Context) (A, error)) func(ctx context.Context) (A, error) {
	return func(ctx context.Context) (a A, _ error) {
		if *questions--; *questions >= 0 {
			return a, err
		}
		return answer(ctx)
	}
}

var errElection = errors.New("there is no leader")

func TestLog_IsRetriedDuringElection(t *testing.T) {
	inBubble(t, "Open", func(t *testing.T) {
		shared := world.Memory()
		w := mustOpen(t, newGame(t, store.Options{}), shared)
		steps(t, w, 10)
		mustClose(t, w)
		tails, saves := 12, 12
		l := &faulty{Log: shared, tail: refusing(&tails, errElection, shared.Tail), saved: refusing(&saves, errElection, shared.Snapshots)}
		v := mustOpen(t, newGame(t, store.Options{}), l)
		s := v.Status()
		failIf(t, s.Tick != 10 || tails >= 0 || saves >= 0, "%v, with %d and %d refusals left", s, tails, saves)
		mustClose(t, v)
	})
	inBubble(t, "behind", func(t *testing.T) {
		shared := world.Memory()
		l := &faulty{Log: shared}
		w, v := mustOpen(t, newGame(t, store.Options{}), shared), mustOpen(t, newGame(t, store.Options{}), l)
		stepsSaving(t, w, 100)
		saves := 12
		l.saved = refusing(&saves, errElection, shared.Snapshots)
		for v.Status().Tick < 100 {
			mustStep(t, v)
		}
		failIf(t, saves >= 0, "%d refusals left", saves)
		mustClose(t, v, w)
	})
}

func TestOpen_FailsIfLogStaysAway(t *testing.T) {
	for _, c := range []struct {
		err   error
		lock  bool
		least time.Duration
		most  time.Duration
	}{{errElection, false, 30 * time.Second, 32 * time.Second}, {fs.ErrClosed, false, 0, 0}, {errElection, true, 0, 0}} {
		synctest.Test(t, func(t *testing.T) {
			g := newGame(t, store.Options{})
			l := &faulty{Log: world.Memory(), tail: func(context.Context) (uint64, error) { return 0, c.err }}
			if c.lock {
				l.Log = openJournal(t, filepath.Join(t.TempDir(), "log"))
			}
			begin := time.Now()
			_, err := world.Open(t.Context(), g.Store, l, g.options())
			took := time.Since(begin)
			failIf(t, !errors.Is(err, c.err) || took < c.least || took > c.most, "%v: fails after %v with %v", c.err, took, err)
		})
	}
}
