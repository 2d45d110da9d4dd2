package shard

import (
	"slices"
	"unsafe"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/highwater"
	"handloom/internal/slotset"
	"handloom/internal/sparse"
)

// sparseShard is sparse data of the shard's items and the state of a flush for it.
type sparseShard struct {
	*sparse.Map
	name     string
	number   int          // attachment number of the table
	named    slotset.Bits // rows of items
	dropping slotset.Bits
	last     []command // last Set of each existing item, in reverse order
	lastPeak highwater.Mark
	added    int // new rows for last
	given    int // new rows for creates
	slots    int
	counts   batch.Counts
	links    links

	onErased func(id handle.ID, item unsafe.Pointer) bool

	changed   func(id handle.ID, before unsafe.Pointer, has bool)
	unset     []handle.ID // items that lose their value, in reverse order
	unsetPeak highwater.Mark
}

// command is a Set: item, number of the queue and index in the queue.
type command struct {
	id       handle.ID
	queue    uint32
	sequence uint32
}

// AddSparse adds sparse data with the number of the table's attachment. fields and visitor
// locate handles in a value. Each flush calls changed, unless nil, before an item gets or
// loses a value, with the old value or nil, but not for erased items.
func (s *Shard) AddSparse(d *sparse.Map, name string, number int, fields []uintptr, visitor LinkVisitor, changed func(id handle.ID, before unsafe.Pointer, has bool)) {
	data := &sparseShard{Map: d, name: name, number: number, changed: changed, links: links{fields: fields, visitor: visitor, size: d.Type.Size}}
	data.onErased = func(id handle.ID, _ unsafe.Pointer) bool {
		data.drop(id)
		return true
	}
	s.data = append(s.data, data)
	s.all = append(s.all, d)
}

func (d *sparseShard) begin() {
	d.counts, d.added, d.given = batch.Counts{}, 0, 0
	d.last = highwater.Trim(&d.lastPeak, d.last)
	d.unset = highwater.Trim(&d.unsetPeak, d.unset)
}

// planData iterates in reverse order, because the last command of an item counts.
func (s *Shard) planData(c *batch.Commands, d *sparseShard, index int) {
	d.dropping.Grow(d.Rows())
	d.named.Grow(s.Map.Rows())
	if index == 0 {
		c.CountOptional(d.number, &d.counts)
	}
	all, size := c.Sets(d.number), d.Type.Size
	for queue := len(all) - 1; queue >= 0; queue-- {
		puts := all[queue].Puts(index)
		for end := len(puts.IDs); end > 0; {
			ids := puts.IDs[end-min(lookahead, end) : end]
			end -= len(ids)
			rows, dataRows := s.rowsOf(ids), s.rowsIn(d, ids)
			for i := len(ids) - 1; i >= 0; i-- {
				id, sequence := ids[i], end+i
				unset := puts.IsUnset(sequence)
				switch {
				case rows[i] != slotset.NoRow:
					s.planItem(d, command{id, uint32(queue), uint32(sequence)}, rows[i], dataRows[i], unset)
				case !id.IsProvisional():
					d.counts.Stale++
				case unset:
					c.GiveCreate(d.number, id, nil, all[queue].Key(), &d.counts)
				default:
					c.GiveCreate(d.number, id, puts.Values.Pointer(sequence, size), all[queue].Key(), &d.counts)
				}
			}
		}
	}
	d.named.Clear()
	if d.counts.Stale > 0 {
		s.sampleData(c, d, index)
	}
	s.planDrops(d)
}

// planItem handles the item at row, whose data is at dataRow.
func (s *Shard) planItem(d *sparseShard, cmd command, row, dataRow slotset.Row, unset bool) {
	if s.erasing.Rows.Has(int(row)) {
		d.counts.Dropped++
		return
	}
	if !d.named.Add(int(row)) {
		d.counts.Superseded++
		return
	}
	switch has := dataRow != slotset.NoRow; {
	case unset && has:
		d.counts.Unset++
		d.dropping.Add(int(dataRow))
		if d.changed != nil {
			d.unset = append(d.unset, cmd.id)
		}
	case unset:
		d.counts.Redundant++
	default:
		d.counts.Put++
		d.last = append(d.last, cmd)
		if !has {
			d.added++
		}
	}
}

