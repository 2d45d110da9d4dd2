package model

import (
	"cmp"
	"slices"
)

// Plan is what a flush would do, found out without doing it.
type Plan struct {
	// Refused says why the flush must fail with ErrFull, if it must.
	Refused   Seen
	IsRefused bool
	IsFull    bool // with ErrQueueFull
	IsEmpty   bool // there is nothing to do

	m         *Exact
	report    Report
	counts    map[int]*Counts // by table; -1: no table
	erased    map[*shard]map[uint32]bool
	values    map[*shard]map[uint32]Value // last puts that count
	creates   map[int][]*create           // by table, in key order
	cancelled map[*create]bool
	put       map[*create]bool
	putValue  map[*create]Value
	depleting map[*shard]int
	changes   map[int]Changes
}

// Changes is what a flush does to the items of one table.
type Changes struct {
	Created  []uint64 // in the order of recording
	Replaced []uint64 // by typeId and row before
	Erased   []uint64 // likewise
	Values   []Item   // of Erased, before
}

// Changes returns what the flush did to a table, once it was applied.
func (p *Plan) Changes(table int) Changes { return p.changes[table] }

// Plan finds out what a flush of the batch does.
func (m *Exact) Plan() *Plan {
	p := &Plan{
		m: m, counts: make(map[int]*Counts), erased: make(map[*shard]map[uint32]bool),
		values: make(map[*shard]map[uint32]Value), creates: make(map[int][]*create),
		cancelled: make(map[*create]bool), put: make(map[*create]bool), putValue: make(map[*create]Value),
		depleting: make(map[*shard]int), changes: make(map[int]Changes),
	}
	p.IsFull = m.Full()
	p.IsEmpty = m.Pending() == 0
	if p.IsFull || p.IsEmpty {
		return p
	}
	p.collect()
	p.each(Erase, p.erase)
	p.each(Put, p.replace)
	p.limits()
	return p
}

// commands calls f for the commands of the batch in key order.
func (p *Plan) commands(f func(c *Command, pass, task int)) {
	for number, pass := range p.m.passes {
		for task, commands := range pass.tasks {
			for i := range commands {
				f(&commands[i], number, task)
			}
		}
	}
	for call, commands := range p.m.calls {
		for i := range commands {
			f(&commands[i], inboxPass, call)
		}
	}
}

func (p *Plan) collect() {
	p.commands(func(c *Command, _, _ int) {
		table := c.Table
		switch c.Kind {
		case Stage:
			return
		case EraseUntyped:
			table = p.addressed(c)
		case Create:
			made := p.m.creates[c.Name]
			p.creates[c.Table] = append(p.creates[c.Table], made)
			p.putValue[made] = made.value
		}
		p.of(table)
	})
}

// addressed returns the table that an untyped erase goes to, or -1.
func (p *Plan) addressed(c *Command) int { return p.m.owner(c.ID) }

func (p *Plan) of(table int) *Counts {
	if p.counts[table] == nil {
		p.counts[table] = new(Counts)
	}
	return p.counts[table]
}

// each calls f for the erases, or the puts, with the sample that a stale one
// would be.
func (p *Plan) each(kind Kind, f func(c *Command, table int, s Sample)) {
	type list struct {
		table      int
		typeID     uint16
		pass, task int
	}
	next := make(map[list]int)
	p.commands(func(c *Command, pass, task int) {
		table := c.Table
		if c.Kind == EraseUntyped {
			table = p.addressed(c)
		}
		if isErase := c.Kind == Erase || c.Kind == EraseUntyped; isErase != (kind == Erase) || !isErase && c.Kind != Put {
			return
		}
		s := Sample{ID: c.ID, TypeID: typeIDOf(c.ID), Put: kind == Put, Pass: pass, Task: task}
		if isProvisional(c.ID) {
			s.ID = 0
		}
		at := list{table, 0, pass, task}
		if table >= 0 {
			if t := p.m.tables[table]; !t.has(c.ID) {
				s.TypeID = t.TypeID // handles of others are looked for in the first shard
			}
			at.typeID = s.TypeID
		}
		s.Sequence = next[at]
		next[at]++
		f(c, table, s)
	})
}

func (p *Plan) erase(c *Command, table int, s Sample) {
	counts := p.of(table)
	if made := p.m.pending(c, table); made != nil {
		if p.cancelled[made] {
			counts.Redundant++
			return
		}
		p.cancelled[made] = true
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
		if p.erased[sh] == nil {
			p.erased[sh] = make(map[uint32]bool)
		}
		p.erased[sh][n] = true
		counts.Erased++
		if sh.slots[n].generation == sh.last {
			counts.Depleted++
			p.depleting[sh]++
		}
	}
}

