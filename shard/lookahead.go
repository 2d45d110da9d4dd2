package shard

import (
	"slices"

	"handloom/handle"
	"handloom/internal/slotset"
)

const lookahead = slotset.Lookahead

// rowsOf returns the rows of at most [lookahead] handles, valid until the next call.
func (s *Shard) rowsOf(ids []handle.ID) []slotset.Row {
	s.rows = slices.Grow(s.rows[:0], len(ids))[:len(ids)]
	s.Map.RowsOf(ids, s.rows)
	return s.rows
}

// rowsIn is rowsOf for rows of sparse data.
func (s *Shard) rowsIn(d *sparseShard, ids []handle.ID) []slotset.Row {
	s.dataRows = slices.Grow(s.dataRows[:0], len(ids))[:len(ids)]
	d.RowsOf(ids, s.dataRows)
	return s.dataRows
}
