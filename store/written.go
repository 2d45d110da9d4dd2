package store

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"handloom/internal/check"
	"handloom/internal/highwater"
	"handloom/internal/slotset"
)

// Written iterates over the items of t that existed before the last frame, or the current
// one, and that it has written so far: by puts, or in place with [Chunk.Wrote] or
// [Chunk.WroteAll]. The order is typeId, then row; each item is listed once. [Created]
// and [Erased] have the other items.
//
// Writes of a pass outside a Frame or Run belong to the next Frame, Write, Run or flush.
//
// The frame is as for [Created], except that the list is of a newer frame if that has
// noted items of t and not yet flushed. It is read like the items; Written panics unless
// t was registered with Changes. A noted row costs a few nanoseconds, mostly after its
// pass, and two bytes and a bit per slot; iteration over k of n items takes O(k + n/64)
// time and n/8 bytes.
func Written[T any](t TableOf[T]) iter.Seq2[Handle[T], *T] {
	core := tableOf("Written", t)
	core.mustTrack("Written")
	return func(yield func(Handle[T], *T) bool) {
		if check.Cheap {
			core.lookupChanges("Written", resource{table: core}.String())
		}
		core.written.all(func(id ID) bool { return yield(Handle[T]{ID: id}, (*T)(core.item(id))) })
	}
}

// written are the items that puts or passes wrote, for tables with Changes. Each task of
// a pass notes rows in its own list; after the pass they are kept by slot, so that no
// flush has to move them.
type written struct {
	table  *table
	sparse *sparseData       // its rows are noted; nil: the table's
	frame  uint64            // the frame that wrote the items, or frameToCome; 0: none
	shards []slotset.Handles // slots of the items
	passes uint64            // calls of begins
	gone   uint64            // passes whose items are dropped
	chunkNotes
}

// frameToCome is the frame of passes outside a frame.
const frameToCome = math.MaxUint64

func (w *written) init(t *table, c *sparseData) {
	w.table, w.sparse, w.shards = t, c, make([]slotset.Handles, len(t.order))
}

// notesOf returns the list for the task of a chunk, or nil.
func (w *written) notesOf(chunk int) *notes {
	if w.table == nil {
		return nil
	}
	return &w.chunks[chunk]
}

// finish keeps the notes of a pass of n chunks, also after a failure.
func (w *written) finish(p *phase, n int) {
	begun := false
	for chunk := range w.chunks[:n] {
		notes := &w.chunks[chunk]
		if len(notes.rows) == 0 && !notes.all {
			notes.forget()
			continue
		}
		if w.table != nil && !begun {
			begun = true
			w.begins(p.frameNumber())
		}
		if w.table != nil {
			w.keep(chunk, notes)
		}
		notes.all = false
		notes.forget()
	}
}

// begins sets the frame of the next items. It drops items of other frames, except
// frameToCome, whose items move to the new frame.
func (w *written) begins(frame uint64) {
	if frame != w.frame && w.frame != frameToCome {
		w.clear()
	}
	w.passes++
	if frame == w.frame {
		return
	}
	w.frame = frame
	f := &w.table.store.flush
	if frame == frameToCome && !slices.Contains(f.early, w) { // the pass holds the store alone
		f.early = append(f.early, w)
	}
}

func (w *written) clear() {
	w.frame, w.gone = 0, w.passes
	for i := range w.shards {
		w.shards[i].Clear()
	}
}

func (w *written) keep(chunk int, notes *notes) {
	if w.sparse != nil {
		shard, _, _ := w.sparse.pass.chunks.find(chunk)
		for _, row := range notes.rows {
			w.add(shard, w.sparse.shard(shard).Owners(row, row+1)[0])
		}
		return
	}
	shard, lo, hi := w.table.pass.find(chunk)
	m, set := w.table.order[shard].Map, &w.shards[shard]
	set.Grow(m.Stats().Slots)
	for _, row := range notes.rows {
		set.Add(m.IDAt(row))
	}
	for row := lo; notes.all && row < hi; row++ {
		if id := m.IDAt(row); !id.IsZero() { // stable tables have gaps
			set.Add(id)
		}
	}
}

func (w *written) add(shard int, id ID) { w.shards[shard].Add(id) }

// trim releases the memory for items of past frames.
func (w *written) trim() {
	if w.table != nil && w.isOver() {
		t, c, passes := w.table, w.sparse, w.passes
		*w = written{passes: passes, gone: passes}
		w.init(t, c)
	}
}

