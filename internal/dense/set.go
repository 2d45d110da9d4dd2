package dense

import (
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Set is a packed map whose item type is a run-time [items.Type]. The zero Set has typeId 0
// and needs [Bind] before use.
type Set struct {
	set   slotset.Set    // by slot
	items items.Slice    // by row; without pointers from length to capacity (S4)
	meta  []slotset.Slot // by row (S1, S2)
	typ   *items.Type    // nil until bound

	changes  uint64 // of rows; see slotset.Removed
	maxItems int    // 0: limited only by the slots
	busy     int    // running callbacks
	staged   int    // rows past the length that an insert callback is filling
	marks    *Bitset
	one      []handle.ID
	sorting  *reordering // scratch memory; nil before the first sort
	audit    check.Audit

	followers *followers
}

// reordering is the scratch memory of sorts. A map keeps it from the first sort until
// Shrink or Reset.
type reordering struct {
	order, spare, origin []slotset.Row
	keys, ranks          []uint64
	keyed                []keyed
	gathered, one        items.Slice
}

// scratch returns the scratch memory, whose content is arbitrary.
func (d *Set) scratch() *reordering {
	if d.sorting == nil {
		d.sorting = new(reordering)
	}
	return d.sorting
}

// Bind sets the item type to T if it is not set, and returns d.
func Bind[T any](d *Set) *Set {
	if d.typ == nil {
		d.typ = items.For[T]()
	}
	return d
}

// New names every fault of the options.
func New(t *items.Type, o handle.Options) (*Set, error) {
	d := &Set{typ: t}
	if err := d.Init(o); err != nil {
		return nil, err
	}
	return d, nil
}

// Init sets the options of a zero Set and reserves memory. On error the set is unchanged.
func (d *Set) Init(o handle.Options) error {
	if err := slotset.Validate(o, "handlemap"); err != nil {
		return err
	}
	d.set.Init(uint16(o.TypeID), uint32(o.MinFree))
	d.maxItems = o.MaxItems
	// Last, because it depends on the other options.
	d.Reserve(o.Reserve)
	return nil
}

// Cap is the capacity in items.
func (d *Set) Len() int       { return len(d.meta) }
func (d *Set) Cap() int       { return d.items.Cap() }
func (d *Set) TypeID() uint16 { return d.set.TypeID() }

// Rows returns the number of positions that a pass visits.
func (d *Set) Rows() int { return len(d.meta) }

// Stats returns the numbers of slots, and the bytes of all arrays except scratch memory. It
// takes O(columns) time.
func (d *Set) Stats() handle.Stats {
	return handle.Stats{
		Live:     d.set.Live(),
		Vacant:   d.set.Vacant(),
		Depleted: d.set.Depleted(),
		Slots:    d.set.Slots(),
		Bytes:    int64(d.items.Cap())*int64(d.rowBytes()) + int64(cap(d.meta))*4 + int64(cap(d.set.Words))*8 + d.set.RingBytes(),
	}
}

// rowBytes returns the bytes per row of the dense set and all columns (C1).
func (d *Set) rowBytes() uintptr {
	size := d.typ.Size
	for _, c := range d.Columns() {
		size += c.Kind.Type.Size
	}
	return size
}

// guard panics while a callback runs. A checked build also verifies the result of the
// previous operation.
func (d *Set) guard(operation string) {
	if d.busy != 0 {
		panic("handlemap: " + operation + " called from a callback of the same map; " +
			"collect handles in the callback and change the map after it returned")
	}
	if check.Full {
		d.audit.Next(operation, len(d.meta), d.Verify)
	}
}
