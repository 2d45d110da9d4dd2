package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"handloom/store"
	"handloom/store/storetest"
)

// The three programs of the examples, in more circumstances than an example can
// show.

// oneToSixteen are the numbers of workers that the programs must not depend on;
// under the race detector, which makes them slow, some of them.
func oneToSixteen() []int {
	if raceDetector {
		return []int{1, 2, 5, 16}
	}
	return []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
}

func TestParticlesAreTheSameOnOneToSixteenWorkers(t *testing.T) {
	o := storetest.Options{Workers: oneToSixteen(), Frames: 8}
	storetest.Run(t, o, func(s *store.Store) (func(context.Context, int) error, error) {
		f, err := newFountain(s)
		if err != nil {
			return nil, err
		}
		for i := range 20 {
			err = errors.Join(err, f.add(t.Context(), s, nozzle{X: float64(i), Rate: 150, State: uint64(i)}))
		}
		return func(ctx context.Context, _ int) error {
			_, err := f.frame.Run(ctx)
			return err
		}, err
	})
}

func TestParticlesSpreadOverTheShards(t *testing.T) {
	s := newStore(t, store.Options{})
	f, err := newFountain(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.add(t.Context(), s, nozzle{Rate: 401}); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		report, err := f.frame.Run(t.Context())
		if err != nil || report.Total.Created != 401 {
			t.Fatal(report, err)
		}
	}
	if n := f.sparks.Len(); n < 20*401 || n >= 30*401 {
		t.Errorf("%d sparks live", n)
	}
	err = s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
		for _, m := range store.Maps(f.sparks, w) {
			if n := m.Len() - f.sparks.Len()/4; n < -1 || n > 1 {
				t.Errorf("a shard holds %d of %d sparks", m.Len(), f.sparks.Len())
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// growing is a scene that grows and loses parts at random, in which deep trees
// and many roots come about. It notes the handles of all parts ever added.
type growing struct {
	*scene
	random *rand.Rand
	added  []store.Handle[part]
}

func newGrowing(s *store.Store, seed uint64) (*growing, error) {
	g, err := newScene(s)
	return &growing{scene: g, random: rand.New(rand.NewPCG(seed, 0))}, err
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

func TestASceneIsTheSameOnOneToSixteenWorkers(t *testing.T) {
	o := storetest.Options{Workers: oneToSixteen(), Frames: 12}
	storetest.Run(t, o, func(s *store.Store) (func(context.Context, int) error, error) {
		g, err := newGrowing(s, 5)
		return func(ctx context.Context, _ int) error { return g.tick(ctx) }, err
	})
}

// seen is where a part is, computed from the root down. It is unknown below a
// part that was cut off.
func (g *scene) seen(h store.Handle[part]) (at pose, known bool) {
	p, ok := g.parts.Get(h)
	if !ok || p.Parent.ID.IsZero() {
		return pose{}.then(g.parts.At(h).Local), ok
	}
	if !g.parts.Has(p.Parent) {
		return pose{}, false
	}
	above, known := g.seen(p.Parent)
	return above.then(p.Local), known
}

func TestInASceneParentsComeFirstAndTransformsAreUpToDate(t *testing.T) {
	s := newStore(t, store.Options{})
	g, err := newGrowing(s, 6)
	if err != nil {
		t.Fatal(err)
	}
	deepest, orphans := 0, 0
	for tick := range 60 {
		if err := g.tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		last := 0
		for h, p := range g.parts.All() {
			if p.Depth < last {
				t.Fatalf("tick %d: a part of depth %d behind one of depth %d", tick, p.Depth, last)
			}
			last = p.Depth
			deepest = max(deepest, p.Depth)
			if parent, ok := g.parts.Get(p.Parent); ok && parent.Depth != p.Depth-1 {
				t.Fatalf("tick %d: a part of depth %d has a parent of depth %d", tick, p.Depth, parent.Depth)
			}
			if p.Parent.ID.IsProvisional() {
				t.Fatalf("tick %d: the parent of %v is %v", tick, h, p.Parent)
			}
			if at, known := g.seen(h); !known {
				orphans++
			} else if at != p.World {
				t.Fatalf("tick %d: %v is at %v, and its parents say %v", tick, h, p.World, at)
			}
		}
	}
	if deepest < 8 || orphans == 0 || g.parts.Len() < 100 {
		t.Errorf("%d parts, %d deep, %d orphans: too little happened", g.parts.Len(), deepest, orphans)
	}
}

const players = 6

// match is what the players send, by tick and player.
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

// deliver sends what arrives at a replica in its next tick: each intent as late as
// its own delay says, from several goroutines, and now and then twice.
func deliver(t tb, v *replica, all [][]intent, seed uint64) {
	t.Helper()
	var wg sync.WaitGroup
	for tick := max(0, v.next-history); tick < min(v.next+1, len(all)); tick++ {
		for _, i := range all[tick] {
			random := rand.New(rand.NewPCG(seed, uint64(tick*players+i.Player)))
			arrives := tick + random.IntN(history+1)
			if arrives == v.next || arrives+1 == v.next && random.IntN(4) == 0 && arrives < tick+history {
				wg.Go(func() {
					if err := v.send(i); err != nil {
						t.Errorf("%v", err)
					}
				})
			}
		}
	}
	wg.Wait()
}

func closeReplica(t tb, v *replica) {
	t.Helper()
	for _, s := range []*store.Store{v.lobby, v.arena.Store} {
		if err := s.Verify(context.Background()); err != nil {
			t.Errorf("%v", err)
		}
		if _, err := s.Close(context.Background()); err != nil {
			t.Errorf("%v", err)
		}
	}
}

// playMatch plays a match as it arrives at one replica and returns the digest of the
// arena when all has arrived.
func playMatch(t *testing.T, o store.Options, all [][]intent, shuffle uint64, deliver func(v *replica)) uint64 {
	t.Helper()
	v, err := newReplica(o, players)
	if err != nil {
		t.Fatal(err)
	}
	defer closeReplica(t, v)
	if shuffle > 0 {
		if err := v.arena.Shuffle(shuffle); err != nil {
			t.Fatal(err)
		}
	}
	for range len(all) + history {
		deliver(v)
		if err := v.tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		if wounds, intents := v.arena.wounds.Len(), len(v.log[v.next-1]); wounds > 0 || intents > players {
			t.Fatalf("after tick %d %d wounds are left, and %d players sent %d intents", v.next-1, wounds, players, intents)
		}
	}
	if v.lost > 0 || len(v.log) > history {
		t.Errorf("%d intents were lost, and the log keeps %d ticks", v.lost, len(v.log))
	}
	deaths := 0
	for _, f := range v.arena.fighters.All() {
		deaths += f.Deaths
	}
	if deaths == 0 {
		t.Error("nobody died")
	}
	return digest(t, v.arena.Store)
}

func TestReplicasOfAnArenaAgreeHoweverLateTheirIntentsCome(t *testing.T) {
	all := match(40)
	want := playMatch(t, store.Options{Workers: 1}, all, 0, func(v *replica) {
		if v.next < len(all) {
			for _, i := range all[v.next] {
				if err := v.send(i); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for _, workers := range oneToSixteen() {
		got := playMatch(t, store.Options{Workers: workers}, all, uint64(workers%2), func(v *replica) { deliver(t, v, all, uint64(workers)) })
		if got != want {
			t.Errorf("with %d workers the arena ends as %x, not as %x", workers, got, want)
		}
	}
}

func TestAnIntentThatComesTooLateIsLost(t *testing.T) {
	v, err := newReplica(store.Options{}, players)
	if err != nil {
		t.Fatal(err)
	}
	defer closeReplica(t, v)
	for range 20 {
		if err := v.tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	err = errors.Join(v.send(intent{Tick: 12, Move: 1}), v.send(intent{Tick: 11, Player: 1, Move: 1}), v.tick(t.Context()))
	if err != nil || v.lost != 1 || v.rollbacks != 1 {
		t.Errorf("%d lost, went back %d times; %v", v.lost, v.rollbacks, err)
	}
	if f := v.arena.fighters; f.At(first(f)).X != 1 {
		t.Errorf("%+v", f.At(first(f)))
	}
}

func first[T any](table *store.Table[T]) (h store.Handle[T]) {
	for h := range table.All() {
		return h
	}
	return h
}

// A replica as it would be run: a loop at 60 Hz, clients on goroutines of their
// own and somebody who looks at it over HTTP, all under virtual time.
func TestAReplicaAtSixtyTicksPerSecond(t *testing.T) {
	virtual(t, func(t *testing.T) {
		v, err := newReplica(store.Options{Workers: 2}, players)
		if err != nil {
			t.Fatal(err)
		}
		defer closeReplica(t, v)
		all := match(120)
		ctx, cancel := context.WithTimeout(t.Context(), 121*time.Second/60)
		defer cancel()
		var wg sync.WaitGroup
		for player := range players {
			wg.Go(func() {
				for tick := range all {
					for _, i := range all[tick] {
						if i.Player == player {
							_ = v.send(i)
						}
					}
					time.Sleep(time.Second / 60)
				}
			})
		}
		wg.Go(func() {
			for range 200 {
				time.Sleep(time.Second / 101)
				page := httptest.NewRecorder()
				v.ServeHTTP(page, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
				if n := strings.Count(page.Body.String(), "\n"); page.Code != 200 || n != players {
					t.Errorf("status %d, %d lines", page.Code, n)
				}
			}
		})
		loop := store.Loop{Hz: 60, MaxCatchUp: 5}
		err = v.arena.Team(ctx, func(ctx context.Context) error {
			return loop.Run(ctx, func(ctx context.Context, tick uint64) error {
				if int(tick) != v.next {
					return fmt.Errorf("tick %d of the loop is tick %d of the replica", tick, v.next)
				}
				return v.tick(ctx)
			})
		})
		wg.Wait()
		if !errors.Is(err, context.DeadlineExceeded) || loop.Dropped() > 0 || v.next != 121 || v.lost > 0 {
			t.Errorf("%d ticks, %d dropped, %d intents lost: %v", v.next, loop.Dropped(), v.lost, err)
		}
	})
}
