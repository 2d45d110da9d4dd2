package store

import (
	"fmt"

	"handloom/batch"
	"handloom/shard"
)

// tableFlush is what a table needs to take part in flushes.
type tableFlush[T any] struct {
	pending   *batch.Commands[T] // of the flush that runs
	published *batch.Commands[T] // of the flush before, whose names resolve
	epoch     uint64             // of published
	awake     bool               // keeps memory for flushes
	used      bool               // since the table was last asked whether it is idle

	sizes, take, sorted []int // of the shards, for dealing
	names               func(ID) ID
}

func (f *tableFlush[T]) init(s *Store, shards int) {
	f.names = s.pendingName
	f.pending, f.published = new(batch.Commands[T]), new(batch.Commands[T])
	f.sizes, f.take, f.sorted = make([]int, shards), make([]int, shards), make([]int, shards)
}

func (f *tableFlush[T]) forget() {
	f.pending.Forget()
	f.published.Forget()
}

func (f *tableFlush[T]) resolve(p Handle[T], epoch uint64) (Handle[T], bool) {
	if f.epoch != epoch {
		return Handle[T]{}, false // a later flush had nothing for this table
	}
	h, ok := f.published.Resolve(p.ID)
	return h, ok && !h.IsZero()
}

func (t *tableBase[T]) gather(c batch.Recorded, k batch.Key) (first bool) {
	return t.flushing.pending.Gather(c, k)
}

func (t *tableBase[T]) gatherErases(list int, ids []ID, k batch.Key) (first bool) {
	return t.flushing.pending.GatherErases(&t.recorder, list, ids, k)
}

func (t *tableBase[T]) number() { t.flushing.pending.Number(&t.recorder) }

// Estimated nanoseconds per command, which decide only whether a flush runs
// inline and which shard is begun first (op=flush).
const (
	createCost = 4
	eraseCost  = 20
	putCost    = 10
)

func (t *tableBase[T]) cost(shard int) int64 {
	commands := t.flushing.pending
	n := commands.Creates() / len(t.order) * createCost
	for _, erases := range commands.Erases(shard) {
		n += len(erases.IDs) * eraseCost
	}
	for _, col := range commands.Columns {
		n += len(col.Puts(shard)) * putCost
	}
	return int64(n)
}

func (t *tableBase[T]) plan(shard int) { t.order[shard].Plan(t.flushing.pending, shard) }

// deal spreads the surviving creates over the shards and checks the limits.
func (t *tableBase[T]) deal() error {
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

func (t *tableBase[T]) needsMemory(shard int) bool { return t.order[shard].NeedsMemory() }

func (t *tableBase[T]) makeRoom(shard int) { t.order[shard].MakeRoom() }

func (t *tableBase[T]) apply(shard int) { t.order[shard].Apply(t.flushing.pending, shard) }

func (t *tableBase[T]) hasLinks() bool { return len(t.fields) > 0 }

func (t *tableBase[T]) link(shard int) {
	if t.hasLinks() {
		t.order[shard].Link(t.flushing.pending, shard, t.fields, t.flushing.names)
	}
}

// visits reports whether a flush has to call the table's Links function.
func (t *tableBase[T]) visits() bool { return t.visitor != nil }

func (t *tableBase[T]) findLinks(shard int) {
	if t.visits() {
		t.order[shard].FindLinks(t.flushing.pending, shard, t.visitor)
	}
}

func (t *tableBase[T]) patch(shard int) {
	if t.visits() {
		t.order[shard].Patch(t.flushing.names)
	}
}

// pendingName returns the handle of an item that the running flush created, or
// null.
func (t *tableBase[T]) pendingName(id ID) ID {
	h, _ := t.flushing.pending.Resolve(id)
	return h.ID
}

func (t *tableBase[T]) cancel() {
	for _, sh := range t.order {
		sh.Cancel()
	}
	t.flushing.pending.Forget()
}

// publish ends the table's part of a flush: the names of its creates resolve
// from now on. It appends the first stale commands of each shard to stale.
func (t *tableBase[T]) publish(epoch uint64, stale []Sample) (TableReport, []Sample) {
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
