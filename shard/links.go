package shard

import (
	"unsafe"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// LinkVisitor calls visit with the address of each handle that slices, maps and pointers of
// an item refer to.
type LinkVisitor func(v unsafe.Pointer, visit func(*handle.ID))

// links are the places of handles in values of one type and, during a flush, the addresses
// of provisional handles that references in staged values lead to. The flush copies the
// values into the map but not the memory they refer to, so the addresses remain valid after
// the commit.
type links struct {
	fields  []uintptr
	visitor LinkVisitor // finds handles through references; may be nil
	size    uintptr

	found  []*handle.ID
	peak   highwater.Mark
	marked *slotset.Bitset // scratch: items whose last put was seen; nil before the first use

	visit func(*handle.ID)
	value unsafe.Pointer
}

// note keeps the address of a provisional handle outside of the value.
func (l *links) note(id *handle.ID) {
	inside := uintptr(unsafe.Pointer(id))-uintptr(l.value) < l.size
	if id.IsProvisional() && !inside { // a handle inside is copied; Link finds it in the map
		l.found = append(l.found, id)
	}
}

func (l *links) begin() (find func(value unsafe.Pointer)) {
	if l.visit == nil {
		l.visit, l.marked = l.note, new(slotset.Bitset)
	}
	l.clear()
	return func(value unsafe.Pointer) {
		l.value = value
		l.visitor(value, l.visit)
	}
}

func (l *links) end() {
	l.marked.Clear()
	l.value = nil
}

func (l *links) clear() {
	clear(l.found)
	l.found = highwater.Trim(&l.peak, l.found)
	if l.marked != nil {
		l.marked.Clear()
	}
	l.value = nil
}

// FindLinks collects provisional handles referenced by values that the batch leaves
// in the shard. It runs user code, which may panic; nothing has changed then.
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
	c.Puts(index, true, func(puts *batch.Puts, _ batch.Key) { // the last put of an item wins
		for j := len(puts.IDs) - 1; j >= 0; j-- {
			id := puts.IDs[j]
			if s.isMarked(&s.putting, id) && s.Map.Mark(l.marked, id) == slotset.Marked {
				find(puts.Values.Pointer(j, s.typ.Size))
			}
		}
	})
	l.end()
}

// Patch resolves the handles that FindLinks found. resolve returns the handle of an item of
// this batch, or null, which Patch counts. Values of several shards may share memory, so
// one goroutine patches all shards in sequence.
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

// Link resolves the provisional handles in the fields of every value that the batch
// created, put or set.
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
		if item := s.Map.Item(id); item != nil { // nil if put and erased
			s.links.makeReal(item, resolve, &s.counts)
		}
	}
	c.Runs(s.lo, s.hi, func(_ items.Slice, created []handle.ID) {
		for _, id := range created {
			visit(id)
		}
	})
	c.Puts(index, false, func(puts *batch.Puts, _ batch.Key) {
		for _, id := range puts.IDs {
			visit(id)
		}
	})
}

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
