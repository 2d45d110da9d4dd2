package paged_test

import (
	"math/rand/v2"
	"testing"

	"handloom/shard/handle"
)

// A map that takes over another goes on as that would have, pages without memory
// included; the invariants hold after each step.
func TestBecome_GoesOnAsTheOther(t *testing.T) {
	emptied := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := empty(t)
		for range 8 {
			disturb(s, r)
		}
		if seed%2 == 0 { // some pages lose all their items, and then their memory
			var ids []handle.ID
			for id := range s.All {
				ids = append(ids, id)
			}
			lo := r.IntN(len(ids) + 1)
			s.EraseItems(ids[lo : lo+r.IntN(len(ids)-lo+1)])
			before := s.Stats().Bytes
			s.Shrink()
			if s.Stats().Bytes < before {
				emptied++
			}
		}
		want, from := s.Clone(), s
		if seed%4 < 2 { // a map that was read has the memory of no empty page
			back, err := load(t, encoding(s))
			if err != nil {
				t.Fatal(err)
			}
			from = back
		}
		stats := from.Stats()
		to := empty(t)
		for range int(seed % 3) {
			disturb(to, r)
		}
		to.MoveFrom(from)
		if err := to.Verify(); err != nil || to.Digest() != want.Digest() {
			t.Fatalf("seed %d: Digest = %x, want %x; %v", seed, to.Digest(), want.Digest(), err)
		}
		if got := to.Stats(); got != stats {
			t.Errorf("seed %d: Stats = %+v, want %+v", seed, got, stats)
		}
		for range 4 {
			again := r.Uint64()
			disturb(to, rand.New(rand.NewPCG(again, 8)))
			disturb(want, rand.New(rand.NewPCG(again, 8)))
			if err := to.Verify(); err != nil || to.Digest() != want.Digest() {
				t.Fatalf("seed %d: after more steps, Digest = %x, want %x; %v", seed, to.Digest(), want.Digest(), err)
			}
		}
	}
	if emptied < 10 {
		t.Errorf("%d maps gave back memory, want 10 at least", emptied)
	}
}
