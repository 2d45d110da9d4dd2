package store

import (
	"slices"

	"handloom/internal/highwater"
	"handloom/internal/record"
)

// awake are the tables that keep memory from one flush to the next. Those that
// have no commands for a while give it up, so that a table which is filled once
// and never changed again costs its items alone.
type awake struct {
	tables  []*table
	flushes int // since they were asked
}

// add notes that a table takes part in a flush.
func (a *awake) add(t *table) {
	if t.wake() {
		a.tables = append(a.tables, t)
	}
}

// rest asks, now and then, all of them; it is called after each flush.
func (a *awake) rest() {
	if a.flushes++; a.flushes < highwater.Period {
		return
	}
	a.flushes = 0
	a.tables = slices.DeleteFunc(a.tables, (*table).restIfIdle)
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
	f.awake = false
	t.recorder.Rest()
	t.restShards(f.warm)
	t.written.rest()
	for _, c := range t.columns {
		c.written.rest()
	}
	return true
}

func (t *table) restShards(shards record.Shards) {
	for i := range shards.All {
		t.order[i].Rest()
	}
	t.flushing.warm &^= shards
}
