package dense

import (
	"strings"
	"testing"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/seam"
	"handloom/internal/slotset"
)

func TestVerify_CitesInvariant(t *testing.T) {
	t.Cleanup(seam.Narrow(7, 16))

	for _, c := range []struct {
		cites   string
		what    string
		corrupt func(m *Set)
	}{
		{"S1", "a row without owner", func(m *Set) { m.meta = m.meta[:4] }},
		{"S1", "room for owners without rows", func(m *Set) { m.items = m.items.Clip(8) }},
		{"S1", "an owner without row", func(m *Set) { m.items = m.items.Resize(4) }},
		{"S2", "owners exchanged", func(m *Set) { m.meta[1], m.meta[2] = m.meta[2], m.meta[1] }},
		{"S2", "one owner twice", func(m *Set) { m.meta[1] = m.meta[2] }},
		{"S2", "a slot with another's row", func(m *Set) { m.set.SetRow(m.meta[1], 2) }},
		{"S2", "a slot with a row beyond the last", func(m *Set) { m.set.SetRow(m.meta[1], 5) }},
		{"S2", "a row owned by a vacant slot", func(m *Set) { m.items, m.meta = m.items.Resize(6), append(m.meta, 3) }},
		{"C1", "a column too short", func(m *Set) { m.Columns()[0].clip(m.Len()) }},
		{"C2", "an element past the last row", func(m *Set) { *(*int)(m.Columns()[0].At(m.Len())) = 1 }},
		{"S3", "a slot of another typeId", func(m *Set) { m.set.Words[2] ^= handle.New(1, 0, 0) }},
		{"G1", "a live slot at generation 0", func(m *Set) { m.set.Words[1] &^= 0xffff << 32 }},
	} {
		m, err := New(items.For[uint64](), handle.Options{TypeID: 5, Reserve: 10})
		noError(t, err)
		m.AddColumn(&Kind{"column", items.For[int]()})
		for range 7 {
			h, _ := Insert[uint64](m, 9)
			Erase(m, h)
		}
		hs, _ := m.InsertItems(items.From(make([]uint64, 7)), nil)
		m.EraseItems(hs[2:3])
		m.EraseItems(hs[3:4])
		if m.set.Handle(slotset.Slot(1)) != hs[0] || m.Stats().Depleted != 1 || m.Verify() != nil {
			t.Fatalf("setup: %+v, %v", m.Stats(), m.Verify())
		}
		c.corrupt(m)
		if err := m.Verify(); err == nil || !strings.Contains(err.Error(), "typeId 5: "+c.cites+":") {
			t.Errorf("%s: Verify says %v, want %s", c.what, err, c.cites)
		}
	}
}

// Items without pointers may remain there.
func TestVerify_FindsPointersPastLastRow(t *testing.T) {
	for _, row := range []int{2, 9} {
		one := 1
		if err := verifyWith(t, &one, row); err == nil || !strings.Contains(err.Error(), "S4:") {
			t.Errorf("row %d: Verify says %v, want S4", row, err)
		}
		noError(t, verifyWith(t, one, row))
	}
}

func verifyWith[T any](t *testing.T, v T, row int) error {
	m := Bind[T](new(Set))
	m.Reserve(10)
	for range 3 {
		Insert(m, v)
	}
	Erase(m, handle.Of[T]{ID: m.IDAt(1)})
	noError(t, m.Verify())
	all := *items.As[T](&m.items)
	all[:10][row] = v
	return m.Verify()
}
