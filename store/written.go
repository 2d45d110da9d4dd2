package store

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"handloom/internal/check"
	"handloom/internal/slotset"
)

// Written iterates over the items of t that lived before the last frame, or the one that
// runs, and that it has written so far: those that flushes put a value to, and those that
// passes wrote in place, of which [Chunk.Wrote] or [Chunk.WroteAll] says so. They come by
// typeId and then in the order of rows, each once. [Created] has those that the frame
// created, and [Erased] those that it erased.
//
// What a pass writes outside of every Write and Run belongs to the next Write, Run or
// flush, whichever comes first.
//
// Of which frame the list is, [Created] says. It is ahead of the other lists in a frame that
// notes items of t before it flushes. It is read like the items themselves, and Written
// panics unless t was registered with Changes. A row that is noted costs some nanoseconds,
// most of them when its pass is over, and two bytes and a bit for its slot; walking over k of
// n items takes O(k + n/64) time and n/8 bytes.
func Written[T any](t TableOf[T]) iter.Seq2[Handle[T], *T] {
	of := tableOf("Written", t)
	of.mustTrack("Written")
	return func(yield func(Handle[T], *T) bool) {
		if check.Cheap {
			of.lookup("Written")
		}
		of.written.all(func(id ID) bool { return yield(Handle[T]{ID: id}, (*T)(of.item(id))) })
	}
}

// written are the items that puts or passes wrote, for tables that keep changes. Each task
// of a pass notes rows in a list of its own, and when the pass is over they are kept by
// slot, so that no flush has to move them.
type written struct {
	table  *table
	sparse *sparseData       // whose rows passes note; nil: those of the table
	frame  uint64            // that wrote the items, or frameToCome; 0: none
	shards []slotset.Handles // of the items
	chunkNotes
}

// frameToCome stands for the frame that passes are of which none is around.
const frameToCome = math.MaxUint64

func (w *written) init(t *table, c *sparseData) {
	w.table, w.sparse, w.shards = t, c, make([]slotset.Handles, len(t.order))
}

// notesOf returns where the task of a chunk notes rows, or nil.
func (w *written) notesOf(chunk int) *notes {
	if w.table == nil {
		return nil
	}
	return &w.chunks[chunk]
}

// finish keeps what was noted in a pass of n chunks, whether it failed or not.
func (w *written) finish(p *phase, n int) {
	begun := false
	for chunk := range w.chunks[:n] {
		notes := &w.chunks[chunk]
		if len(notes.rows) == 0 && !notes.all {
			notes.forget()
			continue
		}
		if !begun {
			begun = true
			w.begins(p.frameNumber())
		}
		w.keep(chunk, notes)
		notes.all = false
		notes.forget()
	}
}

// begins says of which frame the items are that are kept next. Others are of the past,
// unless they were to be of the frame to come.
func (w *written) begins(frame uint64) {
	if frame == w.frame {
		return
	}
	if w.frame != frameToCome {
		w.clear()
	}
	w.frame = frame
	f := &w.table.store.flush
	if frame == frameToCome && !slices.Contains(f.early, w) { // the pass holds the store alone
		f.early = append(f.early, w)
	}
}

func (w *written) clear() {
	w.frame = 0
	for i := range w.shards {
		w.shards[i].Clear()
	}
}

func (w *written) keep(chunk int, notes *notes) {
	if w.sparse != nil {
		shard, _, _ := w.sparse.pass.chunks.find(chunk)
		for _, row := range notes.rows {
			w.add(shard, w.sparse.of(shard).Owners(row, row+1)[0])
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

// add notes an item of a shard.
func (w *written) add(shard int, id ID) {
	set := &w.shards[shard]
	set.Grow(int(id.Slot()) + 1)
	set.Add(id)
}

// rest gives up the memory for items of past frames.
func (w *written) rest() {
	if w.table != nil && w.isOver() {
		t, c := w.table, w.sparse
		*w = written{}
		w.init(t, c)
	}
}

// isOver reports whether the items are of a past frame.
func (w *written) isOver() bool { return w.frame < w.table.store.flush.lists || w.frame == 0 }

// adopt makes what was written for a frame to come that of a frame: of a Write or Run
// that begins, or of a flush.
func (f *flush) adopt(frame uint64) {
	for _, w := range f.early {
		if w.frame == frameToCome {
			w.frame = frame
		}
	}
	clear(f.early)
	f.early = f.early[:0]
}

// all yields the items, but for those of past frames and those that their frame created.
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

// created calls add for each item that the frame created, or gave the data.
func (w *written) created(shard int, typeID uint16, add func(ID) bool) {
	if w.sparse != nil {
		w.sparse.changes[shard].made.All(typeID, add)
		return
	}
	w.table.changes.shards[shard].all(typeID, add)
}

// frameNumber returns the number of the frame that the phase is in.
func (p *phase) frameNumber() uint64 {
	for ; p != nil; p = p.outer {
		if p.frame != nil {
			return p.frame.number
		}
	}
	return frameToCome
}
