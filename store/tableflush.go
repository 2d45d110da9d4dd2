package store

import (
	"fmt"
	"slices"

	"handloom/internal/apply"
)

// tableFlush is what a table needs to take part in flushes.
type tableFlush struct {
	frame  uint64 // of the last flush with commands for the table
	writes uint64 // the Write that had changed the table last by then
	awake  bool   // keeps memory for flushes
	used   bool   // since the table was last asked whether it is idle

	sizes, take, sorted []int       // of the shards, for dealing
	real                func(ID) ID // [Store.resolvePending], bound once
}

func (f *tableFlush) init(s *Store, shards int) {
	f.real = s.resolvePending
	f.sizes, f.take, f.sorted = make([]int, shards), make([]int, shards), make([]int, shards)
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
	n := w.commands.Survivors() / len(w.table.order) * createCost
	for _, erases := range w.commands.Erases(w.index) {
		n += len(erases.IDs) * eraseCost
	}
	if w.commands.All() > 0 {
		n += w.Map.Len() * eraseCost
	}
	for _, col := range w.commands.Columns {
		n += len(col.Puts(w.index).IDs) * putCost
	}
	for _, c := range w.table.columns {
		for _, sets := range w.commands.Sets(c.index) {
			n += len(sets.Puts(w.index).IDs) * putCost
		}
	}
	return int64(n)
}

// deal spreads the surviving creates over the shards and checks the limits.
func (t *table) deal() error {
	f, commands := &t.flushing, t.recorder.Pending
	commands.Settle()
	creates, kept := commands.Survivors(), 0
	for i, sh := range t.order {
		f.sizes[i] = sh.Map.Len() - sh.Erased()
		kept += f.sizes[i]
	}
	if t.maxItems > 0 && creates > 0 && kept+creates > t.maxItems {
		return fmt.Errorf("table %q: %w: %d items and %d more exceed MaxItems %d", t.name, ErrFull, kept, creates, t.maxItems)
	}
	apply.Deal(f.sizes, creates, f.take, f.sorted)
	lo := 0
	for i, sh := range t.order {
		if err := sh.Deal(lo, lo+f.take[i]); err != nil {
			return fmt.Errorf("table %q: %w", t.name, err)
		}
		lo += f.take[i]
	}
	return nil
}

// hasLinks reports whether items, or what lies beside them, have fields that hold
// handles.
func (t *table) hasLinks() bool {
	return len(t.fields) > 0 || slices.ContainsFunc(t.columns, func(c *column) bool { return len(c.fields) > 0 })
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
}

// visits reports whether a flush has to call a Links function for the table.
func (t *table) visits() bool {
	return t.visitor != nil || slices.ContainsFunc(t.columns, func(c *column) bool { return c.visitor != nil })
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
	for _, sh := range t.order {
		sh.Cancel()
	}
	t.recorder.Pending.Forget()
}

// publish ends the table's part of a flush: what it created
// resolves from now on. It adds to the report the lines of the table and of its columns that had
// commands, and the first stale commands of each shard.
func (t *table) publish(frame uint64, r *Report) {
	of := TableReport{Name: t.name}
	for _, sh := range t.order {
		counts, samples := sh.Counts()
		of.Counts.Add(counts)
		r.Stale = append(r.Stale, samples...)
	}
	r.Tables = append(r.Tables, of)
	r.Total.Add(of.Counts)
	for _, c := range t.columns {
		if len(t.recorder.Pending.Sets(c.index)) == 0 {
			continue
		}
		of := TableReport{Name: c.fullName}
		for _, sh := range t.order {
			of.Counts.Add(sh.ColumnCounts(c.index))
		}
		r.Columns = append(r.Columns, of)
		r.Total.Add(of.Counts)
	}
	t.recorder.Publish(!t.inFrame(frame))
	t.flushing.frame, t.flushing.writes = frame, t.store.written[t.ordinal]
	t.version++
}
