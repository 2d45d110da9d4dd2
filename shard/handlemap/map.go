package handlemap

import (
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// ErrFull is what inserts return, wrapped with the figures, when the items
// would exceed MaxItems or the slots would exceed what a handle can name.
// Nothing has changed then. It is the ErrFull of package slotmap, too.
var ErrFull = sparse.ErrFull

// Options configure a [Map]. The zero Options are good.
type Options struct {
	TypeID   int // in every handle; 0 to 32767
	Reserve  int // items to make room for at once
	MinFree  int // vacant slots held back, so that a slot rests for at least as many erases
	MaxItems int // 0: as many as slots allow
}

// Map holds items of type T. The zero Map is ready to use and has typeId 0.
// A Map must not be copied; see [Map.Clone].
type Map[T any] struct {
	audit check.Audit
	items []T           // by row; zero from length to capacity (S4)
	meta  []sparse.Slot // by row (S1, S2)
	set   sparse.Set    // by slot

	maxItems int            // 0: no limit but the slots
	busy     int            // callbacks running
	staged   int            // rows beyond the length that an insert callback is filling
	marks    *Marks         // scratch of the bulk erases
	one      []handle.Of[T] // scratch of InsertFunc
	known    *ordering      // what Defragment knows; nil: nothing
	reordering[T]
}

// reordering is scratch of the reorders; it holds nothing between calls.
type reordering[T any] struct {
	order, spare, origin []sparse.Row
	keys                 []keyed
	gathered             []T
}

// New returns an empty map. It fails, with every fault named, on a typeId that
// does not fit a handle and on sizes that are negative or beyond what a handle
// can name.
func New[T any](o Options) (*Map[T], error) {
	m := new(Map[T])
	if err := m.Init(o); err != nil {
		return nil, err
	}
	return m, nil
}

// Init prepares a Map that lies within another value, as [New] does for one of
// its own. It must come before every other use of the map.
func (m *Map[T]) Init(o Options) error {
	if err := sparse.Options(o).Validate("handlemap"); err != nil {
		return err
	}
	m.set.Init(uint16(o.TypeID), uint32(o.MinFree))
	m.maxItems = o.MaxItems
	m.Reserve(o.Reserve)
	return nil
}

// Len returns the number of items.
func (m *Map[T]) Len() int { return len(m.items) }

// Cap returns the number of items that the map can hold before the dense set
// grows.
func (m *Map[T]) Cap() int { return cap(m.items) }

// TypeID returns the typeId in the handles of the map.
func (m *Map[T]) TypeID() uint16 { return m.set.TypeID() }

// Stats are the figures of a map at one moment.
type Stats struct {
	Live     int   // items
	Vacant   int   // slots waiting to be issued again
	Depleted int   // slots that used their last generation
	Slots    int   // the three together
	Bytes    int64 // memory of the three sets, capacity included
}

// Stats returns the figures of the map in O(1) time.
func (m *Map[T]) Stats() Stats {
	var item T
	return Stats{
		Live:     m.set.Live(),
		Vacant:   m.set.Vacant(),
		Depleted: m.set.Depleted(),
		Slots:    m.set.Slots(),
		Bytes: int64(cap(m.items))*int64(unsafe.Sizeof(item)) +
			int64(cap(m.meta))*4 + int64(cap(m.set.Words))*8,
	}
}

// guard panics when a callback of the map is running: it would find the map
// changed under its feet. In a checked build it verifies what the operation
// before left.
func (m *Map[T]) guard(operation string) {
	if m.busy != 0 {
		panic("handlemap: " + operation + " called from a callback of the same map; " +
			"collect handles in the callback and change the map after it returned")
	}
	if check.Full {
		m.audit.Next(operation, len(m.items), m.Verify)
	}
}
