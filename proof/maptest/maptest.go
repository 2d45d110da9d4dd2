// Package maptest is the specification of a map of handles: the promises of the
// packed map and the stable map, as tests through one interface. The tests of each
// map run it with [Test]. Tests of one map alone are next to that map. No package
// but tests may import it.
//
// Every exported method of suite is a test and says in its name what is promised.
// Most run twice, with the full handle fields and with narrow ones. The tests show
// the contract by example: forged handles, limits, callbacks that panic, copies,
// memory, digests. The random programs of package proof/runner hold the inserts and
// erases of both maps to two models.
package maptest

import (
	"iter"
	"reflect"
	"testing"

	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// Options are those of either map.
type Options = handle.Options

// Map is what both maps can do.
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

	// Clone and CopyTo, and the map without T: tests of the map add these three.
	Cloned() Map[T]
	CopiedTo(dst Map[T], clone func(dst, src *T))
	Core() Core
}

// Core is the map without its item type, which has the bulk steps of a flush.
type Core interface {
	Rows() int
	Stats() handle.Stats
	Mark(marks *slotset.Bitset, id handle.ID) slotset.Marking
	IsMarked(marks *slotset.Bitset, id handle.ID) bool
	EraseMarked(marks *slotset.Bitset) int
	CanInsert(n, erased, depleting int) error
	HasRoom(n int) bool
	ReserveMore(n int)
}

// Packed is a map whose items lie without gaps, in an order that can be changed.
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

// Stable is a map whose items keep their addresses: the row is the slot.
type Stable[T any] interface {
	Map[T]
	Range(lo, hi int) iter.Seq2[handle.Of[T], *T]
}

// Maker makes maps of items of type T: with options, or the zero map.
type Maker[T any] struct {
	New  func(Options) (Map[T], error)
	Zero func() Map[T]
}

// Maps is the map under test, for the items that the tests need.
type Maps struct {
	Name    string // of the package, with which messages begin
	Packed  bool   // it is Packed; otherwise it is Stable
	ErrFull error  // of the package

	Numbers      Maker[uint64]
	Pages        Maker[Page]
	PointerItems Maker[*PointerItem]
	Lists        Maker[[]uint64]
}

// suite has the tests as its methods.
type suite struct{ Maps }

// Test runs the whole specification.
func Test(t *testing.T, m Maps) {
	tests := reflect.ValueOf(suite{m})
	for i := range tests.NumMethod() {
		t.Run(tests.Type().Method(i).Name, tests.Method(i).Interface().(func(*testing.T)))
	}
}

// choose returns what is true of the packed map, or of the stable one.
func choose[V any](s suite, packed, stable V) V {
	if s.Packed {
		return packed
	}
	return stable
}

// itemAt returns the item of a row, which it finds by its place.
func itemAt[T any](m Map[T], row int) *T {
	if m, ok := m.(Packed[T]); ok {
		return &m.Items()[row]
	}
	for _, v := range m.(Stable[T]).Range(row, row+1) {
		return v
	}
	return nil
}
