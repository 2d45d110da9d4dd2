package shard

import (
	"unsafe"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/dense"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// columnShard is a column of the shard's map and the state of a flush for it.
type columnShard struct {
	*dense.Column
	number  int            // attachment number of the table
	setting slotset.Bitset // existing items whose elements the batch sets
	counts  batch.Counts
	sampled int
	links   links
	onSet   func(id handle.ID, item unsafe.Pointer) bool
}

// AddColumn adds a column with the number of the table's attachment. fields and visitor
// locate handles in an element. Each flush calls onSet, unless nil, for existing items
// whose element it sets, by ascending row.
func (s *Shard) AddColumn(c *dense.Column, number int, fields []uintptr, visitor LinkVisitor, onSet func(id handle.ID, item unsafe.Pointer) bool) {
	l := links{fields: fields, visitor: visitor, size: c.Kind.Type.Size}
	s.columns = append(s.columns, &columnShard{Column: c, number: number, links: l, onSet: onSet})
}

func (s *Shard) planSets(c *batch.Commands, col *columnShard, index int) {
	number := col.number
	if index == 0 {
		c.CountStaged(number, &col.counts)
	}
	col.setting.Rows.Grow(s.Map.Rows())
	size := col.Kind.Type.Size
	for _, sets := range c.Sets(number) {
		puts := sets.Puts(index)
		for from := 0; from < len(puts.IDs); from += lookahead {
			for i, row := range s.rowsOf(slotset.Block(puts.IDs[from:])) {
				if row != slotset.NoRow {
					s.planValue(&col.setting, row, &col.counts)
					continue
				}
				sequence := from + i
				id := puts.IDs[sequence]
				if !id.IsProvisional() {
					col.counts.Stale++
				} else if c.SetCreate(number, id, puts.Values.Pointer(sequence, size), sets.Key(), &col.counts) {
					continue
				}
				s.sampleSet(col, id, sets.Key(), sequence)
			}
		}
	}
}

// sampleSet samples the first stale Sets of each column: reports sort samples by column
// name.
func (s *Shard) sampleSet(col *columnShard, id handle.ID, key batch.Key, sequence int) {
	if col.sampled == batch.MaxSamples {
		return
	}
	col.sampled++
	s.sampleColumn(col.Kind.Name, batch.Set, id, key, sequence)
}

func (s *Shard) sampleColumn(column string, kind batch.Kind, id handle.ID, key batch.Key, sequence int) {
	sample := s.sampleOf(kind, id, key, sequence)
	sample.Column = column
	s.samples = append(s.samples, sample)
}

// applySets writes the values in the order of keys.
func (s *Shard) applySets(c *batch.Commands, col *columnShard, index int) {
	if col.setting.Len() == 0 {
		return
	}
	t := col.Kind.Type
	for _, sets := range c.Sets(col.number) {
		puts := sets.Puts(index)
		for from := 0; from < len(puts.IDs); from += lookahead {
			rows := s.rowsOf(slotset.Block(puts.IDs[from:]))
			col.ReadAhead(rows)
			for i, row := range rows {
				if row != slotset.NoRow {
					t.Set(col.At(int(row)), puts.Values.Pointer(from+i, t.Size))
				}
			}
		}
	}
	if col.onSet != nil {
		s.Map.Marked(&col.setting, col.onSet)
	}
	col.setting.Clear()
}

func (s *Shard) findInColumn(c *batch.Commands, col *columnShard, index int) {
	t := col.Kind.Type
	l := &col.links
	find := l.begin()
	c.Staged(col.number, s.lo, s.hi, func(_ int, values items.Slice) {
		for i := range values.Len() {
			find(values.Pointer(i, t.Size))
		}
	})
	all := c.Sets(col.number)
	for i := len(all) - 1; i >= 0; i-- { // the last Set of an item wins
		puts := all[i].Puts(index)
		for j := len(puts.IDs) - 1; j >= 0; j-- {
			id := puts.IDs[j]
			if s.isMarked(&col.setting, id) && s.Map.Mark(l.marked, id) == slotset.Marked {
				find(puts.Values.Pointer(j, t.Size))
			}
		}
	}
	l.end()
}

func (s *Shard) linkColumn(c *batch.Commands, col *columnShard, index int, resolve func(handle.ID) handle.ID) {
	first := s.Map.Rows() - (s.hi - s.lo)
	c.Staged(col.number, s.lo, s.hi, func(offset int, values items.Slice) {
		for i := range values.Len() {
			col.links.makeReal(col.At(first+offset+i), resolve, &col.counts)
		}
	})
	for _, sets := range c.Sets(col.number) {
		for _, id := range sets.Puts(index).IDs {
			if row, ok := s.Map.RowOf(id); ok { // false if set and erased
				col.links.makeReal(col.At(row), resolve, &col.counts)
			}
		}
	}
}
