package slotmap

import (
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/paged"
	"handloom/shard/handle"
)

// Insert adds v and returns its handle. It takes O(1) time, that of making one
// page at worst, and moves no item.
//
// It fails with [handle.ErrFull], and then nothing has changed. A vacant slot is
// reused, oldest first, before a new one is made, unless no more than MinFree
// are vacant; at the slot limit those are used as well.
func (m *Map[T]) Insert(v T) (handle.Of[T], error) { return paged.Insert(&m.stable, v) }

// InsertFunc adds an item that f fills in where it lies, knowing its own
// handle, which names nothing until f has returned. Costs and errors are those
// of [Map.Insert]; when f panics nothing is inserted.
func (m *Map[T]) InsertFunc(f func(h handle.Of[T], v *T)) (handle.Of[T], error) {
	return paged.InsertFunc(m.bound(), f)
}

// InsertItems adds copies of values and appends their handles to dst, which it
// returns. All are inserted or, with [handle.ErrFull], none, and dst is returned as it
// was. It takes O(n) time and moves no item.
func (m *Map[T]) InsertItems(values []T, dst []handle.Of[T]) ([]handle.Of[T], error) {
	ids, err := m.bound().InsertItems(items.From(values), handle.IDs(dst))
	return handle.Typed[T](ids), err
}

// EmplaceItems adds n items that f fills in where they lie, each knowing its
// own handle, and appends the handles to dst, which it returns. i counts from
// 0; the handles name nothing until EmplaceItems has returned. All are inserted
// or, with [handle.ErrFull] or when f panics, none. It takes O(n) time and moves no
// item. A negative n panics.
func (m *Map[T]) EmplaceItems(n int, f func(i int, h handle.Of[T], v *T), dst []handle.Of[T]) ([]handle.Of[T], error) {
	check.Given(f != nil || n <= 0, "slotmap: EmplaceItems", "function")
	ids, err := paged.EmplaceItems(m.bound(), n, f, handle.IDs(dst))
	return handle.Typed[T](ids), err
}
