package store

import (
	"fmt"
	"slices"

	"handloom/internal/apply"
	"handloom/internal/record"
)

// tableFlush is what a table needs to take part in flushes.
type tableFlush struct {
	frame  uint64 // of the last flush with commands for the table
	writes uint64 // the Write that had changed the table last by then
	awake  bool   // keeps memory for flushes

	// Since the table was last asked what of it is idle:
	used   bool          // it had commands
	recent record.Shards // these had

	warm record.Shards // that keep memory for flushes

	shards record.Shards // that the flush which runs changes
	listed record.Shards // whose lists of changes hold something; of none unless the table keeps some
	goesOn bool          // the flush is of the frame that the lists are of
	doubts bool          // a Write may have changed the table since the flush before

	take []int       // creates dealt, by shard
	real func(ID) ID // [Store.resolvePending], bound once
}

func (f *tableFlush) init(s *Store, shards int) {
	f.real = s.resolvePending
	f.take = make([]int, shards)
}

// begin finds out which shards of the table the commands of the batch name.
func (t *table) begin(frame uint64, inWrite bool) {
	f := &t.flushing
	f.goesOn, f.doubts = t.inFrame(frame), t.meddled(inWrite)
	if f.doubts || t.figures.version != t.version {
		t.count()
	}
	f.shards = t.recorder.Pending.Shards()
	t.beginShards(f.shards | f.listed)
}

func (t *table) beginShards(shards record.Shards) {
	t.flushing.recent |= shards
	t.flushing.warm |= shards
	for i := range shards.All {
		t.order[i].Begin(t.flushing.goesOn, t.flushing.doubts)
	}
}

// inFrame reports whether the table had commands in the frame with the given number.
func (t *table) inFrame(number uint64) bool { return t.flushing.frame == number }

// resolve returns the handle of the item that the provisional handle id, recorded for a
// flush of the last frame that had commands, stands for, and whether there is one.
func (t *table) resolve(id ID) (ID, bool) {
	if !t.inFrame(t.store.flush.last) {
		return 0, false
	}
	real, ok := t.recorder.Resolve(id)
	return real, ok && !real.IsZero()
}

// meddled reports whether a Write has changed the table since the last flush with
// commands for it, or may have: through the maps that it was given before.
func (t *table) meddled(inWrite bool) bool {
	at := t.store.written[t.ordinal]
	return at != t.flushing.writes || inWrite && at == t.store.writes
}

// Estimated nanoseconds per command, which decide only whether a flush runs
// inline and which shard is begun first (op=flush).
const (
	createCost = 4
	eraseCost  = 20
	putCost    = 10
)

func (w shardWork) cost() int64 {
	n := w.Dealt() * createCost
	for _, erases := range w.commands.Erases(w.index) {
		n += erases.Len() * eraseCost
	}
	if w.commands.All() > 0 {
		n += w.Map.Len() * eraseCost
	}
	for _, puts := range w.commands.Puts(w.index) {
		n += len(puts.IDs) * putCost
	}
	for number := range w.table.parts {
		for _, sets := range w.commands.Sets(number) {
			n += len(sets.Puts(w.index).IDs) * putCost
		}
	}
	return int64(n)
}

// deal spreads the surviving creates over the shards and checks the limits. It reports
// whether some go to shards that nothing else changes.
func (t *table) deal() (more bool, err error) {
	f, commands := &t.flushing, t.recorder.Pending
	commands.Settle()
	creates := commands.Survivors()
	named := f.shards
	if creates > 0 {
		if err := t.spread(creates); err != nil {
			return false, err
		}
	}
	t.beginShards(f.shards &^ named)
	lo := 0
	for i := range f.shards.All {
		hi := lo
		if creates > 0 {
			hi += f.take[i]
		}
		if err := t.order[i].Deal(commands, lo, hi); err != nil {
			return false, fmt.Errorf("table %q: %w", t.name, err)
		}
		lo = hi
	}
	return f.shards != named, nil
}

