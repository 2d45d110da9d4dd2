package slotmap

import (
	"fmt"
	"slices"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Insert adds v and returns its handle. It takes O(1) time, that of making one
// page at worst, and moves no item.
//
// It fails with [ErrFull], and then nothing has changed. A vacant slot is
// reused, oldest first, before a new one is made, unless no more than MinFree
// are vacant; at the slot limit those are used as well.
func (m *Map[T]) Insert(v T) (handle.Of[T], error) {
	if m.busy == 0 && m.released == 0 && (m.maxItems == 0 || m.Len() < m.maxItems) {
		var c *cell[T]
		switch {
		case m.list.Next != 0 && m.slots < m.room:
			// What makeSlot does, without its calls (op=insert).
			slot := m.slots
			m.slots++
			c = m.cell(sparse.Slot(slot))
			c.word = m.list.Next | handle.ID(slot)
			m.live.Pages[slot/64/sparse.BitmapWords][slot/64%sparse.BitmapWords] |= 1 << (slot % 64)
		case m.list.CanReuse():
			c = m.reuse()
		case m.slots < m.room:
			c = m.makeSlot()
		default:
			return m.insertSlow(v)
		}
		c.item = v
		return handle.Of[T]{ID: c.word}, nil
	}
	return m.insertSlow(v)
}

// insertSlow is Insert where a page is missing, a limit is near or a callback
// runs.
func (m *Map[T]) insertSlow(v T) (handle.Of[T], error) {
	m.guard("Insert")
	if err := m.makeRoom(1); err != nil {
		return handle.Of[T]{}, err
	}
	var h handle.Of[T]
	m.issue(1, func(_ int, c *cell[T]) {
		c.item = v
		h.ID = c.word
	})
	return h, nil
}

// InsertFunc adds an item that f fills in where it lies, knowing its own
// handle, which names nothing until f has returned. Costs and errors are those
// of [Map.Insert]; when f panics nothing is inserted.
func (m *Map[T]) InsertFunc(f func(h handle.Of[T], v *T)) (handle.Of[T], error) {
	m.guard("InsertFunc")
	one, err := m.EmplaceItems(1, func(_ int, h handle.Of[T], v *T) { f(h, v) }, m.one[:0])
	if err != nil {
		return handle.Of[T]{}, err
	}
	m.one = one
	return one[0], nil
}

// InsertItems adds copies of items and appends their handles to dst, which it
// returns. All are inserted or, with [ErrFull], none, and dst is returned as it
// was. It takes O(n) time and moves no item.
func (m *Map[T]) InsertItems(items []T, dst []handle.Of[T]) ([]handle.Of[T], error) {
	m.guard("InsertItems")
	n := len(items)
	if n == 0 {
		return dst, nil
	}
	if err := m.makeRoom(n); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, n)
	handles := dst[len(dst) : len(dst)+n]
	m.issue(n, func(i int, c *cell[T]) {
		c.item = items[i]
		handles[i].ID = c.word
	})
	return dst[:len(dst)+n], nil
}

// EmplaceItems adds n items that f fills in where they lie, each knowing its
// own handle, and appends the handles to dst, which it returns. i counts from
// 0; the handles name nothing until EmplaceItems has returned. All are inserted
// or, with [ErrFull] or when f panics, none. It takes O(n) time and moves no
// item. A negative n panics.
func (m *Map[T]) EmplaceItems(n int, f func(i int, h handle.Of[T], v *T), dst []handle.Of[T]) ([]handle.Of[T], error) {
	m.guard("EmplaceItems")
	if n < 0 {
		panic(fmt.Sprintf("slotmap: EmplaceItems of %d items", n))
	}
	if n == 0 {
		return dst, nil
	}
	if err := m.makeRoom(n); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, n)
	handles := dst[len(dst) : len(dst)+n]
	m.foretell(n, func(i int, id handle.ID) { handles[i].ID = id })
	m.fill(f, handles)
	m.issue(n, func(int, *cell[T]) {})
	return dst[:len(dst)+n], nil
}

// fill calls f for the items that handles will name. They are not in the map
// yet, so that a panic leaves nothing to undo but their values.
func (m *Map[T]) fill(f func(int, handle.Of[T], *T), handles []handle.Of[T]) {
	done := false
	m.busy++
	m.staged = handles
	defer func() {
		m.busy--
		m.staged = nil
		if !done {
			for _, h := range handles {
				var none T
				m.cell(sparse.Slot(h.Slot())).item = none // S4
			}
		}
	}()
	for i, h := range handles {
		f(i, h, &m.cell(sparse.Slot(h.Slot())).item)
	}
	done = true
}
