package paged

import (
	"unsafe"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/slotset"
)

// Set is a stable map whose item type is a run-time [Type]. The zero Set has typeId 0 and
// needs [Bind] before use.
type Set struct {
	pages []page // by slot (S1)
	shift uint8  // a page has 1<<shift rows; 0 before the first page
	mask  handle.ID
	slots int // issued so far: rows with an item and empty rows
	list  slotset.Freelist
	live  slotset.Live // rows with an item (S2)
	typ   *Type        // nil until bound

	released int
	room     int         // slots that the pages hold, within the limit
	maxItems int         // 0: limited only by the slots
	busy     int         // running callbacks
	staged   []handle.ID // items that an insert callback is filling
	marks    *slotset.Bitset
	one      []handle.ID
	some     []slotset.Slot
	audit    check.Audit
}

// Bind sets the item type to T if it is not set, and returns s.
func Bind[T any](s *Set) *Set {
	if s.typ == nil {
		s.typ = TypeFor[T]()
	}
	return s
}

// New names every fault of the options.
func New(t *Type, o handle.Options) (*Set, error) {
	s := &Set{typ: t}
	if err := s.Init(o); err != nil {
		return nil, err
	}
	return s, nil
}

// Init sets the options of a zero Set and reserves memory. On error the set is unchanged.
func (s *Set) Init(o handle.Options) error {
	if err := slotset.Validate(o, "slotmap"); err != nil {
		return err
	}
	s.list.Init(uint16(o.TypeID), uint32(o.MinFree))
	s.maxItems = o.MaxItems
	s.Reserve(o.Reserve)
	return nil
}

// Rows counts empty rows too. Cap is the capacity in rows.
func (s *Set) Len() int       { return s.list.Live(s.slots) }
func (s *Set) Rows() int      { return s.slots }
func (s *Set) Cap() int       { return s.room }
func (s *Set) TypeID() uint16 { return s.list.TypeID() }

// Stats returns the numbers of slots, and the bytes of all pages except scratch memory. It
// takes O(1) time.
func (s *Set) Stats() handle.Stats {
	rows, withItems := int64(len(s.pages))<<s.shift, int64(len(s.pages)-s.released)<<s.shift
	return handle.Stats{
		Live:     s.Len(),
		Vacant:   s.list.Vacant(),
		Depleted: s.list.Depleted(),
		Slots:    s.slots,
		Bytes: rows*int64(wordSize) + withItems*int64(s.typ.Size) +
			int64(cap(s.pages))*int64(unsafe.Sizeof(page{})) + s.live.Bytes() + s.list.RingBytes(),
	}
}

// guard panics while a callback runs. A checked build also verifies the result of the
// previous operation.
func (s *Set) guard(operation string) {
	if s.busy != 0 {
		panic("slotmap: " + operation + " called from a callback of the same map; " +
			"collect handles in the callback and change the map after it returned")
	}
	if check.Full {
		s.audit.Next(operation, s.slots, s.Verify)
	}
}
