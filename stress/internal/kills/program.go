package kills

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// A unit moves, holds a handle, and comes and goes; a plan has memory of its own; a
// note is what a Submit leaves, for ever.
type (
	unit struct {
		X, Y int32
		Plan store.Handle[plan]
	}
	plan struct {
		Name  string
		Steps []int32
	}
	note struct{ Key, Tick uint64 }
)

// game is a store with the program that is killed.
type game struct {
	*store.Store
	units *store.Table[unit]
	plans *store.StableTable[plan]
	notes *store.Table[note]
}

func newGame(workers int) (*game, error) {
	s, err := store.New(store.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	g := &game{Store: s}
	if g.units, err = store.Register(s, store.TableOptions[unit]{Name: "units", Shards: 3, ChunkItems: 16, MinFree: 4}); err != nil {
		return nil, err
	}
	g.plans, err = store.RegisterStable(s, store.TableOptions[plan]{Name: "plans", Shards: 2, Clone: func(dst, src *plan) {
		*dst = plan{src.Name, slices.Clone(src.Steps)}
	}})
	if err != nil {
		return nil, err
	}
	g.notes, err = store.Register(s, store.TableOptions[note]{Name: "notes"})
	return g, err
}

// options are those of every world of the program. Snapshots and digests come often.
func (g *game) options(applied func(ctx context.Context, o world.Outcome)) world.Options {
	return world.Options{Program: "kills 1", Tick: g.tick, Applied: applied, SnapshotTicks: 5, DigestTicks: 6, Portable: true}
}

// journalOptions make a journal that begins another file every few dozen ticks.
var journalOptions = journal.Options{SegmentBytes: 32 << 10}

// passTasks record in a tick, whatever the workers.
const passTasks = 4

// tick is the program.
func (g *game) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	err := g.Each(ctx, passTasks, func(_ context.Context, task int, q store.Queue) error {
		r := rand.New(rand.NewPCG(t.Seed, uint64(task)))
		for range r.IntN(20) {
			p := plan{Name: fmt.Sprint("plan ", r.IntN(100)), Steps: make([]int32, r.IntN(6))}
			g.units.Emplace(q, unit{X: r.Int32N(50), Plan: g.plans.Emplace(q, p)})
		}
		return nil
	})
	if err == nil {
		_, err = g.Flush(ctx)
	}
	if err != nil {
		return err
	}
	err = g.units.ForEach(ctx, func(_ context.Context, c store.Chunk[unit]) error {
		r := rand.New(rand.NewPCG(t.Seed, uint64(100+c.Index)))
		for i := range c.Items {
			u := &c.Items[i]
			if u.Y++; r.IntN(12) == 0 {
				c.Erase(i)
				g.plans.Erase(c.Queue, u.Plan)
			} else if p, ok := g.plans.Get(u.Plan); ok && r.IntN(8) == 0 {
				g.plans.Put(c.Queue, u.Plan, plan{Name: p.Name, Steps: append(slices.Clone(p.Steps), u.Y)})
			}
		}
		return nil
	})
	if err == nil {
		_, err = g.Flush(ctx)
	}
	if err != nil {
		return err
	}
	if t.Seed%64 == 0 {
		g.units.Clear(w)
		g.plans.Clear(w)
	}
	byX := func(a, b *unit) int { return int(a.X) - int(b.X) }
	_, _, err = store.Defragment(ctx, g.units, w, byX, 40)
	return err
}
