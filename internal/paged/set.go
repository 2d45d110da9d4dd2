package paged

import (
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// Set is a stable map whose item type only its [Type] knows. The zero
// Set has typeId 0 and needs [Bind] before anything else.
type Set struct {
	pages []page    // by slot (S1)
	shift uint8     // a page has 1<<shift rows; 0 before the first page
	mask  handle.ID // 1<<shift - 1
	slots int       // issued so far: rows in use and empty ones
	list  slotset.Freelist
	live  slotset.Live // rows with an item (S2)
	typ   *Type        // nil until bound

	released int             // pages whose memory for items was given back
	room     int             // slots that there are pages for, within the limit
	maxItems int             // 0: no limit but the slots
	busy     int             // callbacks running
	staged   []handle.ID     // items that an insert callback is filling
	marks    *slotset.Bitset // scratch of the bulk erases
	one      []handle.ID     // scratch of InsertFunc
	some     []slotset.Slot  // scratch of the bulk steps
	audit    check.Audit
	pinned   *Set // the map itself, if it is a table's; see Pin
}

// Bind tells s that its items are of type T, unless it knows, and returns it.
func Bind[T any](s *Set) *Set {
	if s.typ == nil {
		s.typ = TypeFor[T]()
	}
	return s
}

// New returns an empty map of items of a type. It fails, with every fault named,
// on a typeId that does not fit a handle and on sizes that are negative or beyond
// what a handle can name.
func New(t *Type, o handle.Options) (*Set, error) {
	s := &Set{typ: t}
	if err := s.Init(o); err != nil {
		return nil, err
	}
	return s, nil
}

// Init is New for a Set that is bound. It must come before every other use.
func (s *Set) Init(o handle.Options) error {
	if err := slotset.Validate(o, "slotmap"); err != nil {
		return err
	}
	s.list.Init(uint16(o.TypeID), uint32(o.MinFree))
	s.maxItems = o.MaxItems
	s.Reserve(o.Reserve)
	return nil
}

// Pin makes the typeId and the options of the map final, because it is a table's: a copy
// of another map into it needs the same ones.
func (s *Set) Pin() { s.pinned = s }

// IsPinned reports whether Pin was called and no other map was assigned to this one.
func (s *Set) IsPinned() bool { return s.pinned == s }

// Len returns the number of items, Rows that of rows, those without an item
// included, Cap how many rows there may be before a page is added, and TypeID the
// typeId in the handles.
func (s *Set) Len() int       { return s.list.Live(s.slots) }
func (s *Set) Rows() int      { return s.slots }
func (s *Set) Cap() int       { return s.room }
func (s *Set) TypeID() uint16 { return s.list.TypeID() }

// Stats returns the figures of the map in O(1) time.
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

// guard panics when a callback of the map is running: it would find the map
// changed under its feet. In a checked build it verifies what the operation
// before left.
func (s *Set) guard(operation string) {
	if s.busy != 0 {
		panic("slotmap: " + operation + " called from a callback of the same map; " +
			"collect handles in the callback and change the map after it returned")
	}
	if check.Full {
		s.audit.Next(operation, s.slots, s.Verify)
	}
}
