package slotmap_test

import (
	"testing"

	"handloom/shard/slotmap"
)

func TestEqualHistoriesHaveEqualDigests(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		a, _ := wornMap(t)
		b, _ := wornMap(t)
		if first := a.Digest(); first != b.Digest() || first != a.Digest() {
			t.Fatal("equal maps have different digests")
		}
		lead(a)
		lead(b)
		if a.Digest() != b.Digest() {
			t.Error("equal histories have different digests")
		}
	})
}

func TestCapacityIsNotInTheDigest(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		m, hs := wornMap(t)
		before := m.Digest()
		for name, change := range map[string]func(){
			"Reserve":     func() { m.Reserve(12) },
			"ReserveMore": func() { m.ReserveMore(4) },
			"Shrink":      func() { m.Shrink() },
			"lookups":     func() { m.Get(hs[0]); m.Has(number{}); m.RowOf(hs[1]) },
			"iteration":   func() { itemsOf(m) },
			"a failure":   func() { m.InsertItems(make([]uint64, 100), nil) },
			"an erase":    func() { m.Erase(number{}); m.EraseItems(nil) },
			"Verify":      func() { verify(t, m) },
		} {
			if change(); m.Digest() != before {
				t.Errorf("%s changed the digest", name)
			}
		}
	})
}

func TestEveryPartOfTheStateIsInTheDigest(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		// Each pair differs in one respect only.
		for name, pair := range map[string][2]func(m *slotmap.Map[uint64], hs []number){
			"a value": {
				func(m *slotmap.Map[uint64], hs []number) {},
				func(m *slotmap.Map[uint64], hs []number) { *m.At(hs[3]) ^= 1 << 63 },
			},
			"a generation": {
				func(m *slotmap.Map[uint64], hs []number) {},
				func(m *slotmap.Map[uint64], hs []number) { m.Erase(hs[5]); m.Insert(7) },
			},
			"freelist order": {
				func(m *slotmap.Map[uint64], hs []number) { m.Erase(hs[5]); m.Erase(hs[4]) },
				func(m *slotmap.Map[uint64], hs []number) { m.EraseItems(hs[4:]) },
			},
			"the number of slots": {
				func(m *slotmap.Map[uint64], hs []number) { m.Erase(hs[5]) },
				func(m *slotmap.Map[uint64], hs []number) { m.Insert(7); m.EraseFunc(slotAbove(4)) },
			},
			"the floor": {
				func(m *slotmap.Map[uint64], hs []number) { m.Clear(); *m = slotmap.Map[uint64]{} },
				func(m *slotmap.Map[uint64], hs []number) { m.Reset() },
			},
			"the number of items": {
				func(m *slotmap.Map[uint64], hs []number) {},
				func(m *slotmap.Map[uint64], hs []number) { m.Insert(7) },
			},
		} {
			var digests [2]uint64
			for i, change := range pair {
				m := newMap[uint64](t, slotmap.Options{})
				var hs []number
				for range 6 {
					hs = append(hs, insert(t, m, 7))
				}
				change(m, hs)
				digests[i] = m.Digest()
			}
			if digests[0] == digests[1] {
				t.Errorf("%s is not in the digest", name)
			}
		}
	})
}

func slotAbove(slot uint32) func(number, *uint64) bool {
	return func(h number, _ *uint64) bool { return h.ID.Slot() > slot }
}

func TestTheTypeIDIsInTheDigest(t *testing.T) {
	a := newMap[uint64](t, slotmap.Options{TypeID: 1})
	b := newMap[uint64](t, slotmap.Options{TypeID: 2})
	if a.Digest() == b.Digest() {
		t.Error("empty maps of different typeIds have equal digests")
	}
}

// MinFree decides whether the next insert takes the vacant slot, MaxItems whether
// there will be one; the first is part of the state, the second a bound on it.
func TestOfTheOptionsMinFreeIsInTheDigest(t *testing.T) {
	digest := func(o slotmap.Options) uint64 {
		m := newMap[uint64](t, o)
		m.Erase(insertN(t, m, 2)[0])
		return m.Digest()
	}
	none := digest(slotmap.Options{})
	if digest(slotmap.Options{MinFree: 1}) == none {
		t.Error("maps of which one reuses a vacant slot next and the other does not have equal digests")
	}
	if digest(slotmap.Options{MaxItems: 5, Reserve: 5}) != none {
		t.Error("MaxItems or Reserve is in the digest")
	}
}

func TestItemsOfEqualContentHaveEqualDigests(t *testing.T) {
	type item struct {
		name string
		list []uint64
		next *uint64 // skipped
	}
	digest := func(items ...item) uint64 {
		m := newMap[item](t, slotmap.Options{})
		m.InsertItems(items, nil)
		return m.Digest()
	}
	one := digest(item{"a", []uint64{1}, new(uint64)})
	if digest(item{"a", []uint64{1}, nil}) != one {
		t.Error("a pointer is in the digest")
	}
	if digest(item{"b", []uint64{1}, nil}) == one || digest(item{"a", []uint64{2}, nil}) == one {
		t.Error("a string or a slice is not in the digest")
	}
	if digest(item{name: "ab"}, item{name: "c"}) == digest(item{name: "a"}, item{name: "bc"}) {
		t.Error("the border between items is not in the digest")
	}
}
