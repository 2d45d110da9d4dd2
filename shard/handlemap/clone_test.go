package handlemap_test

import (
	"slices"
	"testing"

	"handloom/internal/narrow"
	"handloom/shard/handlemap"
)

// wornMap returns a map with live, vacant and depleted slots, a freelist out of
// order and, where the width allows, a floor.
func wornMap(t *testing.T) (*handlemap.Map[uint64], []number) {
	t.Helper()
	m := newMap[uint64](t, handlemap.Options{TypeID: 6, MinFree: 1, MaxItems: 12})
	insertN(t, m, 2)
	m.Reset()
	hs := insertN(t, m, 9)
	for _, i := range []int{7, 2, 5} {
		m.Erase(hs[i])
	}
	return m, slices.DeleteFunc(hs, func(h number) bool { return !m.Has(h) })
}

// lead takes m through calls that show freelist order, generations and limits.
func lead(m *handlemap.Map[uint64]) (issued []number) {
	for i := range 40 {
		h, err := m.Insert(uint64(100 + i))
		if err == nil {
			issued = append(issued, h)
		}
		if i%3 != 0 || err != nil {
			m.Erase(m.HandleAt(i % m.Len()))
		}
	}
	m.Reset()
	h, _ := m.Insert(7)
	return append(issued, h)
}

func TestACloneFedTheSameCallsEvolvesEqually(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		m, _ := wornMap(t)
		c := m.Clone()
		verifyAtEnd(t, c)
		if c.Digest() != m.Digest() {
			t.Fatal("a fresh clone differs")
		}
		a, b := lead(m), lead(c)
		if !slices.Equal(a, b) || m.Digest() != c.Digest() || m.Stats().Depleted != c.Stats().Depleted {
			t.Errorf("the original issued %v, the clone %v", a, b)
		}
	})
}

func TestACloneIsIndependent(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		m, hs := wornMap(t)
		c := m.Clone()
		verifyAtEnd(t, c)
		before := m.Digest()
		*c.At(hs[0]) = 77
		c.EraseItems(hs[1:3])
		c.Insert(3)
		lead(c)
		if m.Digest() != before {
			t.Error("changes of the clone changed the original")
		}
		c2 := m.Clone()
		lead(m)
		if c2.Digest() != before {
			t.Error("changes of the original changed the clone")
		}
	})
}

func TestCloneKeepsDepletionAndFloor(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		m := newMap[uint64](t, handlemap.Options{})
		deplete(t, m)
		if c := m.Clone(); c.Stats().Depleted != 1 || insert(t, c, 0).ID.Slot() != 1 {
			t.Errorf("the clone has %+v", c.Stats())
		}
		m = newMap[uint64](t, handlemap.Options{})
		for range narrow.LastGeneration / 2 {
			m.Erase(insert(t, m, 0))
		}
		m.Reset()
		if h := insert(t, m.Clone(), 0); h.ID.Generation() != narrow.LastGeneration/2+1 {
			t.Errorf("the clone of a reset map issues %v", h)
		}
	})
}

// The arrays of a copy must keep growing together, whatever room the allocator
// rounds each of them up to.
func TestClonesOfEverySizeCanGrow(t *testing.T) {
	m := newMap[uint8](t, handlemap.Options{})
	for n := range 70 {
		for _, c := range []*handlemap.Map[uint8]{m.Clone(), m.Clone()} {
			verifyAtEnd(t, c)
			if n%2 == 1 {
				c.Shrink()
			}
			for i := range 70 {
				if h := insert(t, c, uint8(i)); c.At(h) != &c.Items()[n+i] || *c.At(h) != uint8(i) {
					t.Fatalf("the clone of %d items gives %v for insert %d", n, h, i)
				}
			}
		}
		insert(t, m, uint8(n))
	}
}

func TestCloneOfAnUnusedMap(t *testing.T) {
	var m handlemap.Map[uint64]
	c := m.Clone()
	if h := insert(t, c, 1); h != number64(0, 1, 0) || m.Len() != 0 {
		t.Errorf("the clone issues %v", h)
	}
}
