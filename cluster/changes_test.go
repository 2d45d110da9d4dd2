package cluster_test

import (
	"context"
	"testing"

	"handloom/cluster"
	"handloom/proof/game"
	"handloom/world"
)

// A herd is a world whose ticks read lists of changes, columns and optional data.
type herd struct {
	*world.World
	*game.Game
	states map[uint64]uint64 // digests by tick
}

func openHerd(t *testing.T, l world.Log) *herd {
	t.Helper()
	g, err := game.New(2, 0)
	if err != nil {
		t.Fatal(err)
	}
	h := &herd{Game: g, states: make(map[uint64]uint64)}
	h.World, err = world.Open(t.Context(), g.Store, l, world.Options{
		Program: "herd", Init: g.Init, Tick: g.Tick, SnapshotTicks: 8, DigestTicks: 3,
		Applied: func(ctx context.Context, o world.Outcome) {
			d, err := g.Digest(ctx)
			if err != nil {
				t.Error(err)
			}
			h.states[o.Number] = d
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.crash(t) })
	return h
}

// crash closes the world without a snapshot.
func (h *herd) crash(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.World.Close(ended); err != nil {
		t.Error(err)
	}
}

// steps steps until the world has applied tick n.
func (h *herd) steps(t *testing.T, n uint64) {
	t.Helper()
	for h.Status().Tick < n {
		if _, err := h.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Ticks that read lists of changes lead to one state on an owner, on its follower, which
// takes over, and on a node that begins with a snapshot of either.
func TestCluster_TicksMayReadChanges(t *testing.T) {
	s, o := cluster.Embedded(t.TempDir()), alone(t)
	owner := openHerd(t, openLog(t, s, 1, o))
	follower := openHerd(t, openLog(t, s, 1, o))
	owner.steps(t, 30)
	follower.steps(t, 30)
	owner.crash(t)
	follower.steps(t, 60)
	if st := follower.Status(); !st.Owner || st.Term != 2 {
		t.Fatalf("after the owner has died: %v", st)
	}
	third := openHerd(t, openLog(t, s, 1, o))
	follower.steps(t, 70)
	third.steps(t, 70)
	for _, h := range []*herd{follower, third} {
		if len(h.states) == 0 || h.Entries() < 100 {
			t.Errorf("%d ticks have read %d changes", len(h.states), h.Entries())
		}
	}
	for tick, d := range follower.states {
		for _, h := range []*herd{owner, third} {
			if other, ok := h.states[tick]; ok && other != d {
				t.Fatalf("tick %d has two states", tick)
			}
		}
	}
}
