package slotset

import (
	"slices"
	"strings"
	"testing"

	"handloom/handle"
	"handloom/internal/digest"
)

// Slot 0 is depleted; slots 1, 3, 5 and 6 are live; slots 4 and 2 are vacant in this order.
func sampleSet(t *testing.T) *Set {
	t.Helper()
	setWidths(t, 7, 16)
	var o owners
	o.Init(5, 0)
	for range 7 {
		o.issue(1)
		o.vacate(0)
	}
	o.issue(6)
	o.vacate(3)
	o.vacate(1)
	if err := o.verify(); err != nil || o.Live() != 4 || !slices.Equal(o.waiting(), []Slot{4, 2}) || o.Depleted() != 1 {
		t.Fatalf("setup: %v, vacant are %v, %d depleted", err, o.waiting(), o.Depleted())
	}
	return &o.Set
}

// waiting returns the vacant slots in order.
func (s *Freelist) waiting() []Slot {
	all := make([]Slot, s.vacant())
	s.copyRing(all)
	return all
}

const generations handle.ID = 0xffff << 32

func TestVerify_CitesInvariant(t *testing.T) {
	for _, c := range []struct {
		cites   string
		what    string
		corrupt func(s *Set)
	}{
		{"S3", "another typeId", func(s *Set) { s.Words[1] ^= 1 << 48 }},
		{"S3", "too many vacant", func(s *Set) { s.back++ }},
		{"S3", "too few depleted", func(s *Set) { s.depleted-- }},
		{"S3", "a live slot marked vacant", func(s *Set) { s.Words[1] += handle.FreeBit + oneGeneration }},
		{"S3", "a slot forgotten", func(s *Set) { s.Words[2] = handle.FreeBit | s.typeID }},
		{"F1", "a ring too small", func(s *Set) { s.ring = s.ring[:1] }},
		{"F1", "a front past the ring", func(s *Set) { s.base -= uint64(len(s.ring)) + 1 }},
		{"F1", "a front before the ring", func(s *Set) { s.base++ }},
		{"F4", "an edge behind the front", func(s *Set) { s.lap, s.edge = s.base, s.front+uint64(len(s.ring))+1 }},
		{"F4", "a lap of another place", func(s *Set) { s.lap, s.edge = s.base+1, s.back+1 }},
		{"F2", "a slot twice", func(s *Set) { s.ring[s.at(s.front+1)] = 4 }},
		{"F2", "a live slot", func(s *Set) { s.ring[s.at(s.front+1)] = 1 }},
		{"F2", "a depleted slot", func(s *Set) { s.ring[s.at(s.front+1)] = 0 }},
		{"F2", "a slot beyond all", func(s *Set) { s.ring[s.at(s.front)] = 7 }},
		{"F2", "two slots exchanged", func(s *Set) { s.ring[s.at(s.front)], s.ring[s.at(s.front+1)] = 2, 4 }},
		{"F2", "a ticket drawn twice", func(s *Set) { s.Words[2] = s.Words[2]&^rowMask | s.Words[4]&rowMask }},
		{"F2", "another front", func(s *Set) { s.base, s.front, s.back = s.base+1, s.front+1, s.back+1 }},
		{"G1", "a live slot at generation 0", func(s *Set) { s.Words[1] &^= generations }},
		{"G1", "a live slot above the highest generation", func(s *Set) { s.highest = 0 }},
		{"G1", "a live slot at or below the floor", func(s *Set) { s.floor = 1 }},
		{"G1", "a vacant slot that was never issued", func(s *Set) { s.Words[4] -= oneGeneration }},
		{"G1", "a vacant slot beyond the last generation", func(s *Set) { s.Words[4] += 6 * oneGeneration }},
		{"G1", "a vacant slot above the highest generation", func(s *Set) { s.highest = 1; s.Words[4] += oneGeneration }},
		{"G3", "a new slot while vacant ones wait", func(s *Set) { s.Next = s.typeID | oneGeneration }},
		{"G3", "a new slot at another generation", func(s *Set) { s.minFree, s.Next = 16, s.typeID|2*oneGeneration }},
		{"G2", "a depleted slot with a ticket", func(s *Set) { s.Words[0] |= 1 }},
	} {
		s := sampleSet(t)
		c.corrupt(s)
		err := s.Verify(anyOwner)
		if err == nil || !strings.HasPrefix(err.Error(), c.cites+":") {
			t.Errorf("%s: Verify says %v, want %s", c.what, err, c.cites)
		}
	}
}

func TestDigest_CoversState(t *testing.T) {
	sum := func(s *Set) uint64 {
		var h digest.Hash
		s.Digest(&h)
		return h.Sum()
	}
	want := sum(sampleSet(t))
	for name, change := range map[string]func(s *Set){
		"typeId":         func(s *Set) { s.typeID = 0 },
		"generation":     func(s *Set) { s.Words[1] += oneGeneration },
		"freelist order": func(s *Set) { s.ring[s.at(s.front)], s.ring[s.at(s.front+1)] = 2, 4 },
		"a slot":         func(s *Set) { s.Words = s.Words[:6] },
		"depletion":      func(s *Set) { s.depleted++ },
		"floor":          func(s *Set) { s.floor++ },
		"highest":        func(s *Set) { s.highest++ },
		"MinFree":        func(s *Set) { s.minFree++ },
	} {
		s := sampleSet(t)
		if change(s); sum(s) == want {
			t.Errorf("%s is not in the digest", name)
		}
	}
	s := sampleSet(t)
	if s.Grow(16); sum(s) != want {
		t.Error("capacity is in the digest")
	}
}
