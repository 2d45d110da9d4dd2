package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"handloom/proof/game"
	"handloom/world"
)

func newGame(t testing.TB, workers int) *game.Game {
	t.Helper()
	g, err := game.New(workers, 0)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// options are those of a world that plays a game, whose ticks a witness sees.
func options(g *game.Game, program string, seen *witness) world.Options {
	return world.Options{
		Program: program, Init: g.Init, Tick: g.Tick, SnapshotTicks: 100, DigestTicks: 5,
		Applied: func(ctx context.Context, o world.Outcome) { seen.see(ctx, g, o) },
	}
}

// A witness sees every tick of every world of a cell, and whether it led to one state.
type witness struct {
	mutex   sync.Mutex
	digests map[uint64]uint64 // by tick
	owned   uint64            // ticks of owners
	differ  error
}

func (s *witness) see(ctx context.Context, g *game.Game, o world.Outcome) {
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
	if o.Owner {
		s.owned++
	}
}

func (s *witness) wantNoDifference(t testing.TB) {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.differ != nil {
		t.Error(s.differ)
	}
}
