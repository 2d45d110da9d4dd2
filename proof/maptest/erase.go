package maptest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/internal/slotset"
	"handloom/shard/handle"
)

func (s suite) EraseItemsDependsOnlyOnTheSetErased(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		original := newMap(t, s.Numbers, Options{TypeID: 4})
		hs := InsertN(t, original, 15)
		original.Erase(hs[6])
		erased := []number{hs[0], hs[3], hs[9], hs[13], hs[14]}
		noise := []number{hs[6], {}, {ID: hs[1].ID | handle.FreeBit}, Numbered(3, 1, 1), Numbered(4, 2, 1), Numbered(4, 1, 99)}

		want := original.Cloned()
		if n := want.EraseItems(erased); n != 5 {
			t.Fatalf("%d erased, want 5", n)
		}
		for range 50 {
			m := original.Cloned()
			mixed := slices.Concat(erased, noise, erased[1:3])
			random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			if n := m.EraseItems(mixed); n != 5 || m.Digest() != want.Digest() {
				t.Fatalf("%v: erased %d, left %v; want 5, %v", mixed, n, itemsOf(m), itemsOf(want))
			}
			Verify(t, m)
		}
	})
}

func (s suite) BulkErasesFreeSlotsInAscendingOrder(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 10)
		m.EraseItems([]number{hs[8], hs[4], hs[1], hs[2]})
		// Six stay; in the packed map the holes 1, 2, 4 take 6, 7, 9.
		want := choose(s, []uint64{0, 6, 7, 3, 9, 5}, []uint64{0, 3, 5, 6, 7, 9})
		if !slices.Equal(itemsOf(m), want) {
			t.Errorf("items %v, want %v", itemsOf(m), want)
		}
		for _, slot := range []uint32{1, 2, 4, 8} { // in ascending order of rows
			if h := Insert(t, m, 0); h != Numbered(0, 2, slot) {
				t.Errorf("issued %v, want slot %d", h, slot)
			}
		}
	})
}

func (s suite) EveryBulkEraseHasTheSameOutcome(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		for _, chosen := range []func(uint64) bool{
			func(v uint64) bool { return v%3 == 0 },
			func(v uint64) bool { return v < 7 },
			func(v uint64) bool { return v > 7 },
			func(uint64) bool { return true },
			func(uint64) bool { return false },
		} {
			byItems := newMap(t, s.Numbers, Options{})
			hs := InsertN(t, byItems, 16)
			byItems.Erase(hs[2]) // in the packed map rows and slots differ from now on
			byFunc, byMarks, byClear := byItems.Cloned(), byItems.Cloned(), byItems.Cloned()
			var erased []number
			for h, v := range byItems.All() {
				if chosen(*v) {
					erased = append(erased, h)
				}
			}
			var marks slotset.Bitset
			for _, h := range slices.Backward(erased) {
				if byMarks.Core().Mark(&marks, h.ID) != slotset.Marked || byMarks.Core().Mark(&marks, h.ID) != slotset.Again {
					t.Errorf("%v is not marked exactly once", h)
				}
			}
			a := byItems.EraseItems(erased)
			b := byFunc.EraseFunc(func(_ number, v *uint64) bool { return chosen(*v) })
			c := byMarks.Core().EraseMarked(&marks)
			if a != len(erased) || b != a || c != a || marks.Len() != 0 {
				t.Errorf("%d, %d and %d erased, want %d", a, b, c, len(erased))
			}
			if byItems.Digest() != byFunc.Digest() || byItems.Digest() != byMarks.Digest() {
				t.Errorf("left %v, %v and %v", itemsOf(byItems), itemsOf(byFunc), itemsOf(byMarks))
			}
			if byClear.Clear(); a == 15 && byClear.Digest() != byItems.Digest() {
				t.Error("erasing every item differs from Clear")
			}
		}
	})
}

func (s suite) EraseItemsOfManyItems(t *testing.T) {
	m := newMap(t, s.Numbers, Options{})
	hs := InsertN(t, m, 20_000) // more than one summary word of 64*64 rows
	var erased, kept []number
	for i, h := range hs {
		if i%7 == 0 || i > 12_000 && i < 17_000 {
			erased = append(erased, h)
		} else {
			kept = append(kept, h)
		}
	}
	if n := m.EraseItems(erased); n != len(erased) || m.Len() != len(kept) {
		t.Fatalf("%d of %d erased, %d of %d left", n, len(erased), m.Len(), len(kept))
	}
	for _, h := range kept {
		if v, ok := m.Get(h); !ok || *v != uint64(h.ID.Slot()) {
			t.Fatalf("%v names %s", h, Describe(v))
		}
	}
	for _, h := range erased {
		if m.Has(h) {
			t.Fatalf("%v resolves after its erase", h)
		}
	}
}

func (s suite) MarksCountDepletingItems(t *testing.T) {
	SetWidths(t, 2, 16)
	m := newMap(t, s.Numbers, Options{MaxItems: 16})
	m.EraseItems(InsertN(t, m, 4))
	hs := InsertN(t, m, 16) // the first four at their last generation
	var marks slotset.Bitset
	for _, h := range hs[2:6] {
		m.Core().Mark(&marks, h.ID)
	}
	if marks.Len() != 4 || marks.Depleting() != 2 || !m.Core().IsMarked(&marks, hs[2].ID) || m.Core().IsMarked(&marks, hs[6].ID) {
		t.Fatalf("%d marked, %d depleting", marks.Len(), marks.Depleting())
	}
	if m.Core().CanInsert(2, marks.Len(), marks.Depleting()) != nil || m.Core().CanInsert(3, marks.Len(), marks.Depleting()) == nil {
		t.Error("CanInsert does not take off the depleted slots")
	}
	m.Core().EraseMarked(&marks)
	if m.Core().CanInsert(2, 0, 0) != nil || m.Core().CanInsert(3, 0, 0) == nil || m.Core().Stats().Depleted != 2 {
		t.Error("the erase did not do what CanInsert said")
	}
	m.Core().Mark(&marks, hs[8].ID)
	if marks.Clear(); marks.Len() != 0 || m.Core().EraseMarked(&marks) != 0 {
		t.Error("cleared marks erase")
	}
}

func (s suite) TakeReturnsTheItem(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 3)
		if v, ok := m.Take(hs[1]); !ok || v != 1 {
			t.Errorf("Take gives %d, %t", v, ok)
		}
		if v, ok := m.Take(hs[1]); ok || v != 0 {
			t.Errorf("a second Take gives %d, %t", v, ok)
		}
	})
}
