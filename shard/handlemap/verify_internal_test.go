package handlemap

import (
	"strings"
	"testing"

	"handloom/internal/narrow"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Verify must be able to fail: each line breaks one thing, and Verify has to
// name the invariant.
func TestVerifyCitesTheInvariantThatIsBroken(t *testing.T) {
	generation, slots := narrow.LastGeneration, narrow.SlotLimit
	t.Cleanup(func() { narrow.LastGeneration, narrow.SlotLimit = generation, slots })
	narrow.LastGeneration, narrow.SlotLimit = 7, 16

	for _, c := range []struct {
		cites   string
		what    string
		corrupt func(m *Map[uint64])
	}{
		{"S1", "a row without owner", func(m *Map[uint64]) { m.meta = m.meta[:4] }},
		{"S1", "an owner without row", func(m *Map[uint64]) { m.items = m.items[:4] }},
		{"S2", "owners exchanged", func(m *Map[uint64]) { m.meta[1], m.meta[2] = m.meta[2], m.meta[1] }},
		{"S2", "one owner twice", func(m *Map[uint64]) { m.meta[1] = m.meta[2] }},
		{"S2", "a slot with another's row", func(m *Map[uint64]) { m.set.SetRow(m.meta[1], 2) }},
		{"S2", "a slot with a row beyond the last", func(m *Map[uint64]) { m.set.SetRow(m.meta[1], 5) }},
		{"S2", "a row owned by a vacant slot", func(m *Map[uint64]) {
			m.items, m.meta = m.items[:6], append(m.meta, 3)
		}},
		{"S3", "a slot of another typeId", func(m *Map[uint64]) { m.set.Words[2] ^= handle.New(1, 0, 0) }},
		{"S3", "a live slot marked vacant", func(m *Map[uint64]) { m.set.Words[1] += handle.FreeBit + 1<<32 }},
		{"S4", "an item left behind", func(m *Map[uint64]) { m.items[:6][5] = 1 }},
		{"S4", "an item left at the end of the array", func(m *Map[uint64]) { m.items[:cap(m.items)][cap(m.items)-1] = 1 }},
		{"F2", "a freelist that is a circle", func(m *Map[uint64]) { m.set.Words[4] |= 3 + 1 }},
		{"F2", "a freelist that leaves the slots", func(m *Map[uint64]) { m.set.Words[4] |= 1 << 20 }},
		{"F3", "a freelist that is cut", func(m *Map[uint64]) { m.set.Words[3] &^= 1<<32 - 1 }},
		{"G1", "a live slot at generation 0", func(m *Map[uint64]) { m.set.Words[1] &^= 0xffff << 32 }},
		{"G1", "a vacant slot that was never issued", func(m *Map[uint64]) { m.set.Words[4] -= 1 << 32 }},
		{"G2", "a depleted slot with a link", func(m *Map[uint64]) { m.set.Words[0] |= 2 }},
	} {
		// Slot 0 is depleted, slots 3 and 4 are vacant in this order.
		m, err := New[uint64](Options{TypeID: 5, Reserve: 10})
		if err != nil {
			t.Fatal(err)
		}
		for range 7 {
			h, _ := m.Insert(9)
			m.Erase(h)
		}
		var hs []handle.Of[uint64]
		hs, _ = m.InsertItems(make([]uint64, 7), hs)
		m.Erase(hs[2])
		m.Erase(hs[3])
		if m.set.Handle(sparse.Slot(1)) != hs[0].ID || m.Stats().Depleted != 1 || m.Verify() != nil {
			t.Fatalf("setup: %+v, %v", m.Stats(), m.Verify())
		}
		c.corrupt(m)
		if err := m.Verify(); err == nil || !strings.Contains(err.Error(), "typeId 5: "+c.cites+":") {
			t.Errorf("%s: Verify says %v, want %s", c.what, err, c.cites)
		}
	}
}
