package slotmap

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"handloom/internal/digest"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Verify checks every invariant of the map and of its sparse set and returns
// an error that cites the first one broken, or nil. It takes O(Cap()) time and
// changes nothing.
func (m *Map[T]) Verify() error {
	if err := m.verify(); err != nil {
		return fmt.Errorf("slotmap: typeId %d: %w", m.TypeID(), err)
	}
	return nil
}

func (m *Map[T]) verify() error {
	if err := m.verifyPages(); err != nil {
		return err
	}
	word := func(slot sparse.Slot) handle.ID { return *m.word(slot) }
	err := m.list.VerifyWords(m.slots, word, func(slot sparse.Slot, row sparse.Row) error {
		if sparse.Slot(row) != slot {
			return fmt.Errorf("S2: live slot %d holds row %d", slot, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for slot := range len(m.pages) << m.shift {
		if err := m.verifyCell(sparse.Slot(slot)); err != nil {
			return err
		}
	}
	return nil
}

// verifyPages checks that there is a page for every slot.
func (m *Map[T]) verifyPages() error {
	released := 0
	for p, page := range m.pages {
		if len(page) != 1<<m.shift {
			return fmt.Errorf("S1: page %d has %d rows, not %d", p, len(page), 1<<m.shift)
		}
		if m.isReleased(p) {
			released++
		}
	}
	if released != m.released {
		return fmt.Errorf("S1: %d pages are given back, but the count says %d", released, m.released)
	}
	if rows := len(m.pages) << m.shift; m.slots > m.room || m.room > rows || rows > m.live.Cap() {
		return fmt.Errorf("S1: %d slots, room for %d, %d pages of %d rows, a bitmap of %d",
			m.slots, m.room, len(m.pages), 1<<m.shift, m.live.Cap())
	}
	return nil
}

// verifyCell checks that the bitmap is right about the slot, that a cell without
// an item is empty, and that a slot without memory or not issued yet matches no
// handle.
func (m *Map[T]) verifyCell(slot sparse.Slot) error {
	row, c := sparse.Row(slot), m.cell(slot)
	issued := int(slot) < m.slots
	live := issued && !m.word(slot).IsProvisional()
	if m.live.Has(row) != live {
		return fmt.Errorf("S2: slot %d has word %v, an item by the bitmap: %t", slot, *m.word(slot), !live)
	}
	if released := m.isReleased(int(slot >> m.shift)); released || !issued {
		if live || c.word != 0 && (slot&sparse.Slot(m.mask) != 0 || c.word != handle.FreeBit) || slot == 0 && c.word == 0 {
			return fmt.Errorf("H2: slot %d, without an item, has word %v where lookups look", slot, c.word)
		}
	}
	if !live && !m.isStaged(int(row)) && !isZero(&c.item) {
		return fmt.Errorf("S4: the item at row %d, which is empty, is not zero", row)
	}
	return nil
}

// isZero looks at the bytes first, which is much faster and nearly always
// enough.
func isZero[T any](v *T) bool {
	for _, b := range unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) {
		if b != 0 {
			return reflect.ValueOf(v).Elem().IsZero()
		}
	}
	return true
}

func (m *Map[T]) isStaged(row int) bool {
	return slices.ContainsFunc(m.staged, func(h handle.Of[T]) bool { return int(h.Slot()) == row })
}

// Digest returns a 64-bit hash of the state: slots, generations, freelist
// order, depletion, MinFree and item values, but not capacity. It takes O(slots)
// time.
//
// Maps with equal digests answer every future sequence of calls equally, but for a
// chance of one in 2^64, as far as digests see: not what lies behind pointers,
// functions and channels, nor fields named _, nor MaxItems. Slices, maps and
// interfaces are followed; package digest of the module says how values are
// encoded.
func (m *Map[T]) Digest() uint64 {
	var h digest.Hash
	m.list.DigestWords(&h, m.slots, func() {
		for slot := range m.slots {
			h.Uint64(uint64(*m.word(sparse.Slot(slot))))
		}
	})
	plan := digest.For[T]()
	for first, end := range m.live.Runs(0, m.slots) {
		for slot := first; slot < end; slot++ {
			c := m.cell(sparse.Slot(slot))
			plan.Items(&h, unsafe.Slice(&c.item, 1))
		}
	}
	return h.Sum()
}
