// Package maptest is the specification of the packed and the stable map, as
// tests through one interface. The tests of each map run it with [Test]; tests
// of one map alone are in its package. Only tests may import maptest.
//
// Every exported method of suite is a test named after its promise. Most run
// with full and with narrow handle fields. They cover forged handles, limits,
// panicking callbacks, copies, memory and digests. The random programs of
// proof/runner compare inserts and erases with two models.
package maptest

import (
	"iter"
	"reflect"
	"testing"

	"handloom/handle"
	"handloom/internal/slotset"
)

type Options = handle.Options

// Map has the methods of both maps.
type Map[T any] interface {
	Len() int
	Cap() int
	TypeID() uint16
	Verify() error
	Digest() uint64

	Insert(v T) (handle.Of[T], error)
	InsertFunc(f func(h handle.Of[T], v *T)) (handle.Of[T], error)
	InsertItems(values []T, dst []handle.Of[T]) ([]handle.Of[T], error)
	EmplaceItems(n int, f func(i int, h handle.Of[T], v *T), dst []handle.Of[T]) ([]handle.Of[T], error)

	Get(h handle.Of[T]) (*T, bool)
	Has(h handle.Of[T]) bool
	At(h handle.Of[T]) *T
	RowOf(h handle.Of[T]) (int, bool)
	HandleAt(row int) handle.Of[T]

	All() iter.Seq2[handle.Of[T], *T]
	Backward() iter.Seq2[handle.Of[T], *T]

	Erase(h handle.Of[T]) bool
	EraseItems(hs []handle.Of[T]) int
	EraseFunc(f func(h handle.Of[T], v *T) bool) int
	Clear()
	Reset()

	Reserve(n int)
	Shrink()

	// Clone, CopyTo and the map without T, added by the tests of each map.
	Cloned() Map[T]
	CopiedTo(dst Map[T], clone func(dst, src *T))
	Core() Core
}

// Core is the map without its item type, for the bulk steps of a flush.
type Core interface {
	Rows() int
	Stats() handle.Stats
	Mark(marks *slotset.Bitset, id handle.ID) slotset.Marking
	RowsOf(ids []handle.ID, rows []slotset.Row)
	EraseMarked(marks *slotset.Bitset) int
	CanInsert(n, erased, depleting int) error
	HasRoom(n int) bool
	ReserveMore(n int)
}

// Packed is a map without gaps and with a changeable order.
type Packed[T any] interface {
	Map[T]
	Items() []T
	SortFunc(cmp func(a, b *T) int)
	SortRange(i, j int, cmp func(a, b *T) int)
	SortByKey(key func(*T) uint64)
	SortAs(hs []handle.Of[T])
	Partition(pred func(*T) bool) int
	Swap(h1, h2 handle.Of[T]) bool
	Defragment(cmp func(a, b *T) int, budget int) (moves int, done bool)
	Touch(h handle.Of[T]) bool
	TouchRows(i, j int)
}

// Stable is a map with fixed addresses: the row is the slot.
type Stable[T any] interface {
	Map[T]
	Range(lo, hi int) iter.Seq2[handle.Of[T], *T]
}

// Maker makes maps of T, with options or as zero value.
type Maker[T any] struct {
	New  func(Options) (Map[T], error)
	Zero func() Map[T]
}

// Maps makes the maps of a package for the item types of the tests.
type Maps struct {
	Name    string // package name, the prefix of messages
	Packed  bool   // Packed, otherwise Stable
	ErrFull error  // of the package

	Numbers      Maker[uint64]
	Pages        Maker[Page]
	PointerItems Maker[*PointerItem]
	Lists        Maker[[]uint64]
}

// suite has the tests as methods.
type suite struct{ Maps }

// Test runs all tests of the suite. A new method runs without a list of tests.
func Test(t *testing.T, m Maps) {
	tests := reflect.ValueOf(suite{m})
	for i := range tests.NumMethod() {
		t.Run(tests.Type().Method(i).Name, tests.Method(i).Interface().(func(*testing.T)))
	}
}

// itemAt returns the item at a row by another way than a handle.
func itemAt[T any](m Map[T], row int) *T {
	if m, ok := m.(Packed[T]); ok {
		return &m.Items()[row]
	}
	for _, v := range m.(Stable[T]).Range(row, row+1) {
		return v
	}
	return nil
}
