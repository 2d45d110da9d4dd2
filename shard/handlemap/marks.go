package handlemap

import (
	"math/bits"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Marks is a set of items of one map, to be erased together. It lets a caller
// find out what an erase will do before doing it: [Map.Mark] only reads the
// map. Marks are good until the map changes; the zero Marks is empty. Its
// methods are Len and Depleting, which count the marked items and those of them
// whose erase depletes their slots, and Clear, which unmarks everything.
type Marks = sparse.Marks

// Marking is what [Map.Mark] did with a handle.
type Marking = sparse.Marking

const (
	Stale  = sparse.Stale  // the handle names no item
	Again  = sparse.Again  // the item was marked before
	Marked = sparse.Marked // the item is marked now
)

// Mark marks the item that id names. It takes O(1) amortized time and changes
// nothing but the marks.
func (m *Map[T]) Mark(marks *Marks, id handle.ID) Marking {
	return m.set.Mark(marks, id, len(m.items))
}

// Odd is a handle, by its index among others, that marked nothing.
type Odd = sparse.Odd

// MarkItems marks the items that ids name, appends those handles that mark
// nothing to odd and returns it. It takes O(len(ids)) amortized time and changes
// nothing but the marks.
func (m *Map[T]) MarkItems(marks *Marks, ids []handle.ID, odd []Odd) []Odd {
	return m.set.MarkItems(marks, ids, len(m.items), odd)
}

// VisitMarked calls f for each marked item, in ascending order of rows.
func (m *Map[T]) VisitMarked(marks *Marks, f func(h handle.Of[T], v *T)) {
	for base, marked := range marks.Rows.Words {
		for ; marked != 0; marked &= marked - 1 {
			row := base + bits.TrailingZeros64(marked)
			f(m.HandleAt(row), &m.items[row])
		}
	}
}

// IsMarked reports whether id names an item that is marked.
func (m *Map[T]) IsMarked(marks *Marks, id handle.ID) bool {
	row, ok := m.set.Lookup(id)
	return ok && marks.Rows.Has(int(row))
}

// EraseMarked removes the marked items, empties marks and returns how many
// there were. The order is that of [Map.EraseItems].
func (m *Map[T]) EraseMarked(marks *Marks) int {
	m.guard("EraseMarked")
	items := m.items
	erased := marks.Len()
	kept := len(items) - erased
	moves := m.set.EraseMarked(marks, m.meta)
	for _, move := range moves {
		items[move.To] = items[move.From]
	}
	clear(items[kept:]) // S4
	m.items, m.meta = items[:kept], m.meta[:kept]
	if m.known != nil {
		m.known.erased(moves, kept)
	}
	marks.Clear()
	return erased
}
