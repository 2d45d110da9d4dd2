package model

import (
	"cmp"
	"slices"
)

// setting is what a batch does to a column, or to optional data: the last command of each
// item counts.
type setting struct {
	counts  Counts
	own     map[*create]bool // creates that their own queue has set
	creates map[*create]*Command
	items   map[uint64]*Command // of those that lived before, by handle
	order   []*Command          // all to those
}

func (p *Plan) settingOf(of ColumnOf) *setting {
	if p.settings[of] == nil {
		p.settings[of] = &setting{own: make(map[*create]bool), creates: make(map[*create]*Command), items: make(map[uint64]*Command)}
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
	if made := p.pending(c, table); made != nil {
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
		if p.m.isOptional(c) {
			p.m.seen.See(OptionalToErased)
		}
		return
	}
	if before := of.items[c.ID]; before != nil {
		of.counts.Superseded++
		p.m.seen.See(SupersededSet)
		if before.Kind != c.Kind {
			p.m.seen.See(SetAndUnset)
		}
	}
	of.items[c.ID], of.order = c, append(of.order, c)
}

func (p *Plan) setCreate(c *Command, of *setting, made *create) {
	before := of.creates[made]
	switch {
	case p.cancelled[made]:
		of.counts.Dropped++
		p.m.seen.See(SetToErased)
		if p.m.isOptional(c) {
			p.m.seen.See(OptionalToCancelled)
		}
	case c.own && of.own[made]:
		of.counts.Superseded++
	case before != nil:
		of.counts.Superseded++
		p.m.seen.See(SupersededSet)
		if c.own || of.own[made] {
			p.m.seen.See(SetByTwoQueues)
		}
		if before.Kind != c.Kind {
			p.m.seen.See(SetAndUnset)
		}
	}
	if c.own {
		of.own[made] = true
	} else {
		p.m.seen.See(SetByOtherQueue)
	}
	of.creates[made] = c
}

// isOptional reports whether a command is about optional data.
func (m *Exact) isOptional(c *Command) bool {
	return m.tables[c.Table].shards[0].beside[c.Column].optional
}

// countSets counts the commands that are the last of their item.
func (p *Plan) countSets() {
	for of, s := range p.settings {
		unsets := 0
		for id, c := range s.items {
			switch has := p.m.Element(of, id) != nil; {
			case c.Kind == Set:
				s.counts.Put++
			case has:
				s.counts.Erased++
				unsets++
			default:
				s.counts.Redundant++
			}
		}
		if unsets > many {
			p.m.seen.See(ManyUnset)
		}
		for made, c := range s.creates {
			switch {
			case p.cancelled[made]:
			case c.Kind == Set:
				s.counts.Put++
			default:
				s.counts.Redundant++
				p.m.seen.See(CreateUnset)
			}
		}
	}
}

// many rows are marked by more than one word of bits.
const many = 64

// dropOptional takes the rows of optional data whose items a batch erases, or takes it from.
func (p *Plan) dropOptional(table int, sh *Map[Item]) {
	for number, b := range sh.beside {
		if !b.optional {
			continue
		}
		s, before := p.settings[ColumnOf{table, number}], slices.Clone(b.rows)
		b.drop(func(n uint32) bool {
			unset := false
			if s != nil {
				c := s.items[sh.Handle(n)]
				unset = c != nil && c.Kind == Unset
			}
			return unset || p.erased[sh][n]
		})
		if !slices.Equal(b.rows, before[:len(b.rows)]) {
			p.m.seen.See(OptionalMoved)
		}
	}
}

// columns returns the columns and optional data that the batch sets, by typeId and number.
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

// applySets writes the elements, with real handles in the place of provisional ones: those
// of items that lived before in the order of their last commands, then those of creates.
func (p *Plan) applySets(of ColumnOf) {
	s := p.settings[of]
	set := func(id uint64, v Value) {
		p.m.holder(id).beside[of.Column].set(uint32(id), p.linked(&s.counts, v))
	}
	var written []uint64
	for _, c := range s.order {
		if s.items[c.ID] == c && c.Kind == Set {
			set(c.ID, c.Value)
			written = append(written, c.ID)
		}
	}
	for _, made := range p.survivors(of.Table) {
		if c := s.creates[made]; c != nil && c.Kind == Set {
			set(made.real, c.Value)
		}
	}
	p.m.wrote(of, written, p.m.frame)
}
