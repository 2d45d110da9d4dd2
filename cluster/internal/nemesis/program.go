//go:build unix

package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"

	"handloom/cluster/internal/audit"
	"handloom/store"
	"handloom/world"
)

// A unit moves, holds a handle, and comes and goes; a plan has memory of its own; a
// note is what a call leaves, for a while; the past is a sum of all ticks, so that two
// histories that differ once differ for ever.
type (
	unit struct {
		X, Y int32
		Plan store.Handle[plan]
	}
	plan struct{ Name string }
	note struct{ Key, Tick uint64 }
	past struct{ Sum uint64 }
)

// game is a store with the program that every node plays.
type game struct {
	*store.Store
	units *store.Table[unit]
	plans *store.StableTable[plan]
	notes *store.Table[note]
	past  *store.Table[past]
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
	g.plans, err = store.RegisterStable(s, store.TableOptions[plan]{Name: "plans", Shards: 2, Clone: func(dst, src *plan) { *dst = *src }})
	if err != nil {
		return nil, err
	}
	if g.notes, err = store.Register(s, store.TableOptions[note]{Name: "notes", Shards: 2}); err != nil {
		return nil, err
	}
	g.past, err = store.Register(s, store.TableOptions[past]{Name: "past"})
	return g, err
}

const (
	snapshotTicks = 150 // long enough for the auditor to have read what they let the log trim
	digestTicks   = 6
	noteTicks     = 100 // for which a note is kept
	passTasks     = 4   // that record in a tick, whatever the workers
)

// options are those of every world of the game.
func (g *game) options(hz int, applied func(p audit.Played)) world.Options {
	return world.Options{
		Program: "nemesis 1", Hz: hz, Init: g.init, Tick: g.tick, SnapshotTicks: snapshotTicks, DigestTicks: digestTicks, Portable: true,
		Applied: func(ctx context.Context, o world.Outcome) { applied(g.played(ctx, o)) },
	}
}

// program is the game for an auditor.
func program(hz int) audit.Program {
	return func(workers int, applied func(p audit.Played)) (*store.Store, world.Options, error) {
		g, err := newGame(workers)
		if err != nil {
			return nil, world.Options{}, err
		}
		return g.Store, g.options(hz, applied), nil
	}
}

// played is what a tick came to.
func (g *game) played(ctx context.Context, o world.Outcome) audit.Played {
	p := audit.Played{Outcome: o}
	digest, err := g.Digest(ctx)
	if err != nil {
		panic(err) // no phase is under way
	}
	p.Digest = digest
	for _, n := range g.notes.All() {
		if n.Tick == o.Number {
			p.Keys = append(p.Keys, n.Key)
		}
	}
	return p
}

func (g *game) init(ctx context.Context, _ *store.Writer) error {
	err := g.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
		g.past.Emplace(q, past{})
		return nil
	})
	if err == nil {
		_, err = g.Flush(ctx)
	}
	return err
}

// tick is the program.
func (g *game) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	if err := g.emplace(ctx, t); err != nil {
		return err
	}
	if err := g.pass(ctx, t); err != nil {
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

// emplace records new units with their plans, and takes the calls.
func (g *game) emplace(ctx context.Context, t world.Tick) error {
	err := g.Each(ctx, passTasks, func(_ context.Context, task int, q store.Queue) error {
		r := rand.New(rand.NewPCG(t.Seed, uint64(task)))
		for range r.IntN(20) {
			g.units.Emplace(q, unit{X: r.Int32N(50), Plan: g.plans.Emplace(q, plan{fmt.Sprint("plan ", r.IntN(100))})})
		}
		return nil
	})
	if err == nil {
		_, err = g.Flush(ctx)
	}
	return err
}

// pass moves what there is, dates the notes of this tick, and erases what is old.
func (g *game) pass(ctx context.Context, t world.Tick) error {
	err := g.units.ForEach(ctx, func(_ context.Context, c store.Chunk[unit]) error {
		r := rand.New(rand.NewPCG(t.Seed, uint64(100+c.Index)))
		for i := range c.Items {
			u := &c.Items[i]
			if u.Y++; r.IntN(8) == 0 {
				c.Erase(i)
				g.plans.Erase(c.Queue, u.Plan)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = g.notes.ForEach(ctx, func(_ context.Context, c store.Chunk[note]) error {
		for i := range c.Items {
			if n := &c.Items[i]; n.Tick == 0 {
				n.Tick = t.Number
			} else if n.Tick+noteTicks < t.Number {
				c.Erase(i)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = g.past.ForEach(ctx, func(_ context.Context, c store.Chunk[past]) error {
		for i := range c.Items {
			c.Items[i].Sum = (c.Items[i].Sum ^ t.Seed) * 0x9e3779b97f4a7c15
		}
		return nil
	})
	if err == nil {
		_, err = g.Flush(ctx)
	}
	return err
}
