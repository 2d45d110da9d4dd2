package slotmap

import (
	"handloom/handle"
	"handloom/internal/paged"
)

// Map holds items of type T at stable addresses. The zero Map is ready to use and has
// typeId 0. A Map must not be copied; see [Map.Clone].
type Map[T any] struct {
	_      [0]*T // distinguishes maps of different types
	stable paged.Set
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

// bound returns the stable set and sets its type, so that the zero Map needs no
// constructor.
func (m *Map[T]) bound() *paged.Set { return paged.Bind[T](&m.stable) }

// Len returns the number of items.
func (m *Map[T]) Len() int { return m.stable.Len() }

// Rows returns the number of rows, empty rows included: the number of slots ever made. Only
// [Map.Reset] shrinks it.
func (m *Map[T]) Rows() int { return m.stable.Rows() }

// Cap returns the capacity in rows.
func (m *Map[T]) Cap() int { return m.stable.Cap() }

// TypeID returns the typeId in the handles of the map.
func (m *Map[T]) TypeID() uint16 { return m.stable.TypeID() }

// Stats returns counts of the map in O(1) time.
func (m *Map[T]) Stats() handle.Stats { return m.bound().Stats() }

// Verify checks every invariant of the map and its sparse set and returns an error that
// cites the first violation, or nil. It takes O(Cap()) time and changes nothing.
func (m *Map[T]) Verify() error { return m.bound().Verify() }

// Digest returns a 64-bit hash of the state: slots, generations, freelist order, depletion, MinFree
// and item values, but not capacity. It takes O(slots) time.
//
// Maps with equal digests return equal results in every future sequence of calls, with an error
// probability of 2^-64. The digest ignores memory reached by pointers, functions and channels,
// fields named _, and MaxItems. It follows slices, maps and interfaces; package digest of the
// module documents the encoding.
func (m *Map[T]) Digest() uint64 { return m.bound().Digest() }
