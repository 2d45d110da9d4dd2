package store_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"handloom/store"
)

// gambler is a store with a table and a schedule whose tasks draw, and the drawn numbers.
type gambler struct {
	s     *store.Store
	table *store.Table[item]
	frame *store.Schedule
	drawn []string
}

func newGambler(t tb, o store.Options, further ...store.System) *gambler {
	t.Helper()
	if o.Seed == 0 {
		o.Seed = 42
	}
	s, table := newTable(t, o, store.TableOptions[item]{ChunkItems: 4, Shards: 2})
	g := &gambler{s: s, table: table}
	fill(t, s, table, 30)
	draw := func(ctx context.Context) error { return g.passes(ctx) }
	systems := append(slices.Clip(further),
		store.System{Name: "first", Writes: []store.Resource{table}, Run: draw},
		store.System{Name: "second", Writes: []store.Resource{table}, Run: draw})
	g.frame = newSchedule(t, s, systems...)
	return g
}

func (g *gambler) passes(ctx context.Context) error {
	for range 2 {
		if err := g.table.ForEach(ctx, func(c store.Chunk[item]) {
			for i := range c.Items {
				c.Items[i].Value = c.Queue.Rand().Uint64()
			}
		}); err != nil {
			return err
		}
		for _, v := range g.table.All() {
			g.drawn = append(g.drawn, fmt.Sprintf("%x", v.Value))
		}
	}
	return nil
}

func (g *gambler) turn(t tb) {
	t.Helper()
	ctx := context.Background()
	noError(t, g.passes(ctx))
	noError(t, onlyError(g.frame.Run(ctx)))
	wantError(t, "a pass that fails", g.s.Each(ctx, 3, func(_ int, q store.Queue) { q.Fail(errTask) }), errTask)
}

func TestRand_FollowsTheState(t *testing.T) {
	g := newGambler(t, store.Options{})
	g.turn(t)
	var c store.Checkpoint
	checkpoint(t, g.s, &c)
	saved := image(t, g.s)
	g.drawn = nil
	g.turn(t)
	want := g.drawn

	for range 2 {
		rollback(t, g.s, &c)
		g.drawn = nil
		if g.turn(t); !slices.Equal(g.drawn, want) {
			t.Error("after a Rollback: got other numbers than the first time")
		}
	}
	other := newGambler(t, store.Options{Seed: 7})
	if other.turn(t); slices.Equal(other.drawn, want) {
		t.Error("two seeds have the same numbers")
	}
	noError(t, other.s.Load(t.Context(), bytes.NewReader(saved)))
	other.drawn = nil
	if other.turn(t); !slices.Equal(other.drawn, want) {
		t.Error("after a Load: got other numbers than the store that was saved, want its seed and turn")
	}
	equal(t, "the digest after the same turns", digest(t, other.s), digest(t, g.s))
}

// Load of a snapshot without Seed resets the numbers.
func TestRand_StartsAfterSnapshotWithoutSeed(t *testing.T) {
	plain, _ := newTable(t, store.Options{}, store.TableOptions[item]{ChunkItems: 4, Shards: 2})
	saved := image(t, plain)
	draw := func(s *store.Store) (v uint64) {
		noError(t, s.Do(t.Context(), func(q store.Queue) { v = q.Rand().Uint64() }))
		return v
	}
	g := newGambler(t, store.Options{})
	g.turn(t)
	noError(t, g.s.Load(t.Context(), bytes.NewReader(saved)))
	got := draw(g.s)
	fresh, _ := newTable(t, store.Options{Seed: 42}, store.TableOptions[item]{})
	equal(t, "the first number", got, draw(fresh))
}

func TestRand_OfSystemsIsIndependent(t *testing.T) {
	numbers := func(further ...store.System) []string {
		g := newGambler(t, store.Options{}, further...)
		for range 2 {
			noError(t, onlyError(g.frame.Run(t.Context())))
		}
		return g.drawn
	}
	runs := 0
	neighbour := store.System{Name: "neighbour", Run: func(context.Context) error { runs++; return nil }}
	if !slices.Equal(numbers(), numbers(neighbour)) || runs != 2 {
		t.Errorf("systems draw other numbers beside another one, which ran %d times", runs)
	}
}

func TestRand_ContinuesInATask(t *testing.T) {
	s := newStore(t, store.Options{Seed: 1})
	noError(t, s.Do(t.Context(), func(q store.Queue) {
		if a, b := q.Rand().Uint64(), q.Rand().Uint64(); a == b {
			t.Errorf("the second call draws %x again", a)
		}
	}))
}

// Programs rely on these numbers as on digests.
func TestRand_NumbersAreStable(t *testing.T) {
	g := newGambler(t, store.Options{Seed: 42})
	g.turn(t)
	got := strings.Join([]string{g.drawn[0], g.drawn[1], g.drawn[4], g.drawn[30], g.drawn[60], g.drawn[90], g.drawn[len(g.drawn)-1]}, " ")
	const want = "2a047bb08c25e58 3483f54435ba3ddb c8b24b03190bdb59 a611a1e6d3457f17 96b46118732293b6 9f27c03be08fb8cc 8a65e9a6d49b1015"
	equal(t, "numbers", got, want)
}

func TestRand_RefusesMisuse(t *testing.T) {
	seeded, plain := newStore(t, store.Options{Seed: 1}), newStore(t, store.Options{})
	var kept store.Queue
	each := func(s *store.Store) {
		if err := s.Do(t.Context(), func(q store.Queue) {
			if kept = q; s == plain {
				q.Rand()
			}
		}); err != nil {
			panic(err)
		}
	}
	each(seeded)
	wantIn(t, "Load without Seed", fmt.Sprint(plain.Load(t.Context(), bytes.NewReader(image(t, seeded)))), "set Options.Seed")
	inbox := func() { _ = seeded.Inbox(callOf(func(q store.Queue) { q.Rand() })) }
	for name, test := range map[string]struct {
		f    func()
		want string
	}{
		"no Seed":              {func() { each(plain) }, "Options.Seed"},
		"kept":                 {func() { kept.Rand() }, "kept past its pass"},
		"the zero Queue":       {func() { store.Queue{}.Rand() }, "zero Queue"},
		"the inbox":            {inbox, "input"},
		"a queue of one's own": {func() { queues(t, seeded, 1)[0].Rand() }, "draw in a pass"},
	} {
		wantIn(t, name, panicOf(test.f), test.want)
	}
}

func TestRand_AllocatesNothing(t *testing.T) {
	plainBuild(t)
	s := newStore(t, store.Options{Seed: 1, Workers: 1})
	pass := func() {
		_ = s.Each(context.Background(), 4, func(_ int, q store.Queue) {
			q.Rand().Uint64()
		})
		_ = s.Discard()
	}
	pass()
	plain := testing.AllocsPerRun(50, func() {
		_ = s.Each(context.Background(), 4, func(int, store.Queue) {})
		_ = s.Discard()
	})
	if got := testing.AllocsPerRun(50, pass); got > plain {
		t.Errorf("a pass whose tasks draw: got %v allocations, want %v as without", got, plain)
	}
}
