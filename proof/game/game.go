// Package game is a small program for worlds that are killed, cut off and compared: with
// items that come and go, hold handles and have memory of their own, and with notes that
// calls leave.
package game

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"handloom/store"
	"handloom/world"
)

// A unit moves, holds a handle, and comes and goes; a plan has memory of its own; the past
// is a sum of all ticks, so that two histories that differ once differ for ever.
type (
	unit struct {
		X, Y int32
		Plan store.Handle[plan]
	}
	plan struct {
		Name  string
		Steps []int32
	}
	past struct{ Sum uint64 }
)

// A Note is what a call leaves.
type Note struct{ Key, Tick uint64 }

// A Game is a store with the program.
type Game struct {
	*store.Store
	Notes *store.Table[Note]
	units *store.Table[unit]
	plans *store.StableTable[plan]
	past  *store.Table[past]
	keep  uint64
}

// New returns a game that keeps a note for so many ticks, 0 for ever.
func New(workers int, keep uint64) (*Game, error) {
	s, err := store.New(store.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	g := &Game{Store: s, keep: keep}
	var errs [4]error
	g.units, errs[0] = store.Register(s, store.TableOptions[unit]{Name: "units", Shards: 3, ChunkItems: 16, MinFree: 4})
	g.plans, errs[1] = store.RegisterStable(s, store.TableOptions[plan]{Name: "plans", Shards: 2, Clone: func(dst, src *plan) {
		*dst = plan{src.Name, slices.Clone(src.Steps)}
	}})
	g.Notes, errs[2] = store.Register(s, store.TableOptions[Note]{Name: "notes", Shards: 2})
	g.past, errs[3] = store.Register(s, store.TableOptions[past]{Name: "past"})
	return g, errors.Join(errs[:]...)
}

// Leave returns a call that leaves a note.
func (g *Game) Leave(key uint64) func(q store.Queue) error {
	return func(q store.Queue) error {
		g.Notes.Emplace(q, Note{Key: key})
		return nil
	}
}

// Left returns the keys of the notes that came with a tick.
func (g *Game) Left(tick uint64) (keys []uint64) {
	for _, n := range g.Notes.All() {
		if n.Tick == tick {
			keys = append(keys, n.Key)
		}
	}
	return keys
}

// Init is that of [world.Options].
func (g *Game) Init(_ context.Context, w *store.Writer) error {
	_, err := g.past.Insert(w, past{})
	return err
}

// Tick is the program.
func (g *Game) Tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	for _, step := range []func(ctx context.Context, t world.Tick) error{g.emplace, g.live, g.remember} {
		if err := step(ctx, t); err != nil {
			return err
		}
	}
	if _, err := g.Flush(ctx); err != nil {
		return err
	}
	if t.Seed%64 == 0 {
		g.units.Clear(w)
		g.plans.Clear(w)
	}
	byX := func(a, b *unit) int { return int(a.X) - int(b.X) }
	_, _, err := store.Defragment(ctx, g.units, w, byX, 40)
	return err
}

// passTasks record in a tick, whatever the workers.
const passTasks = 4

// emplace makes new units with their plans, and takes the calls.
func (g *Game) emplace(ctx context.Context, t world.Tick) error {
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
	return err
}

// live moves units, and erases some, or puts other plans.
func (g *Game) live(ctx context.Context, t world.Tick) error {
	return g.units.ForEach(ctx, func(_ context.Context, c store.Chunk[unit]) error {
		r := rand.New(rand.NewPCG(t.Seed, uint64(100+c.Index)))
		for i := range c.Items {
			u := &c.Items[i]
			if u.Y++; r.IntN(12) == 0 {
				c.Erase(i)
				g.plans.Erase(c.Queue, u.Plan)
			} else if p, ok := g.plans.Get(u.Plan); ok && r.IntN(8) == 0 {
				g.plans.Put(c.Queue, u.Plan, plan{p.Name, append(slices.Clone(p.Steps), u.Y)})
			}
		}
		return nil
	})
}

// remember dates the notes of this tick, erases old ones, and adds the tick to the past.
func (g *Game) remember(ctx context.Context, t world.Tick) error {
	err := g.Notes.ForEach(ctx, func(_ context.Context, c store.Chunk[Note]) error {
		for i := range c.Items {
			if n := &c.Items[i]; n.Tick == 0 {
				n.Tick = t.Number
			} else if g.keep > 0 && n.Tick+g.keep < t.Number {
				c.Erase(i)
			}
		}
		return nil
	})
	for _, p := range g.past.All() {
		p.Sum = (p.Sum ^ t.Seed) * 0x9e3779b97f4a7c15
	}
	return err
}
