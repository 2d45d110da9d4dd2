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
	if target.items[c.ID] != nil {
		target.counts.Superseded++
	}
	target.items[c.ID], target.order = c, append(target.order, c)
}

func (p *Plan) setCreate(c *Command, target *setting, made *create) {
	switch {
	case p.cancelled[made]:
		target.counts.Dropped++
	case target.creates[made] != nil:
		target.counts.Superseded++
	}
	target.creates[made] = c
}

func (p *Plan) countSets() {
	for col, s := range p.settings {
		for id, c := range s.items {
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
			case p.cancelled[made]:
			case c.Kind == Set:
				s.counts.Put++
			default:
				s.counts.Redundant++
			}
		}
	}
}

func (p *Plan) dropOptional(table int, sh *Map[Item]) {
	for number, b := range sh.components {
		if !b.optional {
			continue
		}
		s := p.settings[ColumnID{table, number}]
		if s != nil {
			for _, c := range s.order {
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
