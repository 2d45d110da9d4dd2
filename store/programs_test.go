package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"handloom/store"
)

func oneToSixteen() []int { return []int{1, 2, 5, 16} }

const players = 6

func match(ticks int) (all [][]intent) {
	random := rand.New(rand.NewPCG(9, 9))
	for tick := range ticks {
		var now []intent
		for player := range players {
			if random.IntN(10) > 0 {
				now = append(now, intent{tick, player, random.IntN(3) - 1, random.IntN(4) == 0})
			}
		}
		all = append(all, now)
	}
	return all
}

// deliver sends the intents that reach a replica in its next tick, some of them twice.
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
