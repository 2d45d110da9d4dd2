package shard

import (
	"slices"
	"unsafe"

	"handloom/batch"
	"handloom/internal/highwater"
	"handloom/internal/slotset"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// sparseShard is what some items of the shard have and, during a flush, what the batch does to
// it.
type sparseShard struct {
	*sparse.Map
	name     string
	number   int            // of the attachment
	named    slotset.Bitset // scratch of planning: items that have had their last command
	dropping slotset.Bits   // rows that the batch drops
	last     []command      // the last Set of each item that lived before, from the last on
	lastPeak highwater.Mark
	added    int // rows that those need
	given    int // rows that creates need
	slots    int // of the map, with the creates
	counts   batch.Counts
	links    links

	onErased func(id handle.ID, item unsafe.Pointer) bool // bound once

	changed   func(id handle.ID, before unsafe.Pointer, has bool) // nil: nobody asks
	unset     []handle.ID                                         // that lose their value, from the last on
	unsetPeak highwater.Mark
}

// command is a Set: the item, the queue by number, and the sequence in that.
type command struct {
	id       handle.ID
	queue    uint32
	sequence uint32
}

// AddSparse adds the data that some of its items have to the shard: the attachment of the
// table that has the number. fields and visitor say where handles lie in a value, as for
// [New]. changed, unless it is nil, is called by each flush before an item gets a value or
// loses it, with the value so far, nil if there is none, and not for items that are erased.
func (s *Shard) AddSparse(d *sparse.Map, name string, number int, fields []uintptr, visitor LinkVisitor, changed func(id handle.ID, before unsafe.Pointer, has bool)) {
	of := &sparseShard{Map: d, name: name, number: number, changed: changed, links: links{fields: fields, visitor: visitor, size: d.Type.Size}}
	of.onErased = func(id handle.ID, _ unsafe.Pointer) bool {
		of.drop(id)
		return true
	}
	s.data = append(s.data, of)
	s.all = append(s.all, d)
}

// begin begins a flush, of which nothing is planned yet.
func (d *sparseShard) begin() {
	d.counts, d.added, d.given = batch.Counts{}, 0, 0
	d.last = highwater.Trim(&d.lastPeak, d.last)
	d.unset = highwater.Trim(&d.unsetPeak, d.unset)
}

// planData finds out what Sets and Unsets do, and what goes with erased items: the last
// command of each item counts, so that they are looked at from the last to the first.
func (s *Shard) planData(c *batch.Commands, d *sparseShard, index int) {
	d.dropping.Grow(d.Rows())
	if index == 0 {
		c.CountOptional(d.number, &d.counts)
	}
	all, size := c.Sets(d.number), d.Type.Size
	for queue := len(all) - 1; queue >= 0; queue-- {
		puts := all[queue].Puts(index)
		for sequence := len(puts.IDs) - 1; sequence >= 0; sequence-- {
			id, unset := puts.IDs[sequence], all[queue].IsUnset(index, sequence)
			switch {
			case !id.IsProvisional():
				s.planItem(d, command{id, uint32(queue), uint32(sequence)}, unset)
			case unset:
				c.GiveCreate(d.number, id, nil, all[queue].Key(), &d.counts)
			default:
				c.GiveCreate(d.number, id, puts.Values.Pointer(sequence, size), all[queue].Key(), &d.counts)
			}
		}
	}
	d.named.Clear()
	if d.counts.Stale > 0 {
		s.sampleData(c, d, index)
	}
	s.planDrops(d)
}

// planItem is planData for a command to an item that lived before, or to none.
func (s *Shard) planItem(d *sparseShard, of command, unset bool) {
	if s.Map.IsMarked(&s.erasing, of.id) {
		d.counts.Dropped++
		return
	}
	switch s.Map.Mark(&d.named, of.id) {
	case slotset.Stale:
		d.counts.Stale++
		return
	case slotset.AlreadyMarked:
		d.counts.Superseded++
		return
	}
	switch has := d.Has(of.id); {
	case unset && has:
		d.counts.Erased++
		d.drop(of.id)
		if d.changed != nil {
			d.unset = append(d.unset, of.id)
		}
	case unset:
		d.counts.Redundant++
	default:
		d.counts.Put++
		d.last = append(d.last, of)
		if !has {
			d.added++
		}
	}
}

// drop marks the row of an item, if it has one.
func (d *sparseShard) drop(id handle.ID) {
	if row, ok := d.Row(id); ok {
		d.dropping.Add(row)
	}
}

// planDrops marks the rows of erased items, in time that the fewer of the two decide.
func (s *Shard) planDrops(d *sparseShard) {
	switch erased := s.erasing.Len(); {
	case erased == 0 || d.Rows() == 0:
	case erased <= d.Rows():
		s.Map.Marked(&s.erasing, d.onErased)
	default:
		for row, id := range d.Owners(0, d.Rows()) {
			if s.Map.IsMarked(&s.erasing, id) {
				d.dropping.Add(row)
			}
		}
	}
}

// sampleData keeps the first stale Sets and the first stale Unsets, which planning has met
// last.
func (s *Shard) sampleData(c *batch.Commands, d *sparseShard, index int) {
	sampled := make(map[batch.Kind]int)
	for _, sets := range c.Sets(d.number) {
		for sequence, id := range sets.Puts(index).IDs {
			if _, ok := c.Resolve(id); ok || s.Map.Has(id) {
				continue
			}
			kind := batch.Set
			if sets.IsUnset(index, sequence) {
				kind = batch.Unset
			}
			if sampled[kind] < batch.MaxSamples {
				s.sampleColumn(d.name, kind, id, sets.Key(), sequence)
				sampled[kind]++
			}
		}
	}
}

// dealData finds out what rows the creates of the shard need.
func (s *Shard) dealData(c *batch.Commands) {
	for _, d := range s.data {
		d.given = c.CountGiven(d.number, s.lo, s.hi)
		if d.added+d.given > 0 {
			d.slots = s.Map.Stats().Slots + s.hi - s.lo
		}
	}
}

func (d *sparseShard) needsMemory() bool { return !d.HasRoom(d.added+d.given, d.slots) }

// applyData does what was planned for items that lived before: rows that go first, and
// then Sets in the order of keys.
func (s *Shard) applyData(c *batch.Commands, d *sparseShard, index int) {
	if d.changed != nil {
		d.report()
	}
	d.DropMarked(&d.dropping)
	d.dropping.Clear()
	all, size := c.Sets(d.number), d.Type.Size
	for i := len(d.last) - 1; i >= 0; i-- {
		of := &d.last[i]
		d.Set(of.id, all[of.queue].Puts(index).Values.Pointer(int(of.sequence), size))
	}
}

// report reports the planned changes of items that lived before.
func (d *sparseShard) report() {
	before := func(id handle.ID) unsafe.Pointer {
		if row, ok := d.Row(id); ok {
			return d.At(row)
		}
		return nil
	}
	for _, id := range slices.Backward(d.unset) {
		d.changed(id, before(id), false)
	}
	for i := len(d.last) - 1; i >= 0; i-- {
		id := d.last[i].id
		d.changed(id, before(id), true)
	}
}

// give gives a new item a value.
func (d *sparseShard) give(id handle.ID, v unsafe.Pointer) {
	if d.changed != nil {
		d.changed(id, nil, true)
	}
	d.Set(id, v)
}

// ComponentCounts returns what the planned or applied batch does to the column or data that is
// the attachment of the number.
func (s *Shard) ComponentCounts(number int) batch.Counts {
	for _, col := range s.columns {
		if col.number == number {
			return col.counts
		}
	}
	for _, d := range s.data {
		if d.number == number {
			return d.counts
		}
	}
	return batch.Counts{}
}

func (s *Shard) findInData(c *batch.Commands, d *sparseShard, index int) {
	l := &d.links
	find := l.begin()
	c.Given(d.number, s.lo, s.hi, func(_ handle.ID, v unsafe.Pointer) { find(v) })
	all := c.Sets(d.number)
	for _, of := range d.last {
		find(all[of.queue].Puts(index).Values.Pointer(int(of.sequence), d.Type.Size))
	}
	l.end()
}

func (s *Shard) linkData(c *batch.Commands, d *sparseShard, resolve func(handle.ID) handle.ID) {
	visit := func(id handle.ID) {
		row, _ := d.Row(id)
		d.links.makeReal(d.At(row), resolve, &d.counts)
	}
	c.Given(d.number, s.lo, s.hi, func(id handle.ID, _ unsafe.Pointer) { visit(id) })
	for _, of := range d.last {
		visit(of.id)
	}
}
