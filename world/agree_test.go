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

// The same program with the same calls comes to the same state behind every tick: in
// memory, as a follower, and on a journal that is closed, or dies, now and then.
func TestThreeWorldsAgree(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("workers=%d/seed=%d", workers, seed), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "log")
				synctest.Test(t, func(t *testing.T) { playThree(t, dir, workers, seed) })
			})
		}
	}
}

func playThree(t *testing.T, dir string, workers int, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	o := store.Options{Workers: workers}
	shared := world.Memory()
	owner, follower, local := newGame(t, store.Options{Workers: 1}), newGame(t, o), newGame(t, o)
	first, second := mustOpen(t, owner, shared), mustOpen(t, follower, shared)
	j := openJournal(t, dir)
	third := mustOpen(t, local, j)
	const ticks = 40
	calls := 0
	for tick := uint64(1); tick <= ticks; tick++ {
		var both []*submission
		for range random.IntN(4) {
			both = append(both, submit(t.Context(), first, owner.order(calls)), submit(t.Context(), third, local.order(calls)))
			calls++
		}
		for _, w := range []*world.World{first, third, second} {
			if got := mustStep(t, w); got.Number != tick {
				t.Fatalf("step %d was tick %d", tick, got.Number)
			}
		}
		synctest.Wait()
		for i, s := range both {
			if !s.done || s.err != nil || s.receipt.Tick() != tick {
				t.Fatalf("call %d of tick %d: done %t, %v", i, tick, s.done, s.err)
			}
		}
		wantSame(t, owner, follower)
		wantSame(t, owner, local)
		if random.IntN(6) == 0 {
			if random.IntN(2) == 0 {
				crash(t, third)
			} else {
				mustClose(t, third)
			}
			mustCloseJournal(t, j)
			local.digests = make(map[uint64]uint64)
			fresh := newGame(t, o)
			j = openJournal(t, dir)
			third = mustOpen(t, fresh, j)
			wantSame(t, owner, fresh)
			if a, b := digest(t, owner), digest(t, fresh); a != b {
				t.Fatalf("behind tick %d the journal was opened again to another state", tick)
			}
			local = fresh
		}
	}
	wantTicks(t, owner, ticks)
	wantTicks(t, follower, ticks)
	for _, w := range []*world.World{first, second, third} {
		mustClose(t, w)
	}
	mustCloseJournal(t, j)
}

func openJournal(t testing.TB, dir string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(dir, journal.Options{Sync: journal.Never, SegmentBytes: 1 << 14})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func mustCloseJournal(t testing.TB, j *journal.Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func digest(t testing.TB, g *game) uint64 {
	t.Helper()
	d, err := g.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}