// spread says how many creates each shard takes. Those that take some are changed.
func (t *table) spread(creates int) error {
	f := &t.flushing
	kept := t.figures.sum.Live
	for i, of := range t.figures.shards {
		f.take[i] = of.Live
	}
	for i := range f.shards.All {
		erased := t.order[i].Erased()
		f.take[i] -= erased
		kept -= erased
	}
	if t.maxItems > 0 && kept+creates > t.maxItems {
		return fmt.Errorf("table %q: %w: %d items and %d more exceed MaxItems %d", t.name, ErrFull, kept, creates, t.maxItems)
	}
	apply.Deal(f.take, creates)
	for i, n := range f.take {
		if n > 0 {
			f.shards.Add(i)
		}
	}
	return nil
}

// hasLinks reports whether items, or what lies beside them, have fields that hold
// handles.
func (t *table) hasLinks() bool {
	return len(t.fields) > 0 || slices.ContainsFunc(t.parts, func(p *part) bool { return len(p.fields) > 0 })
}

func (w shardWork) link() {
	t := w.table
	if len(t.fields) > 0 {
		w.Link(w.commands, w.index, t.fields, t.flushing.real)
	}
	for _, c := range t.columns {
		if len(c.fields) > 0 {
			w.LinkBeside(w.commands, c.index, w.index, c.fields, t.flushing.real)
		}
	}
	for i, c := range t.sparse {
		if len(c.fields) > 0 {
			w.LinkData(w.commands, i, c.fields, t.flushing.real)
		}
	}
}

// visits reports whether a flush has to call a Links function for the table.
func (t *table) visits() bool {
	return t.visitor != nil || slices.ContainsFunc(t.parts, func(p *part) bool { return p.visitor != nil })
}

func (w shardWork) findLinks() {
	t := w.table
	if t.visitor != nil {
		w.FindLinks(w.commands, w.index, t.visitor)
	}
	for _, c := range t.columns {
		if c.visitor != nil {
			w.FindLinksBeside(w.commands, c.index, w.index, c.visitor)
		}
	}
	for i, c := range t.sparse {
		if c.visitor != nil {
			w.FindLinksOfData(w.commands, i, w.index, c.visitor)
		}
	}
}

func (w shardWork) patch() {
	if t := w.table; t.visits() {
		w.Patch(t.flushing.real)
	}
}

// resolvePending returns the handle of an item that the running flush created, or
// null.
func (t *table) resolvePending(id ID) ID {
	real, _ := t.recorder.Pending.Resolve(id)
	return real
}

func (t *table) cancel() {
	for i := range t.flushing.shards.All {
		t.order[i].Cancel()
	}
	t.recorder.Pending.Forget()
}

// publish ends the table's part of a flush: what it created
// resolves from now on. It adds to the report the lines of the table and of its columns that had
// commands, and the first stale commands of each shard.
func (t *table) publish(frame uint64, r *Report) {
	f, of := &t.flushing, TableReport{Name: t.name}
	for i := range f.shards.All {
		counts, samples := t.order[i].Counts()
		of.Counts.Add(counts)
		r.Stale = append(r.Stale, samples...)
	}
	r.Tables = append(r.Tables, of)
	r.Total.Add(of.Counts)
	for number, p := range t.parts {
		if len(p.sets()) == 0 {
			continue
		}
		of := TableReport{Name: p.fullName}
		for i := range f.shards.All {
			of.Counts.Add(t.order[i].PartCounts(number))
		}
		r.Columns = append(r.Columns, of)
		r.Total.Add(of.Counts)
	}
	t.recorder.Publish(!f.goesOn)
	t.list()
	f.frame, f.writes = frame, t.store.written[t.ordinal]
	t.version++
	t.recount(f.shards)
}

// list notes whose lists of changes hold something from now on. Those of the frame before
// are over, where the flush has not emptied them itself.
func (t *table) list() {
	f := &t.flushing
	if !t.tracked {
		return
	}
	if !f.goesOn {
		for i := range (f.listed &^ f.shards).All {
			t.order[i].ForgetChanges()
		}
		f.listed = 0
	}
	f.listed |= f.shards
}
