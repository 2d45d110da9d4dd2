package world_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"handloom/store"
	"handloom/world"
)

type walk struct {
	tables  [2]*store.Table[uint64]
	digests map[uint64]uint64 // by tick
}

func newWalk(t testing.TB, n, workers int, l world.Log, shadow float64) (*walk, *world.World) {
	t.Helper()
	s := store.New(store.Options{Workers: workers, Seed: 42})
	g := &walk{digests: make(map[uint64]uint64)}
	for i := range g.tables {
		g.tables[i] = store.Register(s, store.TableOptions[uint64]{Name: fmt.Sprint("walkers ", i), Shards: 2})
	}
	w, err := world.Open(t.Context(), s, l, world.Options{
		Version: "walk", SnapshotBytes: 1, Shadow: shadow,
		Init: func(_ context.Context, w *store.Writer) (err error) {
			for _, table := range g.tables {
				for range n {
					table.Insert(w, 0)
				}
			}
			return nil
		},
		Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) (err error) {
			for _, table := range g.tables {
				err = errors.Join(err, table.ForEach(ctx, func(c store.Chunk[uint64]) {
					r := c.Queue.Rand()
					for _, v := range c.All() {
						*v += r.Uint64()
					}
				}))
			}
			_, flushed := s.Flush(ctx)
			return errors.Join(err, flushed)
		},
		Applied: func(ctx context.Context, o world.Outcome) {
			d, err := s.Digest(ctx)
			noError(t, err)
			g.digests[o.Number] = d
		},
	})
	noError(t, err)
	return g, w
}

// The first world uses Shadow with one worker; the third begins with a snapshot.
func TestRand_IsEqualOnEveryReplica(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		a, first := newWalk(t, n, 1, l, 1)
		b, second := newWalk(t, n, 3, l, 0)
		places, seen, steps := map[*uint64]uint64{}, map[uint64]bool{}, 0
		for range 5 {
			stepsSaving(t, first, 1)
			stepsSaving(t, second, 1)
			for _, table := range a.tables {
				for _, v := range table.All() {
					if steps++; steps%(n/1000) == 0 { // one of 1,000
						seen[*v-places[v]], places[v] = true, *v
					}
				}
			}
		}
		failIf(t, steps != 10*n || len(seen) != 10*1000, "of 10000 steps of 5 ticks and 2 tables %d are different, want all", len(seen))
		c, third := newWalk(t, n, 8, l, 0)
		for _, w := range []*world.World{first, second, third} {
			stepsSaving(t, w, 1)
		}
		for tick, want := range a.digests {
			d, replayed := c.digests[tick]
			failIf(t, b.digests[tick] != want || replayed && d != want, "after tick %d the digests are %x, %x and %x", tick, want, b.digests[tick], d)
		}
		failIf(t, len(a.digests) != 6 || len(c.digests) >= 6 || c.digests[6] == 0, "%d ticks and %d after a snapshot", len(a.digests), len(c.digests))
		mustClose(t, first, second, third)
	})
}
