package handlemap

import (
	"fmt"
	"slices"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Insert adds v behind the last row and returns its handle. It takes O(1)
// amortized time and invalidates pointers to items when the dense set grows.
//
// It fails with [ErrFull], and then nothing has changed. A vacant slot is
// reused, oldest first, before a new one is made, unless no more than MinFree
// are vacant; at the slot limit those are used as well.
func (m *Map[T]) Insert(v T) (handle.Of[T], error) {
	row, slot := len(m.items), len(m.set.Words)
	next := m.set.Next
	if next == 0 || row >= cap(m.items) || slot >= cap(m.set.Words) || m.busy != 0 {
		return m.insertReused(v)
	}
	// Written out, for calls to the sparse set would cost as much as all the
	// rest (op=insert).
	m.set.Words = m.set.Words[:slot+1]
	m.set.Words[slot] = next | handle.ID(row)
	m.meta = m.meta[:row+1]
	m.meta[row] = sparse.Slot(slot)
	m.items = m.items[:row+1]
	m.items[row] = v
	return handle.Of[T]{ID: next | handle.ID(slot)}, nil
}

// insertReused is Insert where a vacant slot is issued.
func (m *Map[T]) insertReused(v T) (handle.Of[T], error) {
	row := len(m.items)
	if row < cap(m.items) && m.busy == 0 {
		if id, ok := m.set.TryIssue(sparse.Row(row)); ok {
			m.meta = m.meta[:row+1]
			m.meta[row] = sparse.Slot(id)
			m.items = m.items[:row+1]
			m.items[row] = v
			return handle.Of[T]{ID: id}, nil
		}
	}
	return m.insertSlow(v)
}

// insertSlow is Insert where an array grows, a limit is near or a callback
// runs.
func (m *Map[T]) insertSlow(v T) (handle.Of[T], error) {
	m.guard("Insert")
	if err := m.makeRoom(1); err != nil {
		return handle.Of[T]{}, err
	}
	row := len(m.items)
	m.items = append(m.items, v)
	m.one = slices.Grow(m.one[:0], 1)[:1]
	m.issue(row, m.one)
	return m.one[0], nil
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

// InsertItems adds copies of items behind the last row and appends their
// handles to dst, which it returns. All are inserted or, with [ErrFull], none,
// and dst is returned as it was. It takes O(n) time and grows each array at
// most once (op=insertitems).
func (m *Map[T]) InsertItems(items []T, dst []handle.Of[T]) ([]handle.Of[T], error) {
	m.guard("InsertItems")
	n := len(items)
	if n == 0 {
		return dst, nil
	}
	if err := m.makeRoom(n); err != nil {
		return dst, err
	}
	row := len(m.items)
	m.items = append(m.items, items...)
	dst = slices.Grow(dst, n)
	m.issue(row, dst[len(dst):len(dst)+n])
	return dst[:len(dst)+n], nil
}

// EmplaceItems adds n items that f fills in where they lie, each knowing its
// own handle, and appends the handles to dst, which it returns. i counts from
// 0; the handles name nothing until EmplaceItems has returned. All are inserted
// or, with [ErrFull] or when f panics, none. It takes O(n) time and grows each
// array at most once. A negative n panics.
func (m *Map[T]) EmplaceItems(n int, f func(i int, h handle.Of[T], v *T), dst []handle.Of[T]) ([]handle.Of[T], error) {
	m.guard("EmplaceItems")
	if n < 0 {
		panic(fmt.Sprintf("handlemap: EmplaceItems of %d items", n))
	}
	if n == 0 {
		return dst, nil
	}
	if err := m.makeRoom(n); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, n)
	handles := dst[len(dst) : len(dst)+n]
	m.set.Preview(handle.IDs(handles))
	m.fill(f, handles)

	row := len(m.items)
	m.items = m.items[:row+n]
	m.issue(row, handles)
	return dst[:len(dst)+n], nil
}

// fill calls f for the items behind the last row. They are not in the map yet,
// so that a panic leaves nothing to undo but their values.
func (m *Map[T]) fill(f func(int, handle.Of[T], *T), handles []handle.Of[T]) {
	staged := m.items[len(m.items) : len(m.items)+len(handles)]
	done := false
	m.busy++
	m.staged = len(staged)
	defer func() {
		m.busy--
		m.staged = 0
		if !done {
			clear(staged) // S4
		}
	}()
	for i := range staged {
		f(i, handles[i], &staged[i])
	}
	done = true
}

// issue names the items from row on, which are in the dense set already.
func (m *Map[T]) issue(row int, handles []handle.Of[T]) {
	m.meta = m.meta[:row+len(handles)]
	m.set.Issue(sparse.Row(row), m.meta[row:], handle.IDs(handles))
}
