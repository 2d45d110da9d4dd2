package handlemap

import (
	"handloom/internal/canary"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Erase removes the item that h names and reports whether there was one.
// Erasing twice is safe: the second call changes nothing and reports false.
//
// Erase takes O(1) time. It moves the item of the last row into the gap, so it
// changes the order of [Map.All] but no handle. Pointers obtained from
// [Map.Get] are no longer good.
func (m *Map[T]) Erase(h handle.Of[T]) bool {
	m.guard("Erase")
	row, ok := m.RowOf(h)
	if ok {
		m.eraseRow(row, sparse.Slot(h.Slot()))
	}
	return ok
}

// Take removes the item that h names, as [Map.Erase] does, and returns it.
func (m *Map[T]) Take(h handle.Of[T]) (T, bool) {
	m.guard("Take")
	var v T
	row, ok := m.RowOf(h)
	if ok {
		v = m.items[row]
		m.eraseRow(row, sparse.Slot(h.Slot()))
	}
	return v, ok
}

// eraseRow swaps the row with the last one and pops that. slot is the row's
// owner; the meta set is not asked, which at random rows would be one more wait
// for memory (op=erase).
func (m *Map[T]) eraseRow(row int, slot sparse.Slot) {
	last := len(m.items) - 1
	if row != last {
		moved := m.meta[last]
		m.items[row] = m.items[last]
		m.meta[row] = moved
		if canary.Enabled && canary.On(canary.SwapForgetsSlot) {
			moved = slot
		}
		w := &m.set.Words[moved]
		*w = *w&sparse.UpperHalf | handle.ID(row)
	}
	var none T
	if !canary.Enabled || !canary.On(canary.TailNotZeroed) {
		m.items[last] = none // S4: the collector can free what the item held
	}
	m.items = m.items[:last]
	m.meta = m.meta[:last]
	m.set.Vacate(slot)
	if canary.Enabled && canary.On(canary.SwapWhenLast) && row == last {
		m.set.SetRow(slot, sparse.Row(row))
	}
	if m.known != nil {
		m.known.shorten(last)
		m.known.change(row)
	}
}

// EraseItems removes the items that hs name and returns how many there were.
// Duplicates count once; stale, foreign and null handles not at all.
//
// The outcome depends on the set of items erased and not on the order of hs:
// with n the new length, the gaps below row n take the surviving items at or
// above row n, both in ascending order, and the freed slots join the freelist
// in ascending order of the rows they had. It takes O(len(hs) + Len()/4096)
// time (op=eraseitems).
func (m *Map[T]) EraseItems(hs []handle.Of[T]) int {
	m.guard("EraseItems")
	if len(hs) == 1 { // no need to mark
		if m.Erase(hs[0]) {
			return 1
		}
		return 0
	}
	marks := m.scratch()
	m.set.MarkAll(marks, handle.IDs(hs), len(m.items))
	return m.EraseMarked(marks)
}

// EraseFunc removes the items for which f returns true and returns how many
// there were, in the order of [Map.EraseItems]. f sees every item once, in
// dense order, before any is removed; it may change the item but not the map.
// When f panics nothing is removed. It takes O(Len()) time.
func (m *Map[T]) EraseFunc(f func(h handle.Of[T], v *T) bool) int {
	m.guard("EraseFunc")
	marks := m.scratch()
	marks.Rows.Grow(len(m.items))
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
	for row := range m.items {
		if f(m.HandleAt(row), &m.items[row]) {
			marks.Rows.Add(row)
		}
	}
	done = true
}

// Clear removes every item and keeps the memory. The slots of the items join
// the freelist in dense order, behind those that are vacant already and whose
// generations do not change. It takes O(Len()) time (op=clear).
func (m *Map[T]) Clear() {
	m.guard("Clear")
	m.set.VacateAll(m.meta)
	clear(m.items)
	m.items, m.meta = m.items[:0], m.meta[:0]
	m.forgetOrder()
}

// Reset removes every item and gives back the memory. While the highest
// generation ever issued is below 32,768 it also forgets the slots: new ones
// begin above that generation, so that handles from before stay stale. Later
// it keeps the slots and does what [Map.Clear] does. It takes O(1) time, plus
// that of Clear in the second case.
func (m *Map[T]) Reset() {
	m.guard("Reset")
	if !m.set.CanDrop() {
		m.Clear()
		return
	}
	m.set.Drop()
	m.items, m.meta, m.marks = nil, nil, nil
	m.known, m.reordering = nil, reordering[T]{}
}

func (m *Map[T]) scratch() *Marks {
	if m.marks == nil {
		m.marks = new(Marks)
	}
	return m.marks
}
