package world_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// While a world plays, others replay its history and observe it in its folder.
func TestReplay_ReachesBackThroughKeptHistory(t *testing.T) {
	const ticks = 300
	dir := t.TempDir()
	l, err := journal.Open(dir, journal.Options{Sync: journal.Never, SegmentBytes: 1 << 10, Keep: 1 << 20})
	noError(t, err)
	g, w := newWorld(t, alone, l)
	steps(t, w, 1)
	r, err := journal.OpenRead(dir)
	noError(t, err)
	seen, u := observe(t, r)
	for tick := uint64(1); tick < ticks; {
		tick = mustStep(t, w).Number
		if tick%20 != 0 {
			continue
		}
		for u.Status().Tick < tick {
			mustStep(t, u)
		}
		wantSame(t, g, seen)
		for _, upTo := range []uint64{0, tick / 3, tick / 2, tick} {
			again := newGame(t, alone)
			noError(t, world.Replay(t.Context(), again.Store, r, again.options(), upTo))
			if upTo > 0 {
				equal(t, fmt.Sprint("digest of Replay to tick ", upTo), digest(t, again), g.digests[upTo])
			}
		}
	}
	// Without Observe a world would have to write.
	again := newGame(t, alone)
	_, err = world.Open(t.Context(), again.Store, r, again.options())
	wantError(t, err, fs.ErrClosed)
	mustClose(t, u, w)
	noError(t, r.Close())
	noError(t, l.Close())
}

// Replay reads only the headers of snapshots that are too new.
func TestReplay_ReadsHeadersOfNewerSnapshots(t *testing.T) {
	l := &faulty{Log: world.Memory()}
	big := func() (*game, func(o *world.Options)) {
		g := newGame(t, alone)
		names := store.Register(g.Store, store.TableOptions[string]{Name: "names"})
		return g, func(o *world.Options) {
			o.SnapshotTicks = 1000
			o.Init = func(ctx context.Context, w *store.Writer) error {
				names.Insert(w, strings.Repeat("x", 4<<20))
				return g.init(ctx, w)
			}
		}
	}
	g, change := big()
	w := mustOpen(t, g, l, change)
	steps(t, w, 1)
	mustClose(t, w)
	saved := snapshotsOf(t, l)
	equal(t, "snapshots", len(saved), 2)
	bytes := map[uint64]int{}
	l.load = func(ctx context.Context, at uint64) (io.ReadCloser, error) {
		r, err := l.Log.Load(ctx, at)
		return closing{io.TeeReader(r, writerFunc(func(b []byte) (int, error) {
			bytes[at] += len(b)
			return len(b), nil
		})), r.Close}, err
	}
	again, _ := big()
	noError(t, world.Replay(t.Context(), again.Store, l, again.options(), 0))
	if bytes[saved[0]] > 1<<20 || bytes[saved[1]] < 4<<20 {
		t.Errorf("bytes read: %v", bytes)
	}
}

// Without records a Replay may reach only a later state, which is an error.
func TestReplay_RefusesALaterState(t *testing.T) {
	l := world.Memory()
	_, w := newWorld(t, alone, l)
	steps(t, w, 5)
	mustClose(t, w) // saves
	again := newGame(t, alone)
	trimmed := &faulty{Log: l, read: func(context.Context, uint64, func(uint64, []byte) error) error { return errLost }}
	err := world.Replay(t.Context(), again.Store, trimmed, again.options(), 4)
	wantError(t, err, world.ErrCorrupt)
	failIf(t, !strings.Contains(err.Error(), "no records of tick 4; the snapshot has tick 5"), "got %v", err)
}
