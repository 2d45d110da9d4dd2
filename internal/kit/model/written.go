package model

import "slices"

// written is what passes said of a table that they wrote.
type written struct {
	frame int             // toCome: the next; 0: none
	items map[uint64]bool // handles
}

// toCome stands for the frame that passes are of which none is around.
const toCome = -1

// Wrote says what a pass over a table noted as written; inFrame says that a Write or a
// Run of a schedule is around it.
func (m *Exact) Wrote(table int, ids []uint64, inFrame bool) {
	if len(ids) == 0 {
		return
	}
	frame := toCome
	if inFrame {
		frame = m.frame
	}
	w := m.written[table]
	if w == nil || w.frame != frame && w.frame != toCome {
		w = &written{items: make(map[uint64]bool)}
		m.written[table] = w
	}
	w.frame = frame
	created := m.createdIn(table, frame)
	for _, id := range ids {
		w.items[id] = true
		if created[id] {
			m.seen.See(WroteCreated)
		}
	}
}

// createdIn returns what a frame created in a table, if it is the last that flushed
// something.
func (m *Exact) createdIn(table, frame int) map[uint64]bool {
	created := make(map[uint64]bool)
	if c := m.changes[table]; c != nil && frame == m.flushed {
		for _, id := range c.created {
			created[id] = true
		}
	}
	return created
}

// adopt makes what was written for a frame to come that of a flush.
func (m *Exact) adopt() {
	for _, w := range m.written {
		if w.frame == toCome {
			w.frame = m.frame
		}
	}
}

// Written returns the items of a table that Written must list: those of the last frame
// that wrote some, unless a later one flushed something, but for what it created.
func (m *Exact) Written(table int) []uint64 {
	w := m.written[table]
	if w == nil || w.frame != toCome && w.frame < m.flushed {
		return nil
	}
	created := m.createdIn(table, w.frame)
	return slices.DeleteFunc(m.Rows(table), func(id uint64) bool { return !w.items[id] || created[id] })
}
