package shard

import (
	"slices"
	"unsafe"

	"handloom/batch"
	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// LinkVisitor is how a table finds the handles of an item that lie behind slices,
// maps and pointers: it calls visit with the address of each.
type LinkVisitor func(v unsafe.Pointer, visit func(*handle.ID))

// links are the places of handles in values of one type and, during a flush, the
// addresses of provisional handles behind references in staged values. The flush copies
// the values into the map, but not the memory that they refer to, so that the addresses
// stay good beyond the commit point.
type links struct {
	fields  []uintptr   // offsets of handles within a value
	visitor LinkVisitor // of handles behind references; nil: there are none
	size    uintptr     // of a value

	found  []*handle.ID
	peak   highwater.Mark
	marked slotset.Bitset // scratch: items whose last put was seen

	visit func(*handle.ID) // note, bound once
	value unsafe.Pointer   // the value that is visited
}

// note keeps the address of a handle behind a reference of the value.
func (l *links) note(id *handle.ID) {
	inside := uintptr(unsafe.Pointer(id))-uintptr(l.value) < l.size
	if id.IsProvisional() && !inside { // what lies inside is copied; Link finds it in the map
		l.found = append(l.found, id)
	}
}

// begin begins to visit values, and returns the function that visits one.
func (l *links) begin() (find func(value unsafe.Pointer)) {
	l.clear()
	if l.visit == nil {
		l.visit = l.note
	}
	return func(value unsafe.Pointer) {
		l.value = value
		l.visitor(value, l.visit)
	}
}

// end ends it, and keeps what was found.
func (l *links) end() {
	l.marked.Clear()
	l.value = nil
}

func (l *links) clear() {
	clear(l.found)
	l.found = highwater.Trim(&l.peak, l.found)
	l.marked.Clear()
	l.value = nil
}

// FindLinks collects the addresses of provisional handles behind references, in
// the values that the planned batch leaves in the shard. It runs code of the
// user, which may panic; nothing has changed then.
func (s *Shard) FindLinks(c *batch.Commands, index int) {
	if s.links.visitor != nil {
		s.findInItems(c, index)
	}
	for _, col := range s.columns {
		if col.links.visitor != nil {
			s.findInColumn(c, col, index)
		}
	}
	for _, d := range s.data {
		if d.links.visitor != nil {
			s.findInData(c, d, index)
		}
	}
}

func (s *Shard) findInItems(c *batch.Commands, index int) {
	l := &s.links
	find := l.begin()
	c.Runs(s.lo, s.hi, func(values items.Slice, _ []handle.ID) {
		for i := range values.Len() {
			find(values.Pointer(i, s.typ.Size))
		}
	})
	for _, puts := range slices.Backward(c.Puts(index)) { // the last put to an item is the one that stays
		for j := len(puts.IDs) - 1; j >= 0; j-- {
			id := puts.IDs[j]
			if s.Map.IsMarked(&s.putting, id) && s.Map.Mark(&l.marked, id) == slotset.Marked {
				find(puts.Values.Pointer(j, s.typ.Size))
			}
		}
	}
	l.end()
}

// Patch makes the handles that FindLinks found real: resolve returns the handle
// of an item of this batch, or null. It counts those that stay null. Values of
// several shards may share what they refer to, so that one goroutine patches all
// shards, one after another.
func (s *Shard) Patch(resolve func(handle.ID) handle.ID) {
	s.links.patch(resolve, &s.counts)
	for _, col := range s.columns {
		col.links.patch(resolve, &col.counts)
	}
	for _, d := range s.data {
		d.links.patch(resolve, &d.counts)
	}
}

func (l *links) patch(resolve func(handle.ID) handle.ID, counts *batch.Counts) {
	for _, id := range l.found {
		makeReal(id, resolve, counts)
	}
	l.clear()
}

// Link makes the provisional handles in the fields of every value real that the batch
// created, put or set: resolve is as for Patch. It counts the handles that stay null.
func (s *Shard) Link(c *batch.Commands, index int, resolve func(handle.ID) handle.ID) {
	if len(s.links.fields) > 0 {
		s.linkItems(c, index, resolve)
	}
	for _, col := range s.columns {
		if len(col.links.fields) > 0 {
			s.linkColumn(c, col, index, resolve)
		}
	}
	for _, d := range s.data {
		if len(d.links.fields) > 0 {
			s.linkData(c, d, resolve)
		}
	}
}

func (s *Shard) linkItems(c *batch.Commands, index int, resolve func(handle.ID) handle.ID) {
	visit := func(id handle.ID) {
		if item := s.Map.Item(id); item != nil { // not if it was put and erased
			s.links.makeReal(item, resolve, &s.counts)
		}
	}
	c.Runs(s.lo, s.hi, func(_ items.Slice, created []handle.ID) {
		for _, id := range created {
			visit(id)
		}
	})
	for _, puts := range c.Puts(index) {
		for _, id := range puts.IDs {
			visit(id)
		}
	}
}

// makeReal makes the handles in the fields of the value at v real.
func (l *links) makeReal(v unsafe.Pointer, resolve func(handle.ID) handle.ID, counts *batch.Counts) {
	for _, offset := range l.fields {
		makeReal((*handle.ID)(unsafe.Add(v, offset)), resolve, counts)
	}
}

func makeReal(id *handle.ID, resolve func(handle.ID) handle.ID, counts *batch.Counts) {
	if id.IsProvisional() {
		if *id = resolve(*id); id.IsZero() {
			counts.Dangling++
		}
	}
}
