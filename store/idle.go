package store

import (
	"slices"

	"handloom/batch"
	"handloom/internal/highwater"
)

// awake are the tables that keep memory from one flush to the next. Those that
// have no commands for a while give it up, so that a table which is filled once
// and never changed again costs its items alone.
type awake struct {
	tables  []*table
	flushes int // with commands, since they were asked
	quiet   int // flushes without commands, since the last one with some
}

// add notes that a table takes part in a flush.
func (a *awake) add(t *table) {
	if t.wake() {
		a.tables = append(a.tables, t)
	}
}

// rest asks, now and then, all of them; it is called after each flush.
func (a *awake) rest() {
	a.quiet = 0
	if a.flushes++; a.flushes < highwater.Period {
		return
	}
	a.flushes = 0
	a.tables = slices.DeleteFunc(a.tables, (*table).restIfIdle)
}

// nothing notes a flush without commands. Behind some of them memory is given up that is
// kept for those to come, for it seems that there are none.
func (a *awake) nothing(b *batch.Batch) {
	if a.quiet++; a.quiet%highwater.Period != 0 {
		return
	}
	b.Rest()
	first := a.quiet == highwater.Period
	a.tables = slices.DeleteFunc(a.tables, func(t *table) bool { return t.restInSilence(first) })
}

func (t *table) wake() (slept bool) {
	slept = !t.flushing.awake
	t.flushing.awake, t.flushing.used = true, true
	return slept
}

// restIfIdle gives up the memory that the table keeps for flushes if it had no
// commands since it was asked last, or else that of shards that had none. Nothing that
// resolves or is listed is lost: that is of the last frame.
func (t *table) restIfIdle() (rests bool) {
	f := &t.flushing
	if f.used || t.inFrame(t.store.flush.last) {
		t.restShards(f.warm &^ f.recent &^ f.listed)
		f.used, f.recent = false, 0
		return false
	}
	t.restFlushes()
	f.awake = !t.restPasses()
	return !f.awake
}

func (t *table) restFlushes() {
	t.recorder.Rest()
	t.restShards(t.flushing.warm)
}

// restPasses gives up what passes keep, unless there was one since it was asked last, and
// reports whether it did.
func (t *table) restPasses() (rests bool) {
	t.written.rest()
	for _, c := range t.columns {
		c.written.rest()
	}
	touched, written := t.touched.rest(), t.written.noted.rest()
	return touched && written
}

// restInSilence gives up all of that, but what the last frame lets a program ask for.
// What flushes keep it gives up once.
func (t *table) restInSilence(first bool) (rests bool) {
	f := &t.flushing
	last := t.inFrame(t.store.flush.last)
	switch {
	case first && last:
		f.used, f.recent = false, 0
		t.recorder.RestButNames()
		t.restShards(f.warm &^ f.listed)
		for i := range f.listed.All {
			t.order[i].RestButChanges()
		}
	case first:
		t.restFlushes()
	}
	f.awake = !t.restPasses() || last
	return !f.awake
}

func (t *table) restShards(shards batch.Shards) {
	for i := range shards.All {
		t.order[i].Rest()
	}
	t.flushing.warm &^= shards
}
