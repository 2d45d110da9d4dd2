package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"handloom/store"
	"handloom/world"
)

// A game is a small program: units that breed and die as the seed has it, and marks that
// clients leave.
type game struct {
	*store.Store
	units *store.Table[unit]
	marks *store.Table[mark]
}

type unit struct {
	Pos  uint64
	Name string
}

type mark struct{ Key int }

func newGame(t testing.TB, workers int) *game {
	t.Helper()
	s, err := store.New(store.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	g := &game{Store: s}
	var errs [2]error
	g.units, errs[0] = store.Register(s, store.TableOptions[unit]{Name: "unit", Shards: 3, ChunkItems: 4})
	g.marks, errs[1] = store.Register(s, store.TableOptions[mark]{Name: "mark", Shards: 2})
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return g
}

// options are those of a world that plays the game, whose ticks a witness sees.
func (g *game) options(program string, seen *witness) world.Options {
	return world.Options{
		Program: program, Init: g.init, Tick: g.tick, SnapshotTicks: 100, DigestTicks: 5,
		Applied: func(ctx context.Context, o world.Outcome) { seen.see(ctx, g, o) },
	}
}

func (g *game) init(_ context.Context, w *store.Writer) (err error) {
	for i := 0; err == nil && i < 20; i++ {
		_, err = g.units.Insert(w, unit{Pos: uint64(i * 7), Name: fmt.Sprint("u", i)})
	}
	return err
}

func (g *game) tick(ctx context.Context, _ *store.Writer, t world.Tick) error {
	if _, err := g.Flush(ctx); err != nil {
		return err
	}
	err := g.units.ForEach(ctx, func(_ context.Context, c store.Chunk[unit]) error {
		for i := range c.Items {
			u := &c.Items[i]
			u.Pos = (u.Pos+t.Seed)*0x9e3779b97f4a7c15 ^ u.Pos>>29
			switch {
			case u.Pos%17 == 0 && g.units.Len() > 10:
				c.Erase(i)
			case u.Pos%13 == 0 && g.units.Len() < 60:
				g.units.Emplace(c.Queue, unit{Pos: u.Pos >> 3, Name: u.Name})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = g.Flush(ctx)
	return err
}

// mark returns a call that leaves a mark.
func (g *game) mark(key int) func(q store.Queue) error {
	return func(q store.Queue) error {
		g.marks.Emplace(q, mark{key})
		return nil
	}
}

// A witness sees every tick of every world of a cell, and whether it led to one state.
type witness struct {
	mutex   sync.Mutex
	digests map[uint64]uint64 // by tick
	last    uint64            // tick
	owned   uint64            // ticks of owners
	differ  error
}

func (s *witness) see(ctx context.Context, g *game, o world.Outcome) {
	d, err := g.Digest(ctx)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.digests == nil {
		s.digests = make(map[uint64]uint64)
	}
	if was, ok := s.digests[o.Number]; err == nil && ok && was != d {
		err = fmt.Errorf("tick %d led to two states", o.Number)
	}
	s.differ = errors.Join(s.differ, err)
	s.digests[o.Number] = d
	s.last = max(s.last, o.Number)
	if o.Owner {
		s.owned++
	}
}

// at returns the last tick that any world has applied.
func (s *witness) at() uint64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.last
}

func (s *witness) wantNoDifference(t testing.TB) {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.differ != nil {
		t.Error(s.differ)
	}
}