// find returns where an item of a table is.
func (p *Plan) find(id uint64, table int) (*shard, uint32, bool) {
	sh, n, ok := p.m.find(id)
	if !ok || table < 0 || !p.m.tables[table].has(id) {
		return nil, 0, false
	}
	return sh, n, true
}

func (p *Plan) stale(c *Command, counts *Counts, s Sample) {
	counts.Stale++
	p.report.Stale = append(p.report.Stale, s)
	generation, live, ok := p.m.Slot(c.ID)
	switch {
	case isProvisional(c.ID):
		p.m.seen.See(ForgedFree)
	case ok && live && generation > uint16(c.ID>>32):
		p.m.seen.See(StaleReused)
	case ok && !live && generation == 0:
		p.m.seen.See(StaleDepleted)
	case ok && !live && generation == uint16(c.ID>>32):
		p.m.seen.See(ForgedVacant)
	case !ok || p.m.Lives(c.ID):
		p.m.seen.See(ForeignHandle)
	}
}

func (p *Plan) replace(c *Command, table int, s Sample) {
	counts := p.of(table)
	if made := p.m.pending(c, table); made != nil {
		switch {
		case p.cancelled[made]:
			counts.Dropped++
			return
		case p.put[made]:
			counts.Superseded++
		default:
			counts.Put++
			p.m.seen.See(PutToCreate)
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
	p.values[sh][n] = c.Value
}

// survivors are the creates of a table that nothing cancelled.
func (p *Plan) survivors(table int) []*create {
	return slices.DeleteFunc(slices.Clone(p.creates[table]), func(c *create) bool { return p.cancelled[c] })
}

// limits finds out whether the creates fit.
func (p *Plan) limits() {
	for i, t := range p.m.tables {
		n := len(p.survivors(i))
		if n == 0 {
			continue
		}
		kept := 0
		var sizes []int
		for _, s := range t.shards {
			sizes = append(sizes, s.live-len(p.erased[s]))
			kept += s.live - len(p.erased[s])
		}
		if t.Max > 0 && kept+n > t.Max {
			p.refuse(ItemLimit)
		}
		for k, more := range deal(sizes, n) {
			s := t.shards[k]
			if why, full := s.full(more, len(p.erased[s]), p.depleting[s]); full {
				p.refuse(why)
			}
		}
	}
}

func (p *Plan) refuse(why Seen) { p.Refused, p.IsRefused = why, true }

// deal spreads n new items over shards of the given sizes: with L the largest
// level that n items can raise all lower shards to, each is raised to L, and the
// rest goes one each to the first of those that are not above it.
func deal(sizes []int, n int) []int {
	level := slices.Min(sizes)
	for fits(sizes, level+1, n) {
		level += max(1, (n-poured(sizes, level))/(2*len(sizes)))
		for !fits(sizes, level, n) {
			level--
		}
	}
	take := make([]int, len(sizes))
	left := n - poured(sizes, level)
	for i, size := range sizes {
		take[i] = max(0, level-size)
		if size <= level && left > 0 {
			take[i]++
			left--
		}
	}
	return take
}

func fits(sizes []int, level, n int) bool { return poured(sizes, level) <= n }

// poured is how many items raise all shards below a level to it.
func poured(sizes []int, level int) int {
	sum := 0
	for _, size := range sizes {
		sum += max(0, level-size)
	}
	return sum
}

// Apply does what was planned and returns the report. The plan must be of the
// batch as it is, and not be refused.
func (p *Plan) Apply() Report {
	m := p.m
	if p.IsEmpty {
		m.seen.See(EmptyFlush)
		m.finish()
		return Report{Epoch: m.epoch}
	}
	m.epoch++
	for i, t := range m.tables {
		p.applyTable(i, t)
	}
	for i := range m.tables {
		p.link(i)
	}
	m.finish()
	return p.finish()
}

// applyTable does erases and creates; values come when all handles are known.
func (p *Plan) applyTable(i int, t *table) {
	var sizes []int
	for _, s := range t.shards {
		sizes = append(sizes, s.live-len(p.erased[s]))
		p.m.depleted += p.depleting[s]
	}
	creates := p.survivors(i)
	p.note(i, t)
	if len(creates) > 0 {
		p.of(i).Created += len(creates)
	}
	take := deal(sizes, len(creates))
	if slices.Max(take) != slices.Min(take) && slices.Max(sizes) == slices.Min(sizes) {
		p.m.seen.See(UnevenDeal)
	}
	if len(creates) > 1<<14 {
		p.m.seen.See(SecondSegment)
	}
	for k, s := range t.shards {
		s.eraseSet(p.erased[s])
		for _, c := range creates[:take[k]] {
			c.real = s.issue(Item{})
			c.flushed = int(p.m.epoch)
		}
		creates = creates[take[k]:]
	}
}

// note takes down what is about to be erased and replaced.
func (p *Plan) note(i int, t *table) {
	var c Changes
	for _, s := range t.shards {
		for _, n := range s.order(0, s.rowCount()) {
			if p.erased[s][n] {
				c.Erased, c.Values = append(c.Erased, s.handle(n)), append(c.Values, s.slots[n].item)
			}
			if _, put := p.values[s][n]; put {
				c.Replaced = append(c.Replaced, s.handle(n))
			}
		}
	}
	p.changes[i] = c
}

// link writes the values, with real handles in the place of provisional ones.
func (p *Plan) link(i int) {
	t := p.m.tables[i]
	changes := p.changes[i]
	for _, c := range p.survivors(i) {
		changes.Created = append(changes.Created, c.real)
		p.changes[i] = changes
		s, n, _ := p.m.find(c.real)
		s.slots[n].item = p.linked(i, p.putValue[c], c)
	}
	for _, s := range t.shards {
		for n, v := range p.values[s] {
			s.slots[n].item = p.linked(i, v, nil)
		}
	}
}

func (p *Plan) linked(table int, v Value, self *create) Item {
	for i, id := range v.Links {
		if !isProvisional(id) {
			continue
		}
		v.Links[i] = 0
		made := p.m.creates[v.Names[i]]
		if v.Names[i] != 0 && made != nil && made.batch == p.m.serial && !made.dropped {
			v.Links[i] = made.real
		}
		switch {
		case v.Links[i] == 0:
			p.of(table).Dangling++
			p.m.seen.See(LinkDangling)
		case made == self:
			p.m.seen.See(SelfLink)
		case made.table != table:
			p.m.seen.See(LinkAcross)
		}
	}
	return v.Item
}

// MergeReports returns the report of a frame that flushed twice.
func MergeReports(a, b Report) Report {
	r := Report{Epoch: b.Epoch, Total: a.Total, Tables: slices.Clone(a.Tables), Stale: slices.Concat(a.Stale, b.Stale)}
	r.Total.add(b.Total)
	for _, t := range b.Tables {
		at := slices.IndexFunc(r.Tables, func(of TableReport) bool { return of.Table == t.Table })
		if at < 0 {
			r.Tables = append(r.Tables, t)
		} else {
			r.Tables[at].add(t.Counts)
		}
	}
	slices.SortStableFunc(r.Stale, compareSamples)
	r.Stale = r.Stale[:min(len(r.Stale), 8)]
	return r
}

// finish sums up.
func (p *Plan) finish() Report {
	r := &p.report
	r.Epoch = p.m.epoch
	for i := range p.m.tables {
		if c := p.counts[i]; c != nil {
			r.Tables = append(r.Tables, TableReport{i, *c})
			r.Total.add(*c)
		}
	}
	if c := p.counts[-1]; c != nil {
		r.Total.add(*c)
	}
	slices.SortFunc(r.Tables, func(a, b TableReport) int {
		return cmp.Compare(p.m.tables[a.Table].TypeID, p.m.tables[b.Table].TypeID)
	})
	slices.SortFunc(r.Stale, compareSamples)
	r.Stale = r.Stale[:min(len(r.Stale), 8)]
	p.m.seeCounts(r.Total)
	return *r
}

func compareSamples(a, b Sample) int {
	order := func(put bool) int {
		if put {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.TypeID, b.TypeID), cmp.Compare(order(a.Put), order(b.Put)),
		cmp.Compare(a.Pass, b.Pass), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Sequence, b.Sequence))
}

func (m *Exact) seeCounts(c Counts) {
	for seen, n := range map[Seen]int{
		Annihilated: c.CancelledOut, Superseded: c.Superseded, Dropped: c.Dropped, Redundant: c.Redundant,
	} {
		if n > 0 {
			m.seen.See(seen)
		}
	}
}
