package model

import "slices"

// Plan is the effect of a flush, computed without changing the model.
type Plan struct {
	// Refused is the reason for an expected ErrFull, or 0.
	Refused   Seen
	IsRefused bool
	IsEmpty   bool // the flush has no effect

	// By number of the call: calls that do not fit.
	Dropped map[int]bool

	m         *Exact
	report    Report
	counts    map[int]*Counts // by table; -1: no table
	emptied   map[int]bool
	erased    map[*Map[Item]]map[uint32]bool
	values    map[*Map[Item]]map[uint32]Value // last valid puts
	creates   map[int][]*create               // by table, in key order
	cancelled map[*create]bool
	put       map[*create]bool
	putValue  map[*create]Value
	depleting map[*Map[Item]]int
	settings  map[ColumnID]*setting
	shared    map[int]bool // shared links that are real
	lost      map[*create]bool
}

// Plan plans a flush of the batch, alone or in a Frame. If the batch does not
// fit, it drops the calls of the inbox that do not fit after its passes and the
// earlier calls.
func (m *Exact) Plan(alone bool) *Plan {
	m.alone = alone
	dropped := make(map[int]bool)
	all := m.planWithout(dropped)
	// The common case: everything fits.
	if !all.IsRefused {
		return all
	}
	seen := m.seen
	m.seen = nil // discarded plans do not count
	defer func() { m.seen = seen }()
	for call := range m.sealed {
		dropped[call] = true
	}
	if m.planWithout(dropped).IsRefused {
		// No call is the cause, so the flush fails and drops none.
		return all
	}
	// In order: an earlier call has precedence.
	for call := range m.sealed {
		delete(dropped, call)
		if m.planWithout(dropped).IsRefused {
			dropped[call] = true
		}
	}
	// The last plan is applied, so it counts.
	m.seen = seen
	return m.planWithout(dropped)
}

// planWithout plans the flush without some calls.
func (m *Exact) planWithout(dropped map[int]bool) *Plan {
	p := &Plan{
		Dropped: dropped, lost: make(map[*create]bool),
		m: m, counts: make(map[int]*Counts), emptied: make(map[int]bool), erased: make(map[*Map[Item]]map[uint32]bool),
		values: make(map[*Map[Item]]map[uint32]Value), creates: make(map[int][]*create),
		cancelled: make(map[*create]bool), put: make(map[*create]bool), putValue: make(map[*create]Value),
		depleting: make(map[*Map[Item]]int), shared: make(map[int]bool), settings: make(map[ColumnID]*setting),
	}
	p.IsEmpty = m.recorded()+held(m.calls[:m.sealed]) == 0 && !slices.ContainsFunc(m.tables, m.ends)
	if p.IsEmpty {
		return p
	}
	// Erases are planned first, at any position: a put or Set of an item that the batch
	// erases is dropped.
	p.drop()
	// Events that end are erased as by an EraseAll before all queues.
	for i, t := range m.tables {
		if m.ends(t) {
			p.eraseAll(&Command{Kind: EraseAll, Table: i}, 0, 0)
		}
	}
	p.collect()
	p.commands(p.eraseAll)
	p.each(Erase, p.erase)
	p.each(Put, p.replace)
	p.each(Set, p.set)
	p.countSets()
	p.limits()
	return p
}

// ends reports whether the flush erases the items of a table with Events.
func (m *Exact) ends(t *table) bool { return m.alone && t.Events && t.live() > 0 }

// commands calls f with each command in key order: passes, then calls that are not dropped.
func (p *Plan) commands(f func(c *Command, pass, task int)) {
	for number, pass := range p.m.passes {
		for task, commands := range pass.tasks {
			for i := range commands {
				f(&commands[i], number, task)
			}
		}
	}
	for call, commands := range p.m.calls[:p.m.sealed] {
		if p.Dropped[call] {
			continue
		}
		for i := range commands {
			f(&commands[i], inboxPass, call)
		}
	}
}

// drop counts the commands of dropped calls. A call has no outcome except as dropped.
func (p *Plan) drop() {
	for call := range p.Dropped {
		for i := range p.m.calls[call] {
			c := &p.m.calls[call][i]
			switch c.Kind {
			// It is not a command, only a later value of a create.
			case Stage:
				continue
			case Create:
				p.lost[p.m.creates[c.Name]] = true
			case EraseUntyped:
				p.countsOf(p.addressed(c)).Dropped++
				continue
			case Set, Unset:
				p.countsOf(c.Table)
				p.settingOf(ColumnID{c.Table, c.Column}).counts.Dropped++
				continue
			}
			p.countsOf(c.Table).Dropped++
		}
	}
	p.report.DroppedCalls = len(p.Dropped)
}

