package handlemap

import (
	"math/bits"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Marks is a set of items of one map, to be erased together. It lets a caller
// find out what an erase will do before doing it: [Map.Mark] only reads the
// map. Marks are good until the map changes; the zero Marks is empty.
type Marks struct {
	rows      sparse.Bits
	depleting int
}

// Marking is what [Map.Mark] did with a handle.
type Marking int

const (
	Stale  Marking = iota // the handle names no item
	Again                 // the item was marked before
	Marked                // the item is marked now
)

// Mark marks the item that id names. It takes O(1) amortized time and changes
// nothing but the marks.
func (m *Map[T]) Mark(marks *Marks, id handle.ID) Marking {
	row, ok := m.set.Lookup(id)
	if !ok {
		return Stale
	}
	marks.rows.Grow(len(m.items))
	if !marks.rows.Add(int(row)) {
		return Again
	}
	if m.set.IsLast(id) {
		marks.depleting++
	}
	return Marked
}

// IsMarked reports whether id names an item that is marked.
func (m *Map[T]) IsMarked(marks *Marks, id handle.ID) bool {
	row, ok := m.set.Lookup(id)
	return ok && marks.rows.Has(int(row))
}

// Len returns how many items are marked.
func (k *Marks) Len() int { return k.rows.Count() }

// Depleting returns how many of the items marked by handle are at their last
// generation, so that erasing them depletes their slots.
func (k *Marks) Depleting() int { return k.depleting }

// Clear unmarks everything and keeps the memory.
func (k *Marks) Clear() {
	k.rows.Clear()
	k.depleting = 0
}

// EraseMarked removes the marked items, empties marks and returns how many
// there were. The order is that of [Map.EraseItems].
//
// The loop is kept whole: it runs for every erase of a flush (op=eraseitems).
func (m *Map[T]) EraseMarked(marks *Marks) int {
	m.guard("EraseMarked")
	items, meta := m.items, m.meta
	kept := len(items) - marks.Len()
	survivor := kept // the next row at or above kept that may have to move
	for base, word := range marks.rows.Words() {
		for ; word != 0; word &= word - 1 {
			row := base + bits.TrailingZeros64(word)
			m.set.Vacate(meta[row])
			if row >= kept {
				continue
			}
			for marks.rows.Has(survivor) {
				survivor++
			}
			slot := meta[survivor]
			items[row] = items[survivor]
			meta[row] = slot
			m.set.SetRow(slot, sparse.Row(row))
			survivor++
		}
	}
	clear(items[kept:]) // S4
	m.items, m.meta = items[:kept], meta[:kept]
	erased := marks.Len()
	marks.Clear()
	return erased
}
