package paged

import (
	"strings"
	"testing"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/seam"
	"handloom/internal/slotset"
)

// large makes pages of two rows.
type large struct {
	first *int
	_     [2 << 10]uint64
	last  *int
}

// Each case breaks one thing, and Verify must name the invariant.
func TestVerify_CitesInvariant(t *testing.T) {
	t.Cleanup(seam.Narrow(7, 16))

	for _, c := range []struct {
		cites   string
		what    string
		corrupt func(m *Set)
	}{
		{"S1", "a page too few", func(m *Set) { m.pages = m.pages[:5] }},
		{"S1", "room without pages", func(m *Set) { m.room = 16 }},
		{"S1", "a bitmap too small", func(m *Set) { m.live = slotset.Live{} }},
		{"S1", "a released page too many", func(m *Set) { m.released++ }},
		{"S1", "a released page with an item", func(m *Set) { m.pages[0].items, m.released = nil, m.released+1 }},
		{"H2", "a null handle that names slot 0", func(m *Set) { *m = *m.EmptyLike(); m.Reserve(2); *m.word(0) = 0 }},
		{"S2", "a live slot that holds another row", func(m *Set) { *m.word(1) ^= 2 }},
		{"S2", "a live slot not in the bitmap", func(m *Set) { m.live.Remove(1) }},
		{"S2", "a vacant slot in the bitmap", func(m *Set) { m.live.Add(2) }},
		{"S2", "a slot never issued in the bitmap", func(m *Set) { m.live.Add(11) }},
		{"S3", "a slot of another typeId", func(m *Set) { *m.word(1) ^= 1 << 48 }},
		{"S4", "an item left in a vacant row", func(m *Set) { (*large)(m.item(2)).last = new(int) }},
		{"S4", "an item in a row not issued", func(m *Set) { (*large)(m.item(11)).first = new(int) }},
		{"H2", "a handle in a row not issued", func(m *Set) { *m.word(11) = handle.New(5, 1, 11) }},
		{"S3", "too many slots", func(m *Set) { m.slots++ }},
		{"G1", "a live slot at generation 0", func(m *Set) { *m.word(1) &^= 0xffff << 32 }},
	} {
		// Slot 0 is depleted. Slots 2, 4 and 5 are vacant in this order. The pages of 4 and
		// 5, and of 8 and 9, are released. Slot 11 was never issued.
		m, err := New(TypeFor[large](), handle.Options{TypeID: 5})
		if err != nil {
			t.Fatal(err)
		}
		for range 7 {
			h, _ := Insert(m, large{})
			Erase(m, h)
		}
		hs, _ := m.InsertItems(items.From(make([]large, 10)), nil)
		m.EraseItems([]handle.ID{hs[1], hs[3], hs[4], hs[7], hs[8]})
		m.Shrink()
		if m.shift != 1 || m.slots != 11 || m.released != 2 || m.Stats().Depleted != 1 || m.Verify() != nil {
			t.Fatalf("setup: %+v, pages of %d, %d given back, %v", m.Stats(), 1<<m.shift, m.released, m.Verify())
		}
		c.corrupt(m)
		if err := m.Verify(); err == nil || !strings.Contains(err.Error(), "typeId 5: "+c.cites+":") {
			t.Errorf("%s: Verify says %v, want %s", c.what, err, c.cites)
		}
	}
}
