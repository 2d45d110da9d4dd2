package store_test

import (
	"cmp"
	"math"
	"slices"

	"handloom/internal/sparse"
	"handloom/store"
)

// ref is a handle as a program has it: a value, or the name of a create.
type ref struct {
	id     store.ID
	create *create // not nil: its provisional handle
}

// create is one create of a program, and what became of it.
type create struct {
	frame, number int // where the program keeps its name
	table         *modelTable
	value         staged

	recorded  bool // in the batch that the next flush applies
	cancelled bool
	put       bool
	real      store.ID // once flushed; null: never appeared
}

// staged is a value with links that a flush makes real.
type staged struct {
	value uint64
	links [3]ref
	far   *far // behind a slice; nil: there is none
}

// far are the links behind a slice, which several values may share.
type far struct {
	links []ref
	made  []store.ID // by the player
}

type action int

const (
	doCreate action = iota
	doCreateMany
	doCreateFunc
	doErase
	doEraseMany
	doEraseUntyped
	doPut
	doStaged
	actions
)

// command is one call of a program that records.
type command struct {
	do      action
	table   *modelTable
	creates []*create
	targets []ref
	value   staged  // of a put, or to complete a create with
	staged  *create // to be completed
}

// modelPass is what the tasks of one pass record, or one call of the inbox.
type modelPass struct {
	tasks  [][]command
	failed bool // so that nothing of it is recorded
	call   bool
}

// modelReport is what the model expects of a Report.
type modelReport struct {
	total  store.Counts
	tables map[*modelTable]*store.Counts
	stale  []store.Sample
	stay   int // values that the batch leaves in the tables
}

// flushing is the work of one flush of the model.
type flushing struct {
	*modelStore
	report  modelReport
	erased  map[*modelShard]map[store.ID]bool
	values  map[store.ID]staged // of the puts that count
	creates map[*modelTable][]*create
	linked  map[*far]bool // counted
}

// flush applies the passes or, when something does not fit, changes nothing.
func (m *modelStore) flush(passes []modelPass) (modelReport, bool) {
	f := flushing{
		modelStore: m,
		report:     modelReport{tables: map[*modelTable]*store.Counts{}},
		erased:     map[*modelShard]map[store.ID]bool{},
		values:     map[store.ID]staged{},
		creates:    map[*modelTable][]*create{},
		linked:     map[*far]bool{},
	}
	f.each(passes, func(c command, _, _ int) { f.note(c) })
	if len(f.report.tables) == 0 && !anything(passes) {
		return f.report, true
	}
	f.eachTarget(passes, doErase, f.planErase)
	f.eachTarget(passes, doPut, f.planPut)
	if !f.fits() {
		for _, list := range f.creates {
			for _, c := range list {
				c.recorded = false
			}
		}
		return f.report, false
	}
	m.changes = map[*modelTable]*modelChanges{}
	f.apply()
	f.finish()
	return f.report, true
}

func anything(passes []modelPass) bool {
	for _, p := range passes {
		for _, task := range p.tasks {
			if !p.failed && slices.ContainsFunc(task, command.says) {
				return true
			}
		}
	}
	return false
}

// says reports whether a command is one at all: a bulk call of nothing is not.
func (c command) says() bool { return len(c.creates)+len(c.targets) > 0 }

// each visits the commands of passes that did not fail, in key order: calls of
// the inbox come after all passes, in the order they arrived.
func (f *flushing) each(passes []modelPass, visit func(c command, pass, task int)) {
	number, calls := 0, 0
	for _, p := range passes {
		for task, commands := range p.tasks {
			for _, c := range commands {
				if !p.call && !p.failed {
					visit(c, number, task)
				}
			}
		}
		if !p.call {
			number++
		}
	}
	for _, p := range passes {
		if !p.call || !anything([]modelPass{p}) {
			continue
		}
		for _, c := range p.tasks[0] {
			visit(c, math.MaxInt32, calls)
		}
		calls++
	}
}

// note sees that a command is in the batch.
func (f *flushing) note(c command) {
	switch {
	case !c.says():
	case c.do != doEraseUntyped:
		f.counts(c.table)
	case f.owner(c.targets[0]) != nil:
		f.counts(f.owner(c.targets[0]))
	}
	if c.staged != nil {
		c.staged.value = c.value
	}
	for _, made := range c.creates {
		made.recorded = true
		f.creates[c.table] = append(f.creates[c.table], made)
	}
}

