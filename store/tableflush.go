package store

import (
	"fmt"

	"handloom/batch"
	"handloom/shard"
)

// tableFlush is what a table needs to take part in flushes.
type tableFlush struct {
	pending   *batch.Commands // of the flush that runs
	published *batch.Commands // of the flush before, whose names resolve
	epoch     uint64          // of published
	awake     bool            // keeps memory for flushes
	used      bool            // since the table was last asked whether it is idle

	sizes, take, sorted []int // of the shards, for dealing
	names               func(ID) ID
}

func (f *tableFlush) init(s *Store, shards int) {
	f.names = s.pendingName
	f.pending, f.published = new(batch.Commands), new(batch.Commands)
	f.sizes, f.take, f.sorted = make([]int, shards), make([]int, shards), make([]int, shards)
}

func (f *tableFlush) forget() {
	f.pending.Forget()
	f.published.Forget()
}

// resolve returns the handle of the item that the provisional handle id of the last
// flushed batch was recorded for, and whether there is one.
func (t *table) resolve(id ID) (ID, bool) {
	f := &t.flushing
	if f.epoch != t.store.epoch.Load() {
		return 0, false // a later flush had nothing for this table
	}
	real, ok := f.published.Resolve(id)
	return real, ok && !real.IsZero()
}

func (t *table) gather(c *batch.Column, k batch.Key) (first bool) {
	return t.flushing.pending.Gather(c, k)
}

func (t *table) gatherErases(list int, ids []ID, k batch.Key) (first bool) {
	return t.flushing.pending.GatherErases(&t.recorder, list, ids, k)
}

func (t *table) number() { t.flushing.pending.Number(&t.recorder) }

// Estimated nanoseconds per command, which decide only whether a flush runs
// inline and which shard is begun first (op=flush).
const (
	createCost = 4
	eraseCost  = 20
	putCost    = 10
)

func (t *table) cost(shard int) int64 {
	commands := t.flushing.pending
	n := commands.Creates() / len(t.order) * createCost
	for _, erases := range commands.Erases(shard) {
		n += len(erases.IDs) * eraseCost
	}
	for _, col := range commands.Columns {
		n += len(col.Puts(shard).IDs) * putCost
	}
	return int64(n)
}

func (t *table) plan(shard int) { t.order[shard].Plan(t.flushing.pending, shard) }

// deal spreads the surviving creates over the shards and checks the limits.
func (t *table) deal() error {
	f := &t.flushing
	f.pending.Settle()
	creates, kept := f.pending.Creates(), 0
	for i, sh := range t.order {
		f.sizes[i] = sh.Map.Len() - sh.Erased()
		kept += f.sizes[i]
	}
	if t.maxItems > 0 && creates > 0 && kept+creates > t.maxItems {
		return fmt.Errorf("table %q: %w: %d items and %d more exceed MaxItems %d", t.name, ErrFull, kept, creates, t.maxItems)
	}
	shard.Deal(f.sizes, creates, f.take, f.sorted)
	lo := 0
	for i, sh := range t.order {
		if err := sh.Deal(lo, lo+f.take[i]); err != nil {
			return fmt.Errorf("table %q: %w", t.name, err)
		}
		lo += f.take[i]
	}
	return nil
}

func (t *table) needsMemory(shard int) bool { return t.order[shard].NeedsMemory() }

func (t *table) makeRoom(shard int) { t.order[shard].MakeRoom() }

func (t *table) apply(shard int) { t.order[shard].Apply(t.flushing.pending, shard) }

func (t *table) hasLinks() bool { return len(t.fields) > 0 }

func (t *table) link(shard int) {
	if t.hasLinks() {
		t.order[shard].Link(t.flushing.pending, shard, t.fields, t.flushing.names)
	}
}

// visits reports whether a flush has to call the table's Links function.
func (t *table) visits() bool { return t.visitor != nil }

func (t *table) findLinks(shard int) {
	if t.visits() {
		t.order[shard].FindLinks(t.flushing.pending, shard, t.visitor)
	}
}

func (t *table) patch(shard int) {
	if t.visits() {
		t.order[shard].Patch(t.flushing.names)
	}
}

// pendingName returns the handle of an item that the running flush created, or
// null.
func (t *table) pendingName(id ID) ID {
	real, _ := t.flushing.pending.Resolve(id)
	return real
}

func (t *table) cancel() {
	for _, sh := range t.order {
		sh.Cancel()
	}
	t.flushing.pending.Forget()
}

// publish ends the table's part of a flush: the names of its creates resolve
// from now on. It appends the first stale commands of each shard to stale.
func (t *table) publish(epoch uint64, stale []Sample) (TableReport, []Sample) {
	f := &t.flushing
	report := TableReport{Name: t.name}
	for _, sh := range t.order {
		counts, samples := sh.Counts()
		report.Counts.Add(counts)
		stale = append(stale, samples...)
	}
	f.pending.Release()
	f.pending, f.published = f.published, f.pending
	f.pending.Forget()
	f.epoch = epoch
	return report, stale
}
