package model

import (
	"cmp"
	"slices"
)

// setting is the effect of a batch on a column or sparse data. The last command
// of each item counts.
type setting struct {
	counts  Counts
	creates map[*create]*Command
	items   map[uint64]*Command // last command of each item older than the batch, by handle
	order   []*Command
}

// settingOf returns the effect on a column, which has a line in the report from now on.
func (p *Plan) settingOf(col ColumnID) *setting {
	if p.settings[col] == nil {
		p.settings[col] = &setting{creates: make(map[*create]*Command), items: make(map[uint64]*Command)}
	}
	return p.settings[col]
}

// A Set of the same queue addresses its create by place, not by handle.
func (m *Exact) isOwn(c *Command, batch, pass, task int) bool {
	made := m.creates[c.Name]
	return c.Name != 0 && made != nil && made.batch == batch && made.table == c.Table && made.pass == pass && made.task == task
}

// set plans a Set or Unset. Both supersede each other: only the last command counts.
func (p *Plan) set(c *Command, table int, s Sample) {
	target := p.settingOf(ColumnID{table, c.Column})
	if made := p.pending(c, table); made != nil {
		p.setCreate(c, target, made)
		return
	}
	sh, n, ok := p.find(c.ID, table)
	switch {
	case !ok:
		p.stale(c, &target.counts, s)
		return
	case p.erased[sh][n]:
		target.counts.Dropped++
		return
	}
	// The earlier command is superseded, whichever of both is an Unset.
	if target.items[c.ID] != nil {
		target.counts.Superseded++
	}
	// order has superseded commands, too. Their item has another last command by which
	// applySets skips them.
	target.items[c.ID], target.order = c, append(target.order, c)
}

// setCreate plans a Set or Unset of a create of the batch.
func (p *Plan) setCreate(c *Command, target *setting, made *create) {
	switch {
	case p.cancelled[made]:
		target.counts.Dropped++
	case target.creates[made] != nil:
		target.counts.Superseded++
	}
	target.creates[made] = c
}

// countSets counts the last command of each item. Whether an Unset removes something is
// known only now.
func (p *Plan) countSets() {
	for col, s := range p.settings {
		for id, c := range s.items {
			// Columns have an element for each item, so the last two cases are for sparse
			// data.
			switch has := p.m.Element(col, id) != nil; {
			case c.Kind == Set:
				s.counts.Put++
			case has:
				s.counts.Unset++
			default:
				s.counts.Redundant++
			}
		}
		for made, c := range s.creates {
			switch {
			// setCreate has counted it as dropped.
			case p.cancelled[made]:
			case c.Kind == Set:
				s.counts.Put++
			default:
				s.counts.Redundant++
			}
		}
	}
}

// dropOptional removes the sparse data of erased items and of Unsets, in one step per
// shard, so that the remaining rows are packed once.
func (p *Plan) dropOptional(table int, sh *Map[Item]) {
	for number, b := range sh.components {
		if !b.optional {
			continue
		}
		s := p.settings[ColumnID{table, number}]
		if s != nil {
			for _, c := range s.order {
				// The list has the value before, so this precedes drop.
				if col := (ColumnID{table, number}); s.items[c.ID] == c && c.Kind == Unset && p.m.holder(c.ID) == sh && p.m.Element(col, c.ID) != nil {
					p.m.removeOwner(col, c.ID)
				}
			}
		}
		b.drop(func(n uint32) bool {
			unset := false
			if s != nil {
				c := s.items[sh.Handle(n)]
				unset = c != nil && c.Kind == Unset
			}
			return unset || p.erased[sh][n]
		})
	}
}

// columns returns the columns with Sets, in the order of the report.
func (p *Plan) columns() []ColumnID {
	var all []ColumnID
	for col := range p.settings {
		all = append(all, col)
	}
	slices.SortFunc(all, func(a, b ColumnID) int {
		return cmp.Or(cmp.Compare(p.m.tables[a.Table].TypeID, p.m.tables[b.Table].TypeID), cmp.Compare(a.Column, b.Column))
	})
	return all
}

// applySets writes the last Set of each item, then of each create. New rows of sparse data
// are in this order.
func (p *Plan) applySets(col ColumnID) {
	s := p.settings[col]
	set := func(id uint64, v Value) {
		p.m.addOwner(col, id)
		p.m.holder(id).components[col.Column].set(uint32(id), p.linked(&s.counts, v))
	}
	var written []uint64
	for _, c := range s.order {
		if s.items[c.ID] == c && c.Kind == Set {
			set(c.ID, c.Value)
			written = append(written, c.ID)
		}
	}
	for _, made := range p.survivors(col.Table) {
		if c := s.creates[made]; c != nil && c.Kind == Set {
			set(made.real, c.Value)
		}
	}
	p.m.wrote(col, written, p.m.frame)
}
