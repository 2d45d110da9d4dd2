package slotmap

import (
	"handloom/internal/paged"
	"handloom/shard/handle"
)

// Map holds items of type T at addresses that do not change while they live.
// The zero Map is ready to use and has typeId 0. A Map must not be copied; see
// [Map.Clone].
type Map[T any] struct {
	_      [0]*T // keeps the maps of different types apart
	stable paged.Set
}

// New returns an empty map. It fails, with every fault named, on a typeId that
// does not fit a handle and on sizes that are negative or beyond what a handle
// can name.
func New[T any](o handle.Options) (*Map[T], error) {
	m := new(Map[T])
	if err := m.bound().Init(o); err != nil {
		return nil, err
	}
	return m, nil
}

// bound returns the stable set, which knows T from then on: the zero Map needs no
// constructor.
func (m *Map[T]) bound() *paged.Set { return paged.Bind[T](&m.stable) }

// Len returns the number of items.
func (m *Map[T]) Len() int { return m.stable.Len() }

// Rows returns the number of rows, those without an item included: every row is
// below it. It is the number of slots ever made, and shrinks only by
// [Map.Reset].
func (m *Map[T]) Rows() int { return m.stable.Rows() }

// Cap returns the number of rows that there may be before a page is added.
func (m *Map[T]) Cap() int { return m.stable.Cap() }

// TypeID returns the typeId in the handles of the map.
func (m *Map[T]) TypeID() uint16 { return m.stable.TypeID() }

// Stats returns the figures of the map in O(1) time.
func (m *Map[T]) Stats() handle.Stats { return m.bound().Stats() }

// Verify checks every invariant of the map and of its sparse set and returns
// an error that cites the first one broken, or nil. It takes O(Cap()) time and
// changes nothing.
func (m *Map[T]) Verify() error { return m.bound().Verify() }

// Digest returns a 64-bit hash of the state: slots, generations, freelist
// order, depletion, MinFree and item values, but not capacity. It takes O(slots)
// time.
//
// Maps with equal digests answer every future sequence of calls equally, but for a
// chance of one in 2^64, as far as digests see: not what lies behind pointers,
// functions and channels, nor fields named _, nor MaxItems. Slices, maps and
// interfaces are followed; package digest of the module says how values are
// encoded.
func (m *Map[T]) Digest() uint64 { return m.bound().Digest() }
