package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"handloom/store"
)

type numbered struct{ Key uint32 }

// partsGame changes so many keys in each flush that tasks and parts share them.
type partsGame struct {
	*store.Store
	table anyTable[numbered]
	x     *store.Index[uint32, numbered]
	r     *rand.Rand
	free  []uint32
	live  []store.Handle[numbered]
}

func newPartsGame(t tb, seed uint64, workers int) *partsGame {
	t.Helper()
	g := &partsGame{Store: newStore(t, store.Options{Workers: workers}), r: rand.New(rand.NewPCG(seed, 0))}
	g.table = registerKind(t, g.Store, store.TableOptions[numbered]{Shards: 3}, seed%2 == 1)
	g.x = store.AddIndex(g.table, "key", func(v *numbered) (uint32, bool) { return v.Key, true })
	for _, k := range g.r.Perm(80_000) {
		g.free = append(g.free, uint32(k))
	}
	return g
}

func (g *partsGame) take() (k uint32) {
	k, g.free = g.free[0], g.free[1:]
	return k
}

func (g *partsGame) keyOf(h store.Handle[numbered]) uint32 {
	v, _ := g.table.Get(h)
	return v.Key
}

// flush erases, puts and creates a third each, all with keys of their own, except that creates of each
// queue or a put take a taken key. It returns what the flush has to name.
func (g *partsGame) flush(t *testing.T, n int, creates, puts bool) (want string, err error) {
	all := queues(t, g.Store, 3)
	g.r.Shuffle(len(g.live), func(i, k int) { g.live[i], g.live[k] = g.live[k], g.live[i] })
	n = min(n, len(g.live)/4)
	gone, put, kept := g.live[:n], g.live[n:2*n], g.live[2*n:3*n]
	freed := []uint32{}
	for _, h := range gone {
		g.table.Erase(all[0], h)
		freed = append(freed, g.keyOf(h))
	}
	for i, h := range put { // half of them take a key that the batch frees
		freed = append(freed, g.keyOf(h))
		k := g.take()
		if i%2 == 0 {
			k, freed, g.free = freed[0], freed[1:], append(g.free, k)
		}
		g.table.Put(all[1], h, numbered{k})
	}
	for _, h := range kept {
		g.table.Put(all[2], h, numbered{g.keyOf(h)})
	}
	if puts {
		holder, second := g.live[3*n], g.live[3*n+1]
		g.table.Put(all[1], second, numbered{g.keyOf(holder)})
		want = fmt.Sprintf("item %v and item %v have key %d;", holder, second, g.keyOf(holder))
	}
	var made []store.Handle[numbered]
	for task, q := range all {
		at := g.r.IntN(5000)
		for i := range 5000 {
			k := g.take()
			if creates && i == at {
				if k = g.keyOf(g.live[3*n+task]); task == 0 {
					want = fmt.Sprintf("item %v and a new item have key %d;", g.live[3*n], k)
				}
			}
			made = append(made, g.table.Emplace(q, numbered{k}))
		}
	}
	if _, err = g.Flush(t.Context()); err != nil {
		return want, err
	}
	for i := range made {
		made[i] = resolve(t, g.table, made[i])
	}
	g.live, g.free = append(g.live[n:], made...), append(g.free, freed...)
	return want, nil
}

// Several tasks and parts plan many commands, and act as one map.
func TestIndex_PartsActAsOneMap(t *testing.T) {
	for seed := range uint64(2) {
		for _, workers := range []int{1, 8} {
			t.Run(fmt.Sprint(seed, workers), func(t *testing.T) {
				g := newPartsGame(t, seed, workers)
				for round, n := range []int{0, 5000, 3000, 0, 4000, 3000} {
					free := g.free
					want, err := g.flush(t, n, round == 2, round == 5)
					if want != "" {
						if wantText(t, "a flush", err, want); !errors.Is(err, store.ErrDuplicate) {
							t.Errorf("got %v, want ErrDuplicate", err)
						}
						noError(t, g.Discard())
						g.free = free
					} else {
						noError(t, err)
					}
					noError(t, g.Verify(t.Context()))
					for _, h := range g.live {
						if got, ok := g.x.Find(g.keyOf(h)); got != h || !ok {
							t.Fatalf("round %d: key %d is of %v, want %v", round, g.keyOf(h), got, h)
						}
					}
				}
			})
		}
	}
}