// pending is [Exact.pending] without creates of dropped calls.
func (p *Plan) pending(c *Command, table int) *create {
	if made := p.m.pending(c, table); !p.lost[made] {
		return made
	}
	return nil
}

// collect finds the creates of each table, and gives a line of the report to each table
// with a command, also if all its commands are without effect.
func (p *Plan) collect() {
	p.commands(func(c *Command, _, _ int) {
		table := c.Table
		switch c.Kind {
		case Stage:
			return
		case EraseUntyped:
			// The typeId decides the table, so an unknown one has no table.
			table = p.addressed(c)
		case Create:
			made := p.m.creates[c.Name]
			p.creates[c.Table] = append(p.creates[c.Table], made)
			p.putValue[made] = made.value
		}
		p.countsOf(table)
	})
}

// addressed returns the table of an untyped erase, or -1, which has a line only in the
// total.
func (p *Plan) addressed(c *Command) int { return p.m.owner(c.ID) }

// countsOf returns the counts of a table, which appear in the report from now on.
func (p *Plan) countsOf(table int) *Counts {
	if p.counts[table] == nil {
		p.counts[table] = new(Counts)
	}
	return p.counts[table]
}

// each calls f with the commands of a kind, in key order; s is the sample if the command is
// stale. Erases also have untyped erases, and Sets have Unsets: each pair shares the
// numbers of one list.
func (p *Plan) each(kind Kind, f func(c *Command, table int, s Sample)) {
	type list struct {
		table      int
		column     int
		typeID     uint16
		pass, task int
	}
	next := make(map[list]int)
	number := func(c *Command, pass, task int) {
		if c.Kind != kind && !(kind == Erase && c.Kind == EraseUntyped) && !(kind == Set && c.Kind == Unset) {
			return
		}
		table := c.Table
		s := Sample{ID: c.ID, TypeID: typeIDOf(c.ID), Kind: c.Kind, Column: c.Column, Pass: pass, Task: task}
		if c.Kind == EraseUntyped {
			table, s.Kind = p.addressed(c), Erase
		}
		// The bits of a provisional handle are unpredictable, so samples compare as null.
		if isProvisional(c.ID) {
			s.ID = 0
		}
		// A list has the commands of one queue to one shard, for a Set also of one column.
		at := list{table, c.Column, 0, pass, task}
		if table >= 0 {
			if t := p.m.tables[table]; !t.has(c.ID) {
				s.TypeID = t.TypeID // handles of other tables are looked up in the first shard
			}
			at.typeID = s.TypeID
		}
		// A staged Set has no place in the list of Sets by handle.
		if s.Sequence = next[at]; !c.own {
			next[at]++
		}
		f(c, table, s)
	}
	// A task's erases by row come after its erases by handle (see [Command]).
	for _, byRow := range []bool{false, true} {
		p.commands(func(c *Command, pass, task int) {
			if c.ByRow == byRow {
				number(c, pass, task)
			}
		})
	}
}

// erase plans the erase of a create or of a live item.
func (p *Plan) erase(c *Command, table int, s Sample) {
	counts := p.countsOf(table)
	if made := p.pending(c, table); made != nil {
		// The create and its first erase have cancelled out; later erases find nothing to
		// do.
		if p.cancelled[made] {
			counts.Redundant++
			return
		}
		p.cancelled[made] = true
		// The create and this erase.
		counts.CancelledOut += 2
		return
	}
	sh, n, ok := p.find(c.ID, table)
	switch {
	case !ok:
		p.stale(c, counts, s)
	case p.erased[sh][n]:
		counts.Redundant++
	default:
		p.end(counts, sh, n)
	}
}

// eraseAll erases all live items before other commands, at any position.
// Another erase of the same item is redundant.
func (p *Plan) eraseAll(c *Command, _, _ int) {
	if c.Kind != EraseAll {
		return
	}
	counts := p.countsOf(c.Table)
	if p.emptied[c.Table] {
		counts.Redundant++
		return
	}
	p.emptied[c.Table] = true
	for _, sh := range p.m.tables[c.Table].shards {
		for _, n := range sh.order(0, sh.Rows()) {
			p.end(counts, sh, n)
		}
	}
}

