package history

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// A folder that a world writes is read up to its last record at Open. Nothing in it changes.
func TestOpen_ReadsAFolderThatIsWritten(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	l, err := journal.Open(dir, journal.Options{Sync: journal.Never, SegmentBytes: 1 << 12, Keep: 1 << 30})
	noError(t, err)
	g, o := program(same, 1)
	o.Idle, o.SnapshotTicks = 1, 20
	w, err := world.Open(ctx, g.Store, l, o)
	noError(t, err)
	digests := map[uint64]uint64{}
	last := uint64(0)
	play := func() {
		for range 50 {
			tick, err := w.Step(ctx)
			noError(t, err)
			last = tick.Number
			digests[last], err = g.Digest(ctx)
			noError(t, err)
		}
	}
	play()
	h := mustOpen(t, dir, replay(same, nil), Options{Memory: 1})
	seen := h.Ranges()[0].Last
	if seen == 0 || seen > last || seen+60 < last {
		t.Fatalf("the last tick is %d, want about %d", seen, last)
	}
	rounds := 5
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		play()
		for _, tick := range []uint64{seen, seen / 2, 1} {
			s, _, err := h.Seek(ctx, tick)
			noError(t, err)
			if d, err := s.Digest(ctx); err != nil || d != digests[tick] {
				t.Errorf("digest after tick %d: %x, %v, want %x", tick, d, err, digests[tick])
			}
		}
	}
	noError(t, w.Close(ctx))
	noError(t, l.Close())
}

// Steps back play few ticks.
func TestSeek_PlaysFewTicks(t *testing.T) {
	if testing.Short() {
		t.Skip("plays thousands of ticks on one goroutine")
	}
	const ticks = 600
	r := record(t, ticks, true, same)
	r.keepFirstSnapshot(t)
	for _, c := range []struct {
		name   string
		memory int64
		most   float64 // ticks that a step back plays on average
	}{
		{"the grid fits", 1 << 30, 4},
		{"room for 10 moments", 1 << 20, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			var played atomic.Int64
			counts := func(g *herd, o *world.Options) {
				tick := o.Tick
				o.Tick = func(ctx context.Context, w *store.Writer, at world.Tick) error {
					played.Add(1)
					return tick(ctx, w, at)
				}
			}
			h := mustOpen(t, r.dir, replay(counts, nil), Options{Memory: c.memory})
			first := h.Ranges()[0].First
			n := int64(r.last - first)
			r.wantState(t, h, r.last)
			played.Store(0)
			for tick := r.last; tick > first; tick-- {
				r.wantState(t, h, tick)
			}
			each := float64(played.Load()) / float64(n)
			t.Logf("%.1f ticks for each step back; moments of %d bytes, %d and %d of them at %d ticks", each, h.shelf.each, len(h.shelf.grid), len(h.shelf.rungs), h.shelf.distance)
			if each > c.most {
				t.Errorf("%.1f ticks are played for each step back, want at most %.0f", each, c.most)
			}
		})
	}
}

func (r *recording) keepFirstSnapshot(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, "*.snap"))
	noError(t, err)
	for _, file := range files[1:] {
		noError(t, os.Remove(file))
	}
}