func (d *sparseShard) drop(id handle.ID) {
	if row, ok := d.Row(id); ok {
		d.dropping.Add(row)
	}
}

// planDrops takes time proportional to the smaller number.
func (s *Shard) planDrops(d *sparseShard) {
	switch erased := s.erasing.Len(); {
	case erased == 0 || d.Rows() == 0:
	case erased <= d.Rows():
		s.Map.Marked(&s.erasing, d.onErased)
	default:
		owners := d.Owners(0, d.Rows())
		for from := 0; from < len(owners); from += lookahead {
			for i, row := range s.rowsOf(slotset.Block(owners[from:])) {
				if s.erasing.Rows.Has(int(row)) {
					d.dropping.Add(from + i)
				}
			}
		}
	}
}

// sampleData samples the first stale Sets and Unsets, which planning met last.
func (s *Shard) sampleData(c *batch.Commands, d *sparseShard, index int) {
	sampled := make(map[batch.Kind]int)
	for _, sets := range c.Sets(d.number) {
		puts := sets.Puts(index)
		for sequence, id := range puts.IDs {
			if _, ok := c.Resolve(id); ok || s.Map.Item(id) != nil {
				continue
			}
			kind := batch.Set
			if puts.IsUnset(sequence) {
				kind = batch.Unset
			}
			if sampled[kind] < batch.MaxSamples {
				s.sampleColumn(d.name, kind, id, sets.Key(), sequence)
				sampled[kind]++
			}
		}
	}
}

func (s *Shard) dealData(c *batch.Commands) {
	for _, d := range s.data {
		d.given = c.CountGiven(d.number, s.lo, s.hi)
		if d.added+d.given > 0 {
			d.slots = s.Map.Stats().Slots + s.hi - s.lo
		}
	}
}

func (d *sparseShard) needsMemory() bool { return !d.HasRoom(d.added+d.given, d.slots) }

// applyData drops rows, then applies Sets in the order of keys.
func (s *Shard) applyData(c *batch.Commands, d *sparseShard, index int) {
	if d.changed != nil {
		d.report()
	}
	d.DropMarked(&d.dropping)
	d.dropping.Clear()
	all, t := c.Sets(d.number), d.Type
	for end := len(d.last); end > 0; {
		last := d.last[end-min(lookahead, end) : end]
		end -= len(last)
		s.ids = s.ids[:0]
		for i := range last {
			s.ids = append(s.ids, last[i].id)
		}
		rows := s.rowsIn(d, s.ids)
		for i := len(last) - 1; i >= 0; i-- {
			cmd := &last[i]
			t.Set(d.Place(cmd.id, rows[i]), all[cmd.queue].Puts(index).Values.Pointer(int(cmd.sequence), t.Size))
		}
	}
}

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

func (d *sparseShard) give(id handle.ID, v unsafe.Pointer) {
	if d.changed != nil {
		d.changed(id, nil, true)
	}
	d.Set(id, v)
}

// ComponentCounts returns the counts of a column or sparse data.
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
	for _, cmd := range d.last {
		find(all[cmd.queue].Puts(index).Values.Pointer(int(cmd.sequence), d.Type.Size))
	}
	l.end()
}

func (s *Shard) linkData(c *batch.Commands, d *sparseShard, resolve func(handle.ID) handle.ID) {
	visit := func(id handle.ID) {
		row, _ := d.Row(id)
		d.links.makeReal(d.At(row), resolve, &d.counts)
	}
	c.Given(d.number, s.lo, s.hi, func(id handle.ID, _ unsafe.Pointer) { visit(id) })
	for _, cmd := range d.last {
		visit(cmd.id)
	}
}
