package world_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

// lose makes a world lead with ticks that the log lacks, and then another world lead.
func lose(t *testing.T, l *faulty) (w, v *world.World) {
	t.Helper()
	wait := func(o *world.Options) { o.Idle, o.Wait, o.SnapshotTicks = 0, true, 1000 }
	g, h := newGame(t, alone), newGame(t, alone)
	g.seeded, h.seeded = true, true
	w, v = mustOpen(t, g, l, wait), mustOpen(t, h, l.Log, wait)
	callAndPass(t, g, w, 1)
	mustStep(t, v)
	pass(t, w, 3)
	time.Sleep(time.Second)
	pass(t, v, 20)
	failIf(t, !v.Status().Leader || w.Status().Unrecorded == 0, "%v; %v", v.Status(), w.Status())
	return w, v
}

func TestIdle_UndoWaitsForTheLog(t *testing.T) {
	damaged := errors.New("damaged")
	for name, c := range map[string]struct {
		list, load error
		want       error // nil: the world leads again after two minutes
	}{
		"no list":             {list: errLost},
		"unreadable":          {load: errLost},
		"all are damaged":     {load: damaged, want: damaged},
		"closed for the list": {list: fs.ErrClosed, want: fs.ErrClosed},
	} {
		inBubble(t, name, func(t *testing.T) {
			l := &faulty{Log: world.Memory()}
			w, v := lose(t, l)
			crash(t, v)
			over := time.Now().Add(2 * time.Minute)
			l.saved = func(ctx context.Context) ([]uint64, error) {
				if c.list != nil && time.Now().Before(over) {
					return nil, c.list
				}
				return l.Log.Snapshots(ctx)
			}
			l.load = func(ctx context.Context, at uint64) (io.ReadCloser, error) {
				switch {
				case c.load == damaged:
					return io.NopCloser(bytes.NewReader(make([]byte, 100))), nil
				case c.load != nil && time.Now().Before(over):
					return nil, c.load
				}
				return l.Log.Load(ctx, at)
			}
			err := w.Run(within(t, 2*time.Minute+3*time.Second))
			s := w.Status()
			if c.want == nil {
				failIf(t, !errors.Is(err, context.DeadlineExceeded) || !s.Leader || s.Term != 3, "Run: %v; %v", err, s)
			} else {
				failIf(t, errors.Is(err, context.DeadlineExceeded) || s.Halted == "", "Run: %v; %v", err, s)
			}
			crash(t, w)
		})
	}
}

// The newest snapshots are of another version, so a World with Options.Wait waits.
func TestIdle_UndoOfOtherVersionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &faulty{Log: world.Memory()}
		w, v := lose(t, l)
		g := newGame(t, alone)
		g.seeded = true
		u := runWorld(g, mustOpen(t, g, l, version("second", true)))
		noError(t, v.Handoff(t.Context(), "second"))
		time.Sleep(time.Second) // it saves two snapshots
		old := runWorld(nil, w)
		time.Sleep(time.Second)
		failIf(t, !w.Status().Waits, "%v", w.Status())
		noError(t, u.Handoff(t.Context(), "game"))
		time.Sleep(time.Second)
		failIf(t, !w.Status().Leader, "%v", w.Status())
		crash(t, v)
		old.end(t)
		u.stop()
		wantError(t, <-u.done, context.Canceled)
		crash(t, u.World)
	})
}

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