// end plans the end of a live item, which may deplete its slot.
func (p *Plan) end(counts *Counts, sh *Map[Item], n uint32) {
	if p.erased[sh] == nil {
		p.erased[sh] = make(map[uint32]bool)
	}
	p.erased[sh][n] = true
	counts.Erased++
	// The slot cannot be issued again, so it is lost to the creates of the same flush.
	if sh.slots[n].generation == sh.LastGeneration {
		counts.Depleted++
		p.depleting[sh]++
	}
}

// find returns the shard and slot of a live item of the table.
func (p *Plan) find(id uint64, table int) (*Map[Item], uint32, bool) {
	if table < 0 || !p.m.tables[table].has(id) || !p.m.Lives(id) {
		return nil, 0, false
	}
	return p.m.holder(id), uint32(id), true
}

// stale counts a command that names no item.
func (p *Plan) stale(c *Command, counts *Counts, s Sample) {
	counts.Stale++
	p.report.Stale = append(p.report.Stale, s)
	if why, rare := p.m.staleFor(c); rare {
		p.m.seen.See(why)
	}
}

// staleFor returns the rare reason for which the command is stale, if any. Forged
// generations are not counted.
func (m *Exact) staleFor(c *Command) (Seen, bool) {
	generation, live, ok := m.Slot(c.ID)
	// own is the generation of the handle.
	own := uint16(c.ID >> 32)
	issuable := own >= 1 && own <= m.LastGeneration
	switch {
	// The name belongs to another batch, a failed pass or another table.
	case isProvisional(c.ID) && c.Name != 0:
		return StaleProvisional, true
	case isProvisional(c.ID):
		return ForgedFree, true
	case !ok:
		return UnknownSlot, true
	// The item lives, so the command went to another table.
	case m.Lives(c.ID):
		return ForeignHandle, true
	// The slot has another item now.
	case live && issuable && generation > own:
		return StaleReused, true
	case !live && issuable && generation == 0:
		return StaleDepleted, true
	case !live && issuable && generation == own:
		return ForgedVacant, true
	}
	return 0, false
}

// replace plans a put to a create or to a live item. The last one by key counts.
func (p *Plan) replace(c *Command, table int, s Sample) {
	counts := p.countsOf(table)
	if made := p.pending(c, table); made != nil {
		switch {
		// Erases are planned already, at any position.
		case p.cancelled[made]:
			counts.Dropped++
			return
		case p.put[made]:
			counts.Superseded++
		default:
			counts.Put++
		}
		p.put[made], p.putValue[made] = true, c.Value
		return
	}
	sh, n, ok := p.find(c.ID, table)
	switch {
	case !ok:
		p.stale(c, counts, s)
		return
	case p.erased[sh][n]:
		counts.Dropped++
		return
	}
	if p.values[sh] == nil {
		p.values[sh] = make(map[uint32]Value)
	}
	if _, again := p.values[sh][n]; again {
		counts.Superseded++
	} else {
		counts.Put++
	}
	// Puts come in key order, so this is the last so far.
	p.values[sh][n] = c.Value
}

// survivors returns the creates of a table that the batch does not erase, in key order.
func (p *Plan) survivors(table int) []*create {
	return slices.DeleteFunc(slices.Clone(p.creates[table]), func(c *create) bool { return p.cancelled[c] })
}

// limits refuses the plan if the creates do not fit after the erases.
func (p *Plan) limits() {
	for i, t := range p.m.tables {
		n := len(p.survivors(i))
		if n == 0 {
			continue
		}
		kept := 0
		var sizes []int
		for _, s := range t.shards {
			// Erases count before creates.
			sizes = append(sizes, s.live-len(p.erased[s]))
			kept += s.live - len(p.erased[s])
		}
		if t.Max > 0 && kept+n > t.Max {
			p.refuse(ItemLimit)
		}
		// MaxItems limits the table, slots limit each shard.
		for k, more := range deal(sizes, n) {
			s := t.shards[k]
			if why, full := s.Full(more, len(p.erased[s]), p.depleting[s]); full {
				p.refuse(why)
			}
		}
	}
}

// refuse keeps the last reason. Each is an ErrFull.
func (p *Plan) refuse(why Seen) { p.Refused, p.IsRefused = why, true }