// isOver reports whether the items belong to a past frame.
func (w *written) isOver() bool { return w.frame < w.table.store.flush.lists || w.frame == 0 }

// adopt assigns the items of frameToCome to a frame: a Frame, Write or Run that begins, or a
// flush.
func (f *flush) adopt(frame uint64) {
	for _, w := range f.early {
		if w.frame == frameToCome {
			w.frame = frame
		}
	}
	clear(f.early)
	f.early = f.early[:0]
}

// all yields the items, except items of past frames and items that their frame created.
func (w *written) all(yield func(ID) bool) {
	t := w.table
	if w.isOver() {
		return
	}
	for shard := range w.shards {
		set, m := &w.shards[shard], t.order[shard].Map
		if set.Len() == 0 {
			continue
		}
		var created, found slotset.Bits // rows
		add := func(rows *slotset.Bits, id ID) {
			if row, ok := m.RowOf(id); ok && !created.Has(row) {
				rows.Add(row)
			}
		}
		found.Grow(m.Rows())
		if w.frame == t.store.flush.lists {
			created.Grow(m.Rows())
			w.created(shard, m.TypeID(), func(id ID) bool {
				add(&created, id)
				return true
			})
		}
		set.All(m.TypeID(), func(id ID) bool {
			add(&found, id)
			return true
		})
		for base, word := range found.Words {
			for ; word != 0; word &= word - 1 {
				if !yield(m.IDAt(base + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// created calls add for each item that the frame created, or gave the sparse data.
func (w *written) created(shard int, typeID uint16, add func(ID) bool) {
	if w.sparse != nil {
		w.sparse.changes[shard].made.All(typeID, add)
		return
	}
	w.table.changes.shards[shard].all(typeID, add)
}

// frameNumber returns the number of the frame of the phase, or frameToCome.
func (p *phase) frameNumber() uint64 {
	for ; p != nil; p = p.outer {
		if p.frame != nil {
			return p.frame.number
		}
	}
	return frameToCome
}

// chunkNotes are the notes of a pass, by chunk. Tasks of neighbouring chunks must not write
// one bitmap, so each has its own list, read after the pass.
type chunkNotes struct {
	chunks []notes
	peak   highwater.Mark // number of chunks
	used   bool           // since the last trimIfUnused
}

// trimIfUnused releases the memory unless it was used since the last call, and reports
// whether it did.
func (l *chunkNotes) trimIfUnused() bool {
	if l.used {
		l.used = false
		return false
	}
	*l = chunkNotes{}
	return true
}

// notes are the rows that one task wrote.
type notes struct {
	rows []int
	all  bool // all rows of the chunk
	peak highwater.Mark
	_    [24]byte // neighbours are written by different workers
}

const fewChunks = 64 // number of chunks whose notes are always kept

// begin makes a list for each of n chunks, and trims lists past them.
func (l *chunkNotes) begin(n int) {
	l.used = true
	if n > len(l.chunks) {
		l.chunks = append(l.chunks, make([]notes, n-len(l.chunks))...)
	}
	for chunk := n; chunk < len(l.chunks); chunk++ {
		l.chunks[chunk].forget()
	}
	if len(l.chunks) <= fewChunks {
		return
	}
	if keep := l.peak.Note(n, fewChunks); len(l.chunks) > keep {
		l.chunks = append(make([]notes, 0, keep), l.chunks[:keep]...)
	}
}

func (n *notes) forget() {
	if cap(n.rows) > 0 {
		n.rows = highwater.Trim(&n.peak, n.rows)
	}
}

// finishNotes reports the rows that n chunks wrote to the maps of a packed table, for
// Defragment, and keeps them for Written; also after a failure, because writes in place
// stay.
func (t *table) finishNotes(p *phase, n int) {
	if t.lookups.packed != nil {
		t.touch(n)
	}
	t.written.finish(p, n)
}

// touch makes Defragment look at the rows of n chunks that changed: all, unless the table has
// FixedKeys. A note alone must not restrict it, because a pass may note items for Written only.
func (t *table) touch(n int) {
	if !t.fixedKeys {
		for shard := range t.order {
			m := t.packed(shard)
			m.TouchRows(0, m.Len())
		}
		return
	}
	for chunk := range t.written.chunks[:n] {
		notes := &t.written.chunks[chunk]
		shard, lo, hi := t.pass.find(chunk)
		for _, row := range notes.rows {
			t.packed(shard).TouchRows(row, row+1)
		}
		if notes.all {
			t.packed(shard).TouchRows(lo, hi)
		}
	}
}
