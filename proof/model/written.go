package model

import "slices"

// written are the items of a table that puts wrote, and passes as they said.
type written struct {
	frame int             // toCome: the next; 0: none
	items map[uint64]bool // handles
}

// toCome stands for the frame that passes are of which none is around.
const toCome = -1

// items stands, as the number of a column, for the items themselves.
const items = -1

// Wrote says what a pass over a table noted as written; inFrame says that a Write is
// around it.
func (m *Exact) Wrote(table int, ids []uint64, inFrame bool) {
	m.WroteColumn(ColumnID{table, items}, ids, inFrame)
}

// WroteColumn says what a pass noted as written of a column.
func (m *Exact) WroteColumn(col ColumnID, ids []uint64, inFrame bool) {
	frame := toCome
	if inFrame {
		frame = m.frame
	}
	m.wrote(col, ids, frame)
}

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

// createdIn returns what a frame created in a table, if the lists are of it.
func (m *Exact) createdIn(table, frame int) map[uint64]bool {
	created := make(map[uint64]bool)
	if c := m.changes[table]; c != nil && frame == m.listed {
		for _, id := range c.created {
			created[id] = true
		}
	}
	return created
}

// adopt makes what was written for a frame to come part of the frame that has begun.
func (m *Exact) adopt() {
	for _, w := range m.written {
		if w.frame == toCome {
			w.frame = m.frame
		}
	}
}

// Written returns the items of a table that Written must list: those of the last frame
// that wrote some, unless the lists are of a later one, except for what it created.
func (m *Exact) Written(table int) []uint64 { return m.WrittenColumn(ColumnID{table, items}) }

// WrittenColumn returns the items that Written of a column must list.
func (m *Exact) WrittenColumn(col ColumnID) []uint64 {
	w := m.written[col]
	if w == nil || w.frame != toCome && w.frame < m.listed {
		return nil
	}
	if c := m.sparse[col]; c != nil {
		return slices.DeleteFunc(m.Rows(col.Table), func(id uint64) bool {
			return !w.items[id] || m.Element(col, id) == nil || !c.before[id] && w.frame == m.listed
		})
	}
	created := m.createdIn(col.Table, w.frame)
	return slices.DeleteFunc(m.Rows(col.Table), func(id uint64) bool { return !w.items[id] || created[id] })
}
