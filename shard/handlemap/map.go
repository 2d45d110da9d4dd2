package handlemap

import (
	"handloom/handle"
	"handloom/internal/dense"
)

// Map holds items of type T. The zero Map is ready to use and has typeId 0.
// A Map must not be copied; see [Map.Clone].
type Map[T any] struct {
	_     [0]*T // distinguishes maps of different types
	dense dense.Set
}

// New returns an empty map. It fails on a typeId that does not fit a handle and on sizes
// that are negative or beyond the handle's range, and names every fault.
func New[T any](o handle.Options) (*Map[T], error) {
	m := new(Map[T])
	if err := m.bound().Init(o); err != nil {
		return nil, err
	}
	return m, nil
}

// bound returns the dense set and sets its type, so that the zero Map needs no constructor.
func (m *Map[T]) bound() *dense.Set { return dense.Bind[T](&m.dense) }

// Len returns the number of items.
func (m *Map[T]) Len() int { return m.dense.Len() }

// Cap returns the capacity of the dense set in items.
func (m *Map[T]) Cap() int { return m.dense.Cap() }

// TypeID returns the typeId in the handles of the map.
func (m *Map[T]) TypeID() uint16 { return m.dense.TypeID() }

// Stats returns counts of the map in O(1) time.
func (m *Map[T]) Stats() handle.Stats { return m.bound().Stats() }

// Verify checks every invariant of the map and its sparse set and returns an error that
// cites the first violation, or nil. It takes O(slots + Cap()) time and changes nothing.
func (m *Map[T]) Verify() error { return m.dense.Verify() }

// Digest returns a 64-bit hash of the state: slots, generations, freelist order, depletion,
// MinFree, row order, the state of Defragment, and item values, but not capacity. It takes
// O(slots) time.
//
// Maps with equal digests return equal results in every future sequence of calls, with an error
// probability of 2^-64. The digest ignores memory reached by pointers, functions and channels,
// fields named _, and MaxItems. It follows slices, maps and interfaces; package digest of the
// module documents the encoding.
func (m *Map[T]) Digest() uint64 { return m.bound().Digest() }