func (f *flushing) counts(t *modelTable) *store.Counts {
	if t == nil {
		return &f.report.total // of commands that name no table
	}
	if f.report.tables[t] == nil {
		f.report.tables[t] = &store.Counts{}
	}
	return f.report.tables[t]
}

// owner is the table that the typeId of a handle belongs to.
func (m *modelStore) owner(r ref) *modelTable {
	if r.create != nil {
		return r.create.table
	}
	return m.tableOf(r.id)
}

// target is one erase or put of one item.
type target struct {
	ref
	table  *modelTable // nil: the typeId belongs to no table
	value  staged
	sample store.Sample // should it be stale
}

// eachTarget visits erases or puts, one by one, in key order.
func (f *flushing) eachTarget(passes []modelPass, what action, visit func(target)) {
	type column struct {
		table            *modelTable
		typeID           uint16
		pass, task, kind int
	}
	sequence := map[column]int{}
	f.each(passes, func(c command, pass, task int) {
		if (what == doPut) != (c.do == doPut) {
			return
		}
		for _, r := range c.targets {
			table := c.table
			if c.do == doEraseUntyped {
				table = f.owner(r)
			}
			s := store.Sample{Handle: r.id, TypeID: f.lost(table, r), Pass: pass, Task: task}
			if what == doPut {
				s.Kind = 1
			}
			at := column{table, s.TypeID, pass, task, int(s.Kind)}
			if table == nil {
				at.typeID = 0 // handles of no table share one list
			}
			s.Sequence = sequence[at]
			sequence[at]++
			visit(target{r, table, c.value, s})
		}
	})
}

// lost is the typeId under which a stale command is listed: that of the shard
// which did not find the item, the first of the table for foreign handles.
func (f *flushing) lost(t *modelTable, r ref) uint16 {
	if t == nil {
		return uint16(r.id>>48) & 0x7fff
	}
	if s := t.shardOf(r.id); s != nil && r.create == nil {
		return s.typeID
	}
	return t.first
}

func (f *flushing) planErase(e target) {
	counts := f.counts(e.table)
	switch shard := f.find(e); {
	case f.pending(e) && e.create.cancelled:
		counts.Redundant++
	case f.pending(e):
		e.create.cancelled = true
		counts.CancelledOut += 2
	case shard == nil:
		counts.Stale++
		f.report.stale = append(f.report.stale, e.sample)
	case f.erased[shard][e.id]:
		counts.Redundant++
	default:
		if f.erased[shard] == nil {
			f.erased[shard] = map[store.ID]bool{}
		}
		f.erased[shard][e.id] = true
		counts.Erased++
		if uint16(e.id>>32) == sparse.LastGeneration() {
			counts.Depleted++
		}
	}
}

func (f *flushing) planPut(p target) {
	counts := f.counts(p.table)
	shard := f.find(p)
	_, before := f.values[p.id]
	switch {
	case f.pending(p) && p.create.cancelled:
		counts.Dropped++
	case f.pending(p):
		if p.create.put {
			counts.Superseded++
		} else {
			counts.Put++
		}
		p.create.put, p.create.value = true, p.value
	case shard == nil:
		counts.Stale++
		f.report.stale = append(f.report.stale, p.sample)
	case f.erased[shard][p.id]:
		counts.Dropped++
	default:
		if before {
			counts.Superseded++
		} else {
			counts.Put++
		}
		f.values[p.id] = p.value
	}
}

// pending reports whether the target is a create of this batch and table.
func (f *flushing) pending(t target) bool {
	return t.create != nil && t.create.recorded && t.create.table == t.table
}

// find returns where the item lives that the target names, or nil.
func (f *flushing) find(t target) *modelShard {
	if t.create != nil || t.table == nil {
		return nil
	}
	return t.table.holder(t.id)
}

// survivors are the creates of a table that nothing cancelled.
func (f *flushing) survivors(t *modelTable) []*create {
	return slices.DeleteFunc(slices.Clone(f.creates[t]), func(c *create) bool { return c.cancelled })
}

