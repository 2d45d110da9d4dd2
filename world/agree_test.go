package world_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"testing/synctest"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

var _ world.Log = (*journal.Journal)(nil)

// The replicas are a leader with Shadow, a follower, Replay, and a journal that crashes now
// and then.
func TestWorld_AgreesOnEveryReplica(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for name, newGame := range map[string]func(t testing.TB, o store.Options) *game{"game": newGame, "herd": newHerd} {
		for _, workers := range []int{1, 2, 8} {
			for seed := range seeds {
				t.Run(fmt.Sprintf("%s/workers=%d/seed=%d", name, workers, seed), func(t *testing.T) {
					dir := filepath.Join(t.TempDir(), "log")
					synctest.Test(t, func(t *testing.T) {
						playThree(t, dir, seed, newGame, store.Options{Workers: workers})
					})
				})
			}
		}
	}
}

func playThree(t *testing.T, dir string, seed uint64, newGame func(t testing.TB, o store.Options) *game, o store.Options) {
	random := rand.New(rand.NewPCG(seed, 1))
	shared := keeping{world.Memory()}
	leader, follower, local := newGame(t, alone), newGame(t, o), newGame(t, o)
	first := mustOpen(t, leader, shared, func(o *world.Options) { o.Shadow = 0.5 })
	second := mustOpen(t, follower, shared)
	j := openJournal(t, dir)
	third := mustOpen(t, local, j)
	const ticks = 40
	calls := 0
	for tick := uint64(1); tick <= ticks; tick++ {
		var both []*submission
		for range random.IntN(4) + random.IntN(2)*maxOrders {
			both = append(both, submit(t.Context(), first, leader.order(calls)), submit(t.Context(), third, local.order(calls)))
			calls++
		}
		for _, w := range []*world.World{first, third, second} {
			equal(t, "tick of the step", mustStep(t, w).Number, tick)
		}
		synctest.Wait()
		for i, s := range both {
			if leader.herd != nil || i < 2*maxOrders {
				wantApplied(t, s, tick)
			} else {
				wantError(t, s.err, store.ErrFull)
			}
		}
		wantSame(t, leader, follower)
		wantSame(t, leader, local)
		if random.IntN(6) == 0 {
			if random.IntN(2) == 0 {
				crash(t, third)
			} else {
				mustClose(t, third)
			}
			noError(t, j.Close())
			local.digests = make(map[uint64]uint64)
			fresh := newGame(t, o)
			j = openJournal(t, dir)
			third = mustOpen(t, fresh, j)
			wantSame(t, leader, fresh)
			equal(t, fmt.Sprint("digest of the journal after tick ", tick), digest(t, fresh), digest(t, leader))
			local = fresh
		}
	}
	wantTicks(t, leader, ticks)
	wantTicks(t, follower, ticks)
	if leader.herd != nil {
		failIf(t, leader.herd.Entries() < 100, "ticks have read %d changes, want 100", leader.herd.Entries())
	}
	for upTo := uint64(ticks - 8); upTo <= ticks; upTo++ {
		again := newGame(t, o)
		noError(t, world.Replay(t.Context(), again.Store, shared, again.options(), upTo))
		equal(t, fmt.Sprint("digest of Replay to tick ", upTo), digest(t, again), leader.digests[upTo])
	}
	mustClose(t, first, second, third)
}

func openJournal(t testing.TB, dir string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(dir, journal.Options{Sync: journal.Never, SegmentBytes: 1 << 14})
	noError(t, err)
	t.Cleanup(func() { noError(t, j.Close()) })
	return j
}

func digest(t testing.TB, g *game) uint64 {
	t.Helper()
	d, err := g.Digest(t.Context())
	noError(t, err)
	return d
}
