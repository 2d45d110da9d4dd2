package maptest

import (
	"slices"
	"testing"
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
