package handlemap

import (
	"fmt"
	"reflect"

	"handloom/internal/digest"
	"handloom/internal/sparse"
)

// Verify checks every invariant of the map and of its sparse set and returns
// an error that cites the first one broken, or nil. It takes O(slots + Cap())
// time and changes nothing.
func (m *Map[T]) Verify() error {
	if err := m.verify(); err != nil {
		return fmt.Errorf("handlemap: typeId %d: %w", m.TypeID(), err)
	}
	return nil
}

func (m *Map[T]) verify() error {
	if len(m.items) != len(m.meta) {
		return fmt.Errorf("S1: %d items, but %d rows in the meta set", len(m.items), len(m.meta))
	}
	live := 0
	err := m.set.Verify(func(slot sparse.Slot, row sparse.Row) error {
		live++
		if int(row) >= len(m.meta) || m.meta[row] != slot {
			return fmt.Errorf("S2: slot %d holds row %d, whose owner it is not", slot, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Every live slot owns the row it holds, and two slots cannot own one row;
	// equal counts therefore mean that every row has its slot.
	if live != len(m.items) {
		return fmt.Errorf("S2: %d live slots for %d rows", live, len(m.items))
	}
	beyond := len(m.items) + m.staged
	for i, v := range m.items[beyond:cap(m.items)] {
		if !reflect.ValueOf(&v).Elem().IsZero() {
			return fmt.Errorf("S4: the item at row %d, beyond the length %d, is not zero", beyond+i, beyond)
		}
	}
	return m.verifyOrdering()
}

// Digest returns a 64-bit hash of the state: slots, generations, freelist
// order, depletion, MinFree, row order, what Defragment knows, and item values, but
// not capacity. It takes O(slots) time.
//
// Maps with equal digests answer every future sequence of calls equally, but for a
// chance of one in 2^64, as far as digests see: not what lies behind pointers,
// functions and channels, nor fields named _, nor MaxItems. Slices, maps and
// interfaces are followed; package digest of the module says how values are
// encoded.
func (m *Map[T]) Digest() uint64 {
	var h digest.Hash
	m.set.Digest(&h) // the words of live slots hold the row order
	m.known.digest(&h)
	digest.For[T]().Items(&h, m.items)
	return h.Sum()
}