// dealt says how many creates each shard of the table takes.
func (f *flushing) dealt(t *modelTable) []int {
	var sizes []int
	for _, s := range t.shards {
		sizes = append(sizes, len(s.live)-len(f.erased[s]))
	}
	return dealModel(sizes, len(f.survivors(t)))
}

func (f *flushing) fits() bool {
	for _, t := range f.tables {
		n, erased := len(f.survivors(t)), 0
		take := f.dealt(t)
		for i, s := range t.shards {
			erased += len(f.erased[s])
			freed := 0
			for id := range f.erased[s] {
				if uint16(id>>32) != sparse.LastGeneration() {
					freed++
				}
			}
			if !s.fits(take[i], freed) {
				return false
			}
		}
		if t.options.MaxItems > 0 && n > 0 && t.count()-erased+n > t.options.MaxItems {
			return false
		}
	}
	return true
}

// apply does puts, erases and creates, shard by shard, and then the links.
func (f *flushing) apply() {
	for _, t := range f.tables {
		f.noteChanges(t)
		creates, take := f.survivors(t), f.dealt(t)
		f.counts0(t).Created += len(creates)
		for i, s := range t.shards {
			for id := range f.erased[s] {
				f.dead = append(f.dead, id)
			}
			s.erase(f.erased[s])
			for _, c := range creates[:take[i]] {
				c.real = s.create(modelItem{})
			}
			creates = creates[take[i]:]
		}
	}
	slices.Sort(f.dead) // a Go map gave them in any order
	for _, t := range f.tables {
		for _, c := range f.survivors(t) {
			t.holder(c.real).items[c.real] = f.link(t, c.value)
			f.changes[t].created = append(f.changes[t].created, modelChange{id: c.real})
			f.report.stay++
		}
		for id, v := range f.values {
			if f.tableOf(id) == t {
				t.holder(id).items[id] = f.link(t, v)
				f.report.stay++
			}
		}
		for _, list := range [][]modelChange{f.changes[t].created, f.changes[t].replaced} {
			for i, c := range list {
				list[i].value = t.holder(c.id).items[c.id]
			}
		}
	}
}

// noteChanges lists what is erased and replaced, in the order of rows, with what
// the erased items hold.
func (f *flushing) noteChanges(t *modelTable) {
	c := &modelChanges{}
	f.changes[t] = c
	for _, s := range t.shards {
		for _, id := range s.live {
			if f.erased[s][id] {
				c.erased = append(c.erased, modelChange{id, s.items[id]})
			} else if _, put := f.values[id]; put {
				c.replaced = append(c.replaced, modelChange{id: id})
			}
		}
	}
}

// counts0 is counts that notes nothing for a table without commands.
func (f *flushing) counts0(t *modelTable) *store.Counts {
	if f.report.tables[t] == nil {
		return &store.Counts{}
	}
	return f.counts(t)
}

// link makes the provisional handles in a value real, or null.
func (f *flushing) link(t *modelTable, v staged) modelItem {
	made := modelItem{value: v.value}
	for i, l := range v.links {
		var dangles bool
		if made.links[i], dangles = f.real(l); dangles {
			f.counts(t).Dangling++
		}
	}
	if v.far == nil {
		return made
	}
	for i, l := range v.far.links {
		var dangles bool
		if made.far[i], dangles = f.real(l); dangles && !f.linked[v.far] {
			f.counts(t).Dangling++
		}
	}
	f.linked[v.far] = true // of the values that share it the first one counts
	return made
}

// real is what becomes of a handle in a value.
func (f *flushing) real(l ref) (id store.ID, dangles bool) {
	if l.create == nil && l.id>>63 == 0 {
		return l.id, false
	}
	if l.create != nil && l.create.recorded {
		id = l.create.real
	}
	return id, id == 0
}

// finish sums up, and ends the batch.
func (f *flushing) finish() {
	f.epoch++
	for _, counts := range f.report.tables {
		f.report.total.Add(*counts)
	}
	slices.SortFunc(f.report.stale, func(a, b store.Sample) int {
		return cmp.Or(cmp.Compare(a.TypeID, b.TypeID), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Pass, b.Pass), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Sequence, b.Sequence))
	})
	f.report.stale = f.report.stale[:min(len(f.report.stale), 8)]
	for _, list := range f.creates {
		for _, c := range list {
			c.recorded = false
		}
	}
}
