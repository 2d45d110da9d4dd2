package maptest

import (
	"slices"
	"testing"

	"handloom/internal/slotset"
)

// Worn returns a map with live, vacant and depleted slots, a freelist out of
// order and, where the width allows, a floor.
func Worn(t *testing.T, k Maker[uint64]) (Map[uint64], []number) {
	t.Helper()
	m := newMap(t, k, Options{TypeID: 6, MinFree: 1, MaxItems: 12})
	InsertN(t, m, 2)
	m.Reset()
	hs := InsertN(t, m, 9)
	for _, i := range []int{7, 2, 5} {
		m.Erase(hs[i])
	}
	return m, slices.DeleteFunc(hs, func(h number) bool { return !m.Has(h) })
}

// nth returns the handle of the n-th item.
func nth(m Map[uint64], n int) number { return slices.Collect(m.Handles())[n] }

// lead takes m through calls that show freelist order, generations and limits.
func lead(m Map[uint64]) (issued []number) {
	for i := range 40 {
		h, err := m.Insert(uint64(100 + i))
		if err == nil {
			issued = append(issued, h)
		}
		if i%3 != 0 || err != nil {
			m.Erase(nth(m, i%m.Len()))
		}
	}
	m.Reset()
	h, _ := m.Insert(7)
	return append(issued, h)
}

func (s suite) ACloneFedTheSameCallsEvolvesEqually(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m, _ := Worn(t, s.Numbers)
		c := m.Cloned()
		VerifyAtEnd(t, c)
		if c.Digest() != m.Digest() {
			t.Fatal("a fresh clone differs")
		}
		a, b := lead(m), lead(c)
		if !slices.Equal(a, b) || m.Digest() != c.Digest() || m.Core().Stats().Depleted != c.Core().Stats().Depleted {
			t.Errorf("the original issued %v, the clone %v", a, b)
		}
	})
}

func (s suite) ACloneIsIndependent(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m, hs := Worn(t, s.Numbers)
		c := m.Cloned()
		VerifyAtEnd(t, c)
		before := m.Digest()
		*c.At(hs[0]) = 77
		c.EraseItems(hs[1:3])
		c.Insert(3)
		lead(c)
		if m.Digest() != before {
			t.Error("changes of the clone changed the original")
		}
		c2 := m.Cloned()
		lead(m)
		if c2.Digest() != before {
			t.Error("changes of the original changed the clone")
		}
	})
}

func (s suite) CloneKeepsDepletionAndFloor(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		deplete(t, m)
		if c := m.Cloned(); c.Core().Stats().Depleted != 1 || Insert(t, c, 0).ID.Slot() != 1 {
			t.Errorf("the clone has %+v", c.Core().Stats())
		}
		m = newMap(t, s.Numbers, Options{})
		for range slotset.LastGeneration() / 2 {
			m.Erase(Insert(t, m, 0))
		}
		m.Reset()
		if h := Insert(t, m.Cloned(), 0); h.ID.Generation() != slotset.LastGeneration()/2+1 {
			t.Errorf("the clone of a reset map issues %v", h)
		}
	})
}

// The arrays of a copy must keep growing together, whatever room the allocator
// rounds each of them up to.
func (s suite) ClonesOfEverySizeCanGrow(t *testing.T) {
	m := newMap(t, s.Bytes, Options{})
	for n := range 70 {
		for _, c := range []Map[uint8]{m.Cloned(), m.Cloned()} {
			VerifyAtEnd(t, c)
			if n%2 == 1 {
				c.Shrink()
			}
			for i := range 70 {
				if h := Insert(t, c, uint8(i)); c.At(h) != itemAt(c, n+i) || *c.At(h) != uint8(i) {
					t.Fatalf("the clone of %d items gives %v for insert %d", n, h, i)
				}
			}
		}
		Insert(t, m, uint8(n))
	}
}

func (s suite) CloneOfAnUnusedMap(t *testing.T) {
	m := s.Numbers.Zero()
	c := m.Cloned()
	if h := Insert(t, c, 1); h != Numbered(0, 1, 0) || m.Len() != 0 {
		t.Errorf("the clone issues %v", h)
	}
}
