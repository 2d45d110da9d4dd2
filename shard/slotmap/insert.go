package slotmap

import (
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/paged"
)

// Insert adds v and returns its handle. It takes O(1) time, at most the time to make one page, and
// moves no item.
//
// It fails with [handle.ErrFull] and changes nothing. It reuses the oldest vacant slot before it
// makes a new one, unless at most MinFree are vacant; at the slot limit it uses these as well.
func (m *Map[T]) Insert(v T) (handle.Of[T], error) { return paged.Insert(&m.stable, v) }

// InsertFunc adds an item that f fills in place. h is its handle and names nothing until f
// has returned. It has the costs and errors of [Map.Insert]; nothing is inserted if f
// panics.
func (m *Map[T]) InsertFunc(f func(h handle.Of[T], v *T)) (handle.Of[T], error) {
	return paged.InsertFunc(m.bound(), f)
}

// InsertItems adds copies of values and appends their handles to dst, which it returns. It
// inserts all or, with [handle.ErrFull], none; dst is then unchanged. It takes O(n) time
// and moves no item.
func (m *Map[T]) InsertItems(values []T, dst []handle.Of[T]) ([]handle.Of[T], error) {
	ids, err := m.bound().InsertItems(items.From(values), handle.IDs(dst))
	return handle.Typed[T](ids), err
}

// EmplaceItems adds n items that f fills in place and appends their handles to dst, which
// it returns. i counts from 0; the handles name nothing until EmplaceItems has returned. It
// inserts all or, with [handle.ErrFull] or if f panics, none. It takes O(n) time and moves
// no item. It panics if n is negative.
func (m *Map[T]) EmplaceItems(n int, f func(i int, h handle.Of[T], v *T), dst []handle.Of[T]) ([]handle.Of[T], error) {
	check.Given(f != nil || n <= 0, "slotmap: EmplaceItems", "function")
	ids, err := paged.EmplaceItems(m.bound(), n, f, handle.IDs(dst))
	return handle.Typed[T](ids), err
}
