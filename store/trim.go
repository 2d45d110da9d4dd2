package store

import (
	"slices"

	"handloom/batch"
	"handloom/internal/highwater"
)

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
	b.Trim()
	first := a.quiet == highwater.Period
	a.tables = slices.DeleteFunc(a.tables, func(t *table) bool { return t.trimWhenIdle(first) })
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
	t.flushing.warm &^= shards
}
