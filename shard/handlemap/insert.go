package handlemap

import (
	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// Insert adds v behind the last row and returns its handle. It takes O(1)
// amortized time and invalidates pointers to items when the dense set grows.
//
// It fails with [handle.ErrFull], and then nothing has changed. A vacant slot is
// reused, oldest first, before a new one is made, unless no more than MinFree
// are vacant; at the slot limit those are used as well.
func (m *Map[T]) Insert(v T) (handle.Of[T], error) { return dense.Insert(&m.dense, v) }

// InsertFunc adds an item that f fills in where it lies, knowing its own
// handle, which names nothing until f has returned. Costs and errors are those
// of [Map.Insert]; when f panics nothing is inserted.
func (m *Map[T]) InsertFunc(f func(h handle.Of[T], v *T)) (handle.Of[T], error) {
	return dense.InsertFunc(m.bound(), f)
}

// InsertItems adds copies of values behind the last row and appends their
// handles to dst, which it returns. All are inserted or, with [handle.ErrFull], none,
// and dst is returned as it was. It takes O(n) time and grows each array at
// most once (op=insertitems).
func (m *Map[T]) InsertItems(values []T, dst []handle.Of[T]) ([]handle.Of[T], error) {
	ids, err := m.bound().InsertItems(items.From(values), handle.IDs(dst))
	return handle.Typed[T](ids), err
}

// EmplaceItems adds n items that f fills in where they lie, each knowing its
// own handle, and appends the handles to dst, which it returns. i counts from
// 0; the handles name nothing until EmplaceItems has returned. All are inserted
// or, with [handle.ErrFull] or when f panics, none. It takes O(n) time and grows each
// array at most once. A negative n panics.
func (m *Map[T]) EmplaceItems(n int, f func(i int, h handle.Of[T], v *T), dst []handle.Of[T]) ([]handle.Of[T], error) {
	check.Given(f != nil || n <= 0, "handlemap: EmplaceItems", "function")
	ids, err := dense.EmplaceItems(m.bound(), n, f, handle.IDs(dst))
	return handle.Typed[T](ids), err
}
