package model

import (
	"cmp"
	"slices"
)

// setting is what a batch does to a column: the last Sets that count, and their counters.
type setting struct {
	counts  Counts
	own     map[*create]bool // creates that their own queue has set
	creates map[*create]Value
	values  map[*Map[Item]]map[uint32]Value
}

func (p *Plan) settingOf(of ColumnOf) *setting {
	if p.settings[of] == nil {
		p.settings[of] = &setting{own: make(map[*create]bool), creates: make(map[*create]Value), values: make(map[*Map[Item]]map[uint32]Value)}
	}
	return p.settings[of]
}

// isOwn reports whether a Set is of a create that the same queue has recorded. Then it
// knows the place, and is no command by handle.
func (m *Exact) isOwn(c *Command, batch, pass, task int) bool {
	made := m.creates[c.Name]
	return c.Name != 0 && made != nil && made.batch == batch && made.table == c.Table && made.pass == pass && made.task == task
}

func (p *Plan) set(c *Command, table int, s Sample) {
	of := p.settingOf(ColumnOf{table, c.Column})
	if made := p.m.pending(c, table); made != nil {
		p.setCreate(c, of, made)
		return
	}
	sh, n, ok := p.find(c.ID, table)
	switch {
	case !ok:
		p.stale(c, &of.counts, s)
		return
	case p.erased[sh][n]:
		of.counts.Dropped++
		p.m.seen.See(SetToErased)
		return
	}
	if of.values[sh] == nil {
		of.values[sh] = make(map[uint32]Value)
	}
	if _, again := of.values[sh][n]; again {
		of.counts.Superseded++
		p.m.seen.See(SupersededSet)
	} else {
		of.counts.Put++
	}
	of.values[sh][n] = c.Value
}

func (p *Plan) setCreate(c *Command, of *setting, made *create) {
	_, again := of.creates[made]
	switch {
	case c.own && of.own[made]:
		of.counts.Superseded++
	case p.cancelled[made]:
		of.counts.Dropped++
		p.m.seen.See(SetToErased)
	case again:
		of.counts.Superseded++
		p.m.seen.See(SupersededSet)
		if c.own || of.own[made] {
			p.m.seen.See(SetByTwoQueues)
		}
	default:
		of.counts.Put++
	}
	if c.own {
		of.own[made] = true
	} else {
		p.m.seen.See(SetByOtherQueue)
	}
	of.creates[made] = c.Value
}

// columns returns the columns that the batch sets, by typeId and number.
func (p *Plan) columns() []ColumnOf {
	var all []ColumnOf
	for of := range p.settings {
		all = append(all, of)
	}
	slices.SortFunc(all, func(a, b ColumnOf) int {
		return cmp.Or(cmp.Compare(p.m.tables[a.Table].TypeID, p.m.tables[b.Table].TypeID), cmp.Compare(a.Column, b.Column))
	})
	return all
}

// applySets writes the elements, with real handles in the place of provisional ones.
func (p *Plan) applySets(of ColumnOf) {
	s := p.settings[of]
	for made, v := range s.creates {
		if !p.cancelled[made] {
			*p.m.Element(of, made.real) = p.linked(&s.counts, of.Table, v, made)
		}
	}
	var written []uint64
	for sh, values := range s.values {
		for n, v := range values {
			sh.beside[of.Column][n] = p.linked(&s.counts, of.Table, v, nil)
			written = append(written, sh.Handle(n))
		}
	}
	p.m.wrote(of, written, p.m.frame)
}
