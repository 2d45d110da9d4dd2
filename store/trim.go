package store

import (
	"slices"

	"handloom/batch"
	"handloom/internal/highwater"
)

// active are the tables that keep memory from one flush to the next. Those that
// have no commands for a while give it up, so that a table which is filled once
// and never changed again costs its items alone.
type active struct {
	tables  []*table
	flushes int // with commands, since they were asked
	quiet   int // flushes without commands, since the last one with some
}

// add notes that a table takes part in a flush.
func (a *active) add(t *table) {
	if t.wake() {
		a.tables = append(a.tables, t)
	}
}

// rest asks, now and then, all of them; it is called after each flush.
func (a *active) rest() {
	a.quiet = 0
	if a.flushes++; a.flushes < highwater.Period {
		return
	}
	a.flushes = 0
	a.tables = slices.DeleteFunc(a.tables, (*table).trimIfIdle)
}

// nothing notes a flush without commands. Behind some of them memory is given up that is
// kept for those to come, for it seems that there are none.
func (a *active) nothing(b *batch.Batch) {
	if a.quiet++; a.quiet%highwater.Period != 0 {
		return
	}
	b.Trim()
	first := a.quiet == highwater.Period
	a.tables = slices.DeleteFunc(a.tables, func(t *table) bool { return t.trimWhenIdle(first) })
}

func (t *table) wake() (slept bool) {
	slept = !t.flushing.awake
	t.flushing.awake, t.flushing.used = true, true
	return slept
}

// trimIfIdle gives up the memory that the table keeps for flushes if it had no
// commands since it was asked last, or else that of shards that had none. Nothing that
// resolves or is listed is lost: that is of the last frame.
func (t *table) trimIfIdle() (rests bool) {
	f := &t.flushing
	if f.used || t.inFrame(t.store.flush.last) {
		t.trimShards(f.warm &^ f.recent)
		f.used, f.recent = false, 0
		return false
	}
	t.trimFlushes()
	f.awake = !t.trimPasses()
	return !f.awake
}

func (t *table) trimFlushes() {
	t.recorder.Trim(false)
	t.trimShards(t.flushing.warm)
}

// trimPasses gives up what passes keep, unless there was one since it was asked last, and
// reports whether it did.
func (t *table) trimPasses() (rests bool) {
	t.written.rest()
	rests = t.touched.rest()
	rests = t.written.chunkNotes.rest() && rests
	for _, p := range t.parts {
		p.written.rest()
		rests = p.written.chunkNotes.rest() && rests
	}
	return rests
}

// trimWhenIdle gives up all of that, but what the last frame lets a program ask for.
// What flushes keep it gives up once.
func (t *table) trimWhenIdle(first bool) (rests bool) {
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
	f.awake = !t.trimPasses() || last
	return !f.awake
}

func (t *table) trimShards(shards batch.Shards) {
	for i := range shards.All {
		t.order[i].Trim()
	}
	t.changes.trim(shards)
	t.flushing.warm &^= shards
}
