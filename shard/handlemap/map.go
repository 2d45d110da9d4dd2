package handlemap

import (
	"handloom/internal/dense"
	"handloom/shard/handle"
)

// Map holds items of type T. The zero Map is ready to use and has typeId 0.
// A Map must not be copied; see [Map.Clone].
type Map[T any] struct {
	_     [0]*T // keeps the maps of different types apart
	dense dense.Set
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

// bound returns the dense set, which knows T from then on: the zero Map needs no
// constructor.
func (m *Map[T]) bound() *dense.Set { return dense.Bind[T](&m.dense) }

// Len returns the number of items.
func (m *Map[T]) Len() int { return m.dense.Len() }

// Cap returns the number of items that the map can hold before the dense set
// grows.
func (m *Map[T]) Cap() int { return m.dense.Cap() }

// TypeID returns the typeId in the handles of the map.
func (m *Map[T]) TypeID() uint16 { return m.dense.TypeID() }

// Stats returns the figures of the map in O(1) time.
func (m *Map[T]) Stats() handle.Stats { return m.bound().Stats() }

// Verify checks every invariant of the map and of its sparse set and returns
// an error that cites the first one broken, or nil. It takes O(slots + Cap())
// time and changes nothing.
func (m *Map[T]) Verify() error { return m.dense.Verify() }

// Digest returns a 64-bit hash of the state: slots, generations, freelist
// order, depletion, MinFree, row order, what Defragment knows, and item values, but
// not capacity. It takes O(slots) time.
//
// Maps with equal digests answer every future sequence of calls equally, but for a
// chance of one in 2^64, as far as digests see: not what lies behind pointers,
// functions and channels, nor fields named _, nor MaxItems. Slices, maps and
// interfaces are followed; package digest of the module says how values are
// encoded.
func (m *Map[T]) Digest() uint64 { return m.bound().Digest() }
