package model

import "maps"

// Copy returns the state without the batch, for a checkpoint.
func (m *Exact) Copy() *Exact {
	c := &Exact{epoch: m.epoch, depleted: m.depleted}
	// The copy has neither batch nor lists: a checkpoint contains state alone.
	c.tables = copyTables(m.tables)
	return c
}

// copyTables copies slots and rows as well: a rollback issues the same handles again.
func copyTables(tables []*table) []*table {
	var all []*table
	for _, t := range tables {
		made := &table{Table: t.Table}
		for _, s := range t.shards {
			made.shards = append(made.shards, s.Clone())
		}
		all = append(all, made)
	}
	return all
}

// Rollback restores the state of a copy, which stays unchanged. It drops the
// batch; names since then become stale.
func (m *Exact) Rollback(to *Exact) {
	if m.Pending() > 0 {
		m.seen.See(RolledBackOverBatch)
	}
	if m.depleted > to.depleted {
		m.seen.See(RolledBackOverDepletion)
	}
	m.tables = copyTables(to.tables)
	m.epoch, m.depleted = to.epoch, to.depleted
	m.changes, m.written = make(map[int]*frameChanges), make(map[ColumnID]*written)
	m.beginSparse()
	// Names of creates before the rollback resolve no more, also names in the restored
	// state.
	m.creates, m.calls, m.sealed = make(map[int]*create), nil, 0
	m.finish()
}

// Copy returns the state without the batch. The handles ever issued are part of it, because
// a rollback begins the history of the checkpoint again.
func (a *Abstract) Copy() *Abstract {
	c := &Abstract{tables: a.tables, ever: maps.Clone(a.ever), issued: append([]uint64(nil), a.issued...)}
	for _, items := range a.live {
		c.live = append(c.live, maps.Clone(items))
	}
	return c
}
