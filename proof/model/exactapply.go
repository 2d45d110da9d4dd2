package model

import "slices"

// Apply applies the plan and returns the report. The plan must be of the
// current batch and not refused.
func (p *Plan) Apply() Report {
	m := p.m
	// Writes noted before the flush belong to its frame.
	m.adopt()
	m.beginLists()
	// Even an empty flush begins the lists of its frame, and names of the batch become
	// stale.
	if p.IsEmpty {
		m.finish()
		return Report{Epoch: m.epoch}
	}
	m.epoch++
	if len(p.Dropped) > 0 {
		m.seen.See(CallDropped)
	}
	// Creates of dropped calls have no handle: their names resolve to nothing from now on.
	for made := range p.lost {
		made.dropped = true
	}
	m.flushed = m.frame
	// All tables get their handles before the first link: a value may link to any table.
	for i, t := range m.tables {
		p.applyTable(i, t)
	}
	for i := range m.tables {
		p.link(i)
	}
	// Columns follow the items, because a Set of a create needs its handle.
	for _, col := range p.columns() {
		p.applySets(col)
	}
	m.finish()
	return p.finish()
}

// applyTable erases, then creates, so that creates use the slots that erases freed. Values
// follow after all handles are known.
func (p *Plan) applyTable(i int, t *table) {
	var sizes []int
	for _, s := range t.shards {
		sizes = append(sizes, s.live-len(p.erased[s]))
		p.m.depleted += p.depleting[s]
	}
	creates := p.survivors(i)
	// The lists have the values before the flush.
	p.note(i, t)
	if len(creates) > 0 {
		p.countsOf(i).Created += len(creates)
	}
	// Sizes are without the erased items. Creates go to the shards in runs, in key order.
	take := deal(sizes, len(creates))
	if slices.Max(take) != slices.Min(take) && slices.Max(sizes) == slices.Min(sizes) {
		p.m.seen.See(UnevenDeal)
	}
	for k, s := range t.shards {
		// Sparse rows move before the items are erased: their owners must still have
		// handles.
		p.dropOptional(i, s)
		s.eraseSet(p.erased[s])
		for _, c := range creates[:take[k]] {
			c.real = s.Insert(Item{})
			c.frame = p.m.frame
		}
		creates = creates[take[k]:]
	}
}

// note adds the erased and replaced items of a table to the lists of the frame, in the
// order of rows.
func (p *Plan) note(i int, t *table) {
	c := p.m.changesOf(i)
	var written []uint64
	for k, s := range t.shards {
		for _, n := range s.order(0, s.Rows()) {
			id := s.Handle(n)
			if _, put := p.values[s][n]; p.erased[s][n] {
				c.erase(k, id, s.items[n])
			} else if put {
				written = append(written, id)
			}
		}
	}
	p.m.wrote(ColumnID{i, items}, written, p.m.frame)
}

// link writes the values of creates and puts, with real handles in their links.
func (p *Plan) link(i int) {
	t := p.m.tables[i]
	changes := p.m.changesOf(i)
	for _, c := range p.survivors(i) {
		changes.created = append(changes.created, c.real)
		*p.m.Item(c.real) = p.linked(p.countsOf(i), p.putValue[c])
	}
	for _, s := range t.shards {
		for n, v := range p.values[s] {
			s.items[n] = p.linked(p.countsOf(i), v)
		}
	}
}

// linked returns the item of a value with real handles, and counts links to nothing as
// dangling.
func (p *Plan) linked(counts *Counts, v Value) Item {
	for i, id := range v.Links {
		if !isProvisional(id) {
			continue
		}
		v.Links[i] = 0
		made := p.m.creates[v.Names[i]]
		// Only creates of the same batch resolve. The handle of a cancelled create stays 0.
		if v.Names[i] != 0 && made != nil && made.batch == p.m.serial && !made.dropped && !p.lost[made] {
			v.Links[i] = made.real
		}
		// The store patches shared memory once: the second value finds no provisional
		// handle there.
		if i == 0 && p.shared[v.Share] { // only the first value of a share counts
			p.m.seen.See(SharedLinks)
		} else if v.Links[i] == 0 {
			counts.Dangling++
		}
	}
	if v.Share != 0 {
		p.shared[v.Share] = true
	}
	return v.Item
}
