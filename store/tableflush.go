package store

import (
	"fmt"
	"slices"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/highwater"
	"handloom/shard"
)

// tableFlush is the state of a table in flushes.
type tableFlush struct {
	frame  uint64 // number of the frame of the last flush with commands for the table
	writes uint64 // number of the last Write to the table before that flush
	active bool   // keeps memory for flushes

	// Since the last trimIfIdle:
	used   bool         // the table had commands
	recent batch.Shards // shards with commands

	warm batch.Shards // shards that keep memory for flushes

	shards    batch.Shards // shards that the running flush changes
	sameFrame bool         // the previous flush of the table was in the same frame

	keys *keyFlush // nil: no index

	take []int       // creates dealt, by shard
	real func(ID) ID // [Store.resolvePending], bound once
}

func (f *tableFlush) init(s *Store, shards int) {
	f.real = s.resolvePending
	f.take = make([]int, shards)
}

// begin finds the shards of the table that the batch changes.
func (t *table) begin(frame uint64, inWrite bool) {
	f := &t.flushing
	f.sameFrame = t.inFrame(frame)
	if t.markDirty(inWrite) || t.stats.version != t.version {
		t.count()
	}
	f.shards = t.recorder.Pending.Shards()
	t.beginShards(f.shards)
}

func (t *table) beginShards(shards batch.Shards) {
	t.flushing.recent |= shards
	t.flushing.warm |= shards
	for ; shards != 0; shards = shards.Rest() {
		t.order[shards.First()].Begin()
	}
}

func (t *table) inFrame(number uint64) bool { return t.flushing.frame == number }

// resolve returns the handle of the item for the provisional handle id of the last frame
// with commands, and whether it exists.
func (t *table) resolve(id ID) (ID, bool) {
	if check.Cheap {
		t.lookup("Resolve")
	}
	if !t.inFrame(t.store.flush.last) {
		return 0, false
	}
	real, ok := t.recorder.Resolve(id)
	return real, ok && !real.IsZero()
}

// markDirty reports whether a Write has changed the table since its last flush, or may have
// changed its sparse data.
func (t *table) markDirty(inWrite bool) bool {
	at := t.store.written[t.ordinal]
	return at != t.flushing.writes || inWrite && at == t.store.writes
}

// cost has estimated nanoseconds per command in a step of a flush, and per line of rows
// that random erases and puts touch. It only decides whether the step runs inline and
// which shard is first.
type cost struct{ create, erase, put, line int }

// The costs are measured with items of 8 bytes (op=smallflush, op=mixed/n=10000).
var (
	planCost  = cost{create: 0, erase: 4, put: 4, line: 4}
	roomCost  = cost{create: 4, erase: 0, put: 0, line: 0}
	applyCost = cost{create: 5, erase: 5, put: 4, line: 8}
	linkCost  = cost{create: 5, erase: 0, put: 5, line: 0}
)

// rowsPerLine is the number of slots of a map in a cache line.
const rowsPerLine = 8

func (w *shardWork) cost(each cost) int64 {
	lines := w.Map.Rows() / rowsPerLine
	n := w.Dealt() * each.create
	commands := func(count, cost int) {
		n += count*cost + min(count, lines)*each.line
	}
	erases, puts := w.commands.Counts(w.index)
	commands(erases, each.erase)
	commands(puts, each.put)
	if w.commands.All() > 0 {
		commands(w.Map.Len(), each.erase)
	}
	for number := range w.table.components {
		for _, sets := range w.commands.Sets(number) {
			commands(len(sets.Puts(w.index).IDs), each.put)
		}
	}
	return int64(n)
}

// deal spreads the surviving creates over the shards and checks the limits. It reports
// whether further shards change, and sets *room if one needs memory.
func (t *table) deal(room *bool) (more bool, err error) {
	f, commands := &t.flushing, t.recorder.Pending
	commands.FixSurvivors()
	creates := commands.Survivors()
	before := f.shards
	if creates > 0 {
		if err := t.spread(creates); err != nil {
			return false, err
		}
	}
	if more = f.shards != before; more {
		t.beginShards(f.shards &^ before)
	}
	lo := 0
	for shards := f.shards; shards != 0; shards = shards.Rest() {
		i, hi := shards.First(), lo
		if creates > 0 {
			hi += f.take[i]
		}
		sh := t.order[i]
		if err := sh.Deal(commands, lo, hi); err != nil {
			return false, fmt.Errorf("table %q: %w", t.name, err)
		}
		*room = *room || sh.NeedsMemory()
		lo = hi
	}
	return more, nil
}

// spread computes the number of creates per shard, and adds these shards to the changed
// ones.
func (t *table) spread(creates int) error {
	f := &t.flushing
	kept := t.stats.sum.Live
	for i, stats := range t.stats.shards {
		f.take[i] = stats.Live
	}
	for shards := f.shards; shards != 0; shards = shards.Rest() {
		i := shards.First()
		erased := t.order[i].Erased()
		f.take[i] -= erased
		kept -= erased
	}
	if t.maxItems > 0 && kept+creates > t.maxItems {
		return t.tooMany(kept, creates)
	}
	shard.Deal(f.take, creates)
	for i, n := range f.take {
		if n > 0 {
			f.shards.Add(i)
		}
	}
	return nil
}

