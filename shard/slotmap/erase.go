package slotmap

import (
	"math/bits"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Erase removes the item that h names and reports whether there was one.
// Erasing twice is safe: the second call changes nothing and reports false.
//
// Erase takes O(1) time and moves no item. The row stays empty until its slot
// is issued again.
func (m *Map[T]) Erase(h handle.Of[T]) bool {
	m.guard("Erase")
	ok := m.has(h.ID)
	if ok {
		m.eraseSlot(sparse.Slot(h.Slot()))
	}
	return ok
}

// Take removes the item that h names, as [Map.Erase] does, and returns it.
func (m *Map[T]) Take(h handle.Of[T]) (T, bool) {
	m.guard("Take")
	var v T
	item, ok := m.Get(h)
	if ok {
		v = *item
		m.eraseSlot(sparse.Slot(h.Slot()))
	}
	return v, ok
}

// EraseItems removes the items that hs name and returns how many there were.
// Duplicates count once; stale, foreign and null handles not at all.
//
// The outcome depends on the set of items erased and not on the order of hs:
// the freed slots join the freelist in ascending order. It takes
// O(len(hs) + Rows()/4096) time.
func (m *Map[T]) EraseItems(hs []handle.Of[T]) int {
	m.guard("EraseItems")
	marks := m.scratch()
	for _, h := range hs {
		m.Mark(marks, h.ID)
	}
	return m.EraseMarked(marks)
}

// EraseFunc removes the items for which f returns true and returns how many
// there were, in the order of [Map.EraseItems]. f sees every item once, in
// ascending order of rows, before any is removed; it may change the item but
// not the map. When f panics nothing is removed. It takes
// O(Len() + Rows()/64) time.
func (m *Map[T]) EraseFunc(f func(h handle.Of[T], v *T) bool) int {
	m.guard("EraseFunc")
	marks := m.scratch()
	marks.Rows.Grow(m.Rows())
	m.markFunc(f, marks)
	return m.EraseMarked(marks)
}

func (m *Map[T]) markFunc(f func(handle.Of[T], *T) bool, marks *Marks) {
	done := false
	m.busy++
	defer func() {
		m.busy--
		if !done {
			marks.Clear()
		}
	}()
	for h, v := range m.All() {
		if f(h, v) {
			marks.Rows.Add(int(h.Slot()))
		}
	}
	done = true
}

// Marks is a set of items of one map, to be erased together. It lets a caller
// find out what an erase will do before doing it: [Map.Mark] only reads the
// map. Marks are good until the map changes; the zero Marks is empty. They are
// the Marks of package handlemap.
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
	if !m.has(id) {
		return Stale
	}
	return marks.Add(int(id.Slot()), m.slots, m.list.IsLast(id))
}

// Odd is a handle, by its index among others, that marked nothing.
type Odd = sparse.Odd

// MarkItems marks the items that ids name, appends those handles that mark
// nothing to odd and returns it. It takes O(len(ids)) amortized time and changes
// nothing but the marks.
func (m *Map[T]) MarkItems(marks *Marks, ids []handle.ID, odd []Odd) []Odd {
	for i, id := range ids {
		if marking := m.Mark(marks, id); marking != Marked {
			odd = append(odd, Odd{Index: i, Marking: marking})
		}
	}
	return odd
}

// VisitMarked calls f for each marked item, in ascending order of slots.
func (m *Map[T]) VisitMarked(marks *Marks, f func(h handle.Of[T], v *T)) {
	for base, marked := range marks.Rows.Words {
		for ; marked != 0; marked &= marked - 1 {
			slot := base + bits.TrailingZeros64(marked)
			c := &m.pages[slot>>m.shift][handle.ID(slot)&m.mask]
			f(handle.Of[T]{ID: c.word}, &c.item)
		}
	}
}

// IsMarked reports whether id names an item that is marked.
func (m *Map[T]) IsMarked(marks *Marks, id handle.ID) bool {
	return m.has(id) && marks.Rows.Has(int(id.Slot()))
}

// EraseMarked removes the marked items, empties marks and returns how many
// there were. The order is that of [Map.EraseItems].
func (m *Map[T]) EraseMarked(marks *Marks) int {
	m.guard("EraseMarked")
	for base, word := range marks.Rows.Words {
		for ; word != 0; word &= word - 1 {
			m.eraseSlot(sparse.Slot(base + bits.TrailingZeros64(word)))
		}
	}
	erased := marks.Len()
	marks.Clear()
	return erased
}

// Clear removes every item and keeps the memory. The slots of the items join
// the freelist in ascending order, behind those that are vacant already and
// whose generations do not change. It takes O(Len() + Rows()/64) time.
func (m *Map[T]) Clear() {
	m.guard("Clear")
	for first, end := range m.live.Runs(0, m.slots) {
		for slot := first; slot < end; slot++ {
			m.eraseSlot(sparse.Slot(slot))
		}
	}
}

// Reset removes every item and gives back the memory. While the highest
// generation ever issued is below 32,768 it also forgets the slots: new ones
// begin above that generation, so that handles from before stay stale. Later
// it keeps the slots and does what [Map.Clear] does. It takes O(Rows()/4096)
// time, plus that of Clear in the second case.
func (m *Map[T]) Reset() {
	m.guard("Reset")
	if !m.list.CanDrop() {
		m.Clear()
		return
	}
	m.list.Drop()
	m.pages, m.kept, m.marks = nil, nil, nil
	m.slots, m.room, m.released = 0, 0, 0
	m.live.Clear() // an iteration may be reading it
	m.live = sparse.Live{}
}

func (m *Map[T]) scratch() *Marks {
	if m.marks == nil {
		m.marks = new(Marks)
	}
	return m.marks
}
