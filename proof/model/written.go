package model

import "slices"

// written are the items that the last frame with writes wrote.
type written struct {
	frame int             // toCome: the next frame; 0: none
	items map[uint64]bool // by handle
}

// toCome is the frame of passes outside a frame: the next frame.
const toCome = -1

// items is the column number of the items themselves.
const items = -1

// Wrote records the writes noted by a pass over a table, in a Frame if inFrame.
func (m *Exact) Wrote(table int, ids []uint64, inFrame bool) {
	m.WroteColumn(ColumnID{table, items}, ids, inFrame)
}

// WroteColumn is [Exact.Wrote] for a column.
func (m *Exact) WroteColumn(col ColumnID, ids []uint64, inFrame bool) {
	frame := toCome
	if inFrame {
		frame = m.frame
	}
	m.wrote(col, ids, frame)
}

// wrote adds writes of a frame. The first write of a later frame begins a new list, except
// that writes to come are adopted.
func (m *Exact) wrote(col ColumnID, ids []uint64, frame int) {
	if len(ids) == 0 {
		return
	}
	w := m.written[col]
	if w == nil || w.frame != frame && w.frame != toCome {
		w = &written{items: make(map[uint64]bool)}
		m.written[col] = w
	}
	w.frame = frame
	for _, id := range ids {
		w.items[id] = true
	}
}

// createdIn returns the creates that a frame has listed: they are new, not written.
func (m *Exact) createdIn(table, frame int) map[uint64]bool {
	created := make(map[uint64]bool)
	if c := m.changes[table]; c != nil && frame == m.listed {
		for _, id := range c.created {
			created[id] = true
		}
	}
	return created
}

// adopt gives the writes outside of a frame to the frame that has begun.
func (m *Exact) adopt() {
	for _, w := range m.written {
		if w.frame == toCome {
			w.frame = m.frame
		}
	}
}

// Written returns the expected Written of a table: the writes of the last frame
// with writes, without its creates; nothing if a later frame has lists.
func (m *Exact) Written(table int) []uint64 { return m.WrittenColumn(ColumnID{table, items}) }

// WrittenColumn is [Exact.Written] for a column or sparse data.
func (m *Exact) WrittenColumn(col ColumnID) []uint64 {
	w := m.written[col]
	if w == nil || w.frame != toCome && w.frame < m.listed {
		return nil
	}
	// Data that the frame added is in SparseChanges instead.
	if c := m.sparse[col]; c != nil {
		return slices.DeleteFunc(m.Rows(col.Table), func(id uint64) bool {
			return !w.items[id] || m.Element(col, id) == nil || !c.before[id] && w.frame == m.listed
		})
	}
	created := m.createdIn(col.Table, w.frame)
	return slices.DeleteFunc(m.Rows(col.Table), func(id uint64) bool { return !w.items[id] || created[id] })
}