func (t *table) tooMany(items, more int) error {
	return fmt.Errorf("table %q: %w: %d items and %d more exceed MaxItems %d; erase some, or raise it", t.name, ErrFull, items, more, t.maxItems)
}

func (w shardWork) patch() {
	if t := w.table; t.visits {
		w.Patch(t.flushing.real)
	}
}

// resolvePending returns the handle of an item that the running flush created, or null.
func (t *table) resolvePending(id ID) ID {
	real, _ := t.recorder.Pending.Resolve(id)
	return real
}

func (t *table) cancel() {
	for i := range t.flushing.shards.All {
		t.order[i].Cancel()
	}
	t.cancelKeys()
	t.recorder.Pending.Reset()
}

// publish ends the table's part of a flush: its creates resolve from now on. It adds the
// counts of the table and its components, and the first stale commands of each shard, to
// the report.
func (t *table) publish(frame uint64, r *Report) {
	f := &t.flushing
	counts := r.addTable(t.name)
	counts.Dropped = t.recorder.Pending.Dropped()
	for shards := f.shards; shards != 0; shards = shards.Rest() {
		if stale := t.order[shards.First()].Report(counts); len(stale) > 0 {
			r.Stale = append(r.Stale, stale...)
		}
	}
	r.Total.Add(*counts)
	for number, p := range t.components {
		dropped := t.recorder.Pending.DroppedSets(number)
		if len(p.sets()) == 0 && dropped == 0 {
			continue
		}
		line := TableReport{Name: p.fullName}
		line.Dropped = dropped
		for i := range f.shards.All {
			line.Counts.Add(t.order[i].ComponentCounts(number))
		}
		r.Columns = append(r.Columns, line)
		r.Total.Add(line.Counts)
	}
	t.recorder.Publish(!f.sameFrame)
	if t.tracked {
		all := t.recorder.Published()
		t.changes.flushed(all[len(all)-1].Created(), f.shards)
	}
	f.frame, f.writes = frame, t.store.written[t.ordinal]
	t.version++
	t.recount(f.shards)
}

// active are the tables that keep memory between flushes. A table without commands for a
// while releases it, so that a table filled once costs only its items.
type active struct {
	tables  []*table
	flushes int // with commands, since the last trim
	quiet   int // without commands, since the last one with commands
}

func (a *active) add(t *table) {
	if t.activate() {
		a.tables = append(a.tables, t)
	}
}

// trimIdle trims idle tables every highwater.Period flushes. It is called after each
// flush with commands.
func (a *active) trimIdle() {
	a.quiet = 0
	if a.flushes++; a.flushes < highwater.Period {
		return
	}
	a.flushes = 0
	a.tables = slices.DeleteFunc(a.tables, (*table).trimIfIdle)
}

// nothing counts a flush without commands. After every highwater.Period of them in a row
// it releases memory kept for flushes.
func (a *active) nothing(b *batch.Batch) {
	if a.quiet++; a.quiet%highwater.Period != 0 {
		return
	}
	a.trim(b, a.quiet == highwater.Period)
}

func (a *active) trim(b *batch.Batch, flushes bool) {
	b.Trim()
	a.tables = slices.DeleteFunc(a.tables, func(t *table) bool { return t.trimWhenIdle(flushes) })
}

func (t *table) activate() (added bool) {
	added = !t.flushing.active
	t.flushing.active, t.flushing.used = true, true
	return added
}

// trimIfIdle releases the flush memory of the table if it had no commands since the last
// call, or else of the shards without commands. The last frame stays resolvable and
// listed.
func (t *table) trimIfIdle() (trimmed bool) {
	f := &t.flushing
	if f.used || t.inFrame(t.store.flush.last) {
		t.trimShards(f.warm &^ f.recent)
		f.used, f.recent = false, 0
		return false
	}
	t.trimFlushes()
	f.active = !t.trimPasses()
	return !f.active
}

func (t *table) trimFlushes() {
	t.recorder.Trim(false)
	t.trimShards(t.flushing.warm)
}

// trimPasses releases the pass memory unless a pass ran since the last call, and reports
// whether it did.
func (t *table) trimPasses() (trimmed bool) {
	t.written.trim()
	if trimmed = t.written.chunkNotes.trimIfUnused(); trimmed {
		t.pass.wrote = nil
	}
	for _, p := range t.components {
		p.written.trim()
		trimmed = p.written.chunkNotes.trimIfUnused() && trimmed
	}
	return trimmed
}

// trimWhenIdle releases flush memory, if first, and pass memory, except the data of the
// last frame that a program can see.
func (t *table) trimWhenIdle(first bool) (trimmed bool) {
	f := &t.flushing
	last := t.inFrame(t.store.flush.last)
	switch {
	case first && last:
		f.used, f.recent = false, 0
		t.recorder.Trim(true)
		t.trimShards(f.warm)
	case first:
		t.trimFlushes()
	}
	f.active = !t.trimPasses() || last
	return !f.active
}

func (t *table) trimShards(shards batch.Shards) {
	for i := range shards.All {
		t.order[i].Trim()
	}
	t.changes.trim(shards)
	t.flushing.warm &^= shards &^ t.changes.touched // lists that can be seen are released later
}
