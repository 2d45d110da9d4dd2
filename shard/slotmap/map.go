package slotmap

import (
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// ErrFull is what inserts return, wrapped with the figures, when the items
// would exceed MaxItems or the slots would exceed what a handle can name.
// Nothing has changed then. It is the ErrFull of package handlemap.
var ErrFull = sparse.ErrFull

// Options configure a [Map]. The zero Options are good.
type Options struct {
	TypeID   int // in every handle; 0 to 32767
	Reserve  int // items to make room for at once
	MinFree  int // vacant slots held back, so that a slot rests for at least as many erases
	MaxItems int // 0: as many as slots allow
}

// Map holds items of type T at addresses that do not change while they live.
// The zero Map is ready to use and has typeId 0. A Map must not be copied; see
// [Map.Clone].
type Map[T any] struct {
	audit check.Audit
	pages [][]cell[T] // by slot (S1)
	shift uint8       // a page has 1<<shift cells; 0 before the first page
	mask  handle.ID   // 1<<shift - 1
	slots int         // issued so far: rows in use and empty ones
	list  sparse.Freelist
	live  sparse.Live // rows with an item (S2)

	kept     [][]handle.ID  // words of pages that Shrink gave back; nil for others
	released int            // how many such pages there are
	room     int            // slots that there are pages for, within the limit
	maxItems int            // 0: no limit but the slots
	busy     int            // callbacks running
	staged   []handle.Of[T] // items that an insert callback is filling
	marks    *Marks         // scratch of the bulk erases
	one      []handle.Of[T] // scratch of InsertFunc
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
	if err := sparse.Options(o).Validate("slotmap"); err != nil {
		return err
	}
	m.list.Init(uint16(o.TypeID), uint32(o.MinFree))
	m.maxItems = o.MaxItems
	m.Reserve(o.Reserve)
	return nil
}

// Len returns the number of items.
func (m *Map[T]) Len() int { return m.list.Live(m.slots) }

// Rows returns the number of rows, those without an item included: every row is
// below it. It is the number of slots ever made, and shrinks only by
// [Map.Reset].
func (m *Map[T]) Rows() int { return m.slots }

// Cap returns the number of rows that there may be before a page is added.
func (m *Map[T]) Cap() int { return m.room }

// TypeID returns the typeId in the handles of the map.
func (m *Map[T]) TypeID() uint16 { return m.list.TypeID() }

// Stats are the figures of a map at one moment.
type Stats struct {
	Live     int   // items
	Vacant   int   // slots waiting to be issued again
	Depleted int   // slots that used their last generation
	Slots    int   // the three together
	Bytes    int64 // memory of all pages
}

// Stats returns the figures of the map in O(1) time.
func (m *Map[T]) Stats() Stats {
	pages := int64(len(m.pages) - m.released)
	if m.released > 0 {
		pages++ // the blank one
	}
	return Stats{
		Live:     m.Len(),
		Vacant:   m.list.Vacant(),
		Depleted: m.list.Depleted(),
		Slots:    m.slots,
		Bytes: (pages*int64(unsafe.Sizeof(cell[T]{}))+int64(m.released)*8)<<m.shift +
			int64(cap(m.pages)+cap(m.kept))*int64(unsafe.Sizeof(m.pages)) + m.live.Bytes(),
	}
}

// guard panics when a callback of the map is running: it would find the map
// changed under its feet. In a checked build it verifies what the operation
// before left.
func (m *Map[T]) guard(operation string) {
	if m.busy != 0 {
		panic("slotmap: " + operation + " called from a callback of the same map; " +
			"collect handles in the callback and change the map after it returned")
	}
	if check.Full {
		m.audit.Next(operation, m.slots, m.Verify)
	}
}
