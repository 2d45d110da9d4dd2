package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"handloom/store"
	"handloom/store/storetest"
)

// The three programs of the examples, in more configurations.

// oneToSixteen has some numbers of workers that must not matter.
func oneToSixteen() []int { return []int{1, 2, 5, 16} }

func TestPrograms_ParticlesIgnoreWorkers(t *testing.T) {
	o := storetest.Options{Workers: oneToSixteen(), Frames: 8}
	storetest.Run(t, o, func(s *store.Store) (func(context.Context, int) error, error) {
		f := newFountain(s)
		var err error
		for i := range 20 {
			err = errors.Join(err, f.add(t.Context(), s, nozzle{X: float64(i), Rate: 150, State: uint64(i)}))
		}
		return func(ctx context.Context, _ int) error {
			_, err := f.frame.Run(ctx)
			return err
		}, err
	})
}

// growing is a scene that grows and loses parts at random. It notes the handles of all parts
// ever added.
type growing struct {
	*scene
	random *rand.Rand
	added  []store.Handle[part]
}

func newGrowing(s *store.Store, seed uint64) *growing {
	return &growing{scene: newScene(s), random: rand.New(rand.NewPCG(seed, 0))}
}

func (g *growing) tick(ctx context.Context) error {
	for range 20 {
		var parent store.Handle[part]
		if n := len(g.added); n > 0 && g.random.IntN(8) > 0 {
			parent = g.added[n-1-g.random.IntN(min(n, 40))]
		}
		p := part{Name: 'p', Spin: g.random.IntN(4), Local: pose{g.random.IntN(4), g.random.IntN(9), g.random.IntN(9)}}
		if g.random.IntN(3) == 0 {
			p.Bud = 'q'
		}
		h, err := g.add(ctx, parent, p)
		if err != nil {
			return err
		}
		g.added = append(g.added, h)
	}
	if n := len(g.added); n > 100 {
		if err := g.cut(ctx, g.added[g.random.IntN(n)]); err != nil {
			return err
		}
	}
	return g.scene.tick(ctx)
}

func TestPrograms_SceneIgnoresWorkers(t *testing.T) {
	o := storetest.Options{Workers: oneToSixteen(), Frames: 12}
	storetest.Run(t, o, func(s *store.Store) (func(context.Context, int) error, error) {
		g := newGrowing(s, 5)
		return func(ctx context.Context, _ int) error { return g.tick(ctx) }, nil
	})
}

const players = 6

// match returns the intents of all players, by tick and player.
func match(ticks int) (all [][]intent) {
	random := rand.New(rand.NewPCG(9, 9))
	for tick := range ticks {
		var of []intent
		for player := range players {
			if random.IntN(10) > 0 {
				of = append(of, intent{tick, player, random.IntN(3) - 1, random.IntN(4) == 0})
			}
		}
		all = append(all, of)
	}
	return all
}

// deliver sends the intents that reach a replica in its next tick, each with a delay of its
// own, from several goroutines, and some twice.
func deliver(t tb, v *replica, all [][]intent, seed uint64) {
	t.Helper()
	var wg sync.WaitGroup
	for tick := max(0, v.next-history); tick < min(v.next+1, len(all)); tick++ {
		for _, i := range all[tick] {
			random := rand.New(rand.NewPCG(seed, uint64(tick*players+i.Player)))
			arrives := tick + random.IntN(history+1)
			if arrives == v.next || arrives+1 == v.next && random.IntN(4) == 0 && arrives < tick+history {
				wg.Go(func() {
					wantError(t, "", v.send(i), nil)
				})
			}
		}
	}
	wg.Wait()
}

func closeReplica(t tb, v *replica) {
	t.Helper()
	for _, s := range []*store.Store{v.lobby, v.arena.Store} {
		wantError(t, "", s.Verify(context.Background()), nil)
		wantError(t, "", onlyError(s.Close(context.Background())), nil)
	}
}

// playMatch plays a match on one replica and returns the final digest of the arena.
func playMatch(t *testing.T, o store.Options, all [][]intent, shuffle uint64, deliver func(v *replica)) uint64 {
	t.Helper()
	v, err := newReplica(o, players)
	noError(t, err)
	defer closeReplica(t, v)
	if shuffle > 0 {
		noError(t, v.arena.Shuffle(shuffle))
	}
	for range len(all) + history {
		deliver(v)
		noError(t, v.tick(t.Context()))
		if wounds, intents := v.arena.wounds.Len(), len(v.log[v.next-1]); wounds > 0 || intents > players {
			t.Fatalf("after tick %d %d wounds are left, and %d players sent %d intents", v.next-1, wounds, players, intents)
		}
	}
	equal(t, "lost intents", v.lost, 0)
	atMost(t, "ticks that the log keeps", len(v.log), history)
	deaths := 0
	for _, f := range v.arena.fighters.All() {
		deaths += f.Deaths
	}
	if deaths == 0 {
		t.Error("nobody died")
	}
	return digest(t, v.arena.Store)
}

func TestPrograms_LateReplicasAgree(t *testing.T) {
	all := match(40)
	want := playMatch(t, store.Options{Workers: 1}, all, 0, func(v *replica) {
		if v.next < len(all) {
			for _, i := range all[v.next] {
				wantError(t, "", v.send(i), nil)
			}
		}
	})
	for _, workers := range oneToSixteen() {
		got := playMatch(t, store.Options{Workers: workers}, all, uint64(workers%2), func(v *replica) { deliver(t, v, all, uint64(workers)) })
		equal(t, fmt.Sprintf("digest with %d workers", workers), got, want)
	}
}
