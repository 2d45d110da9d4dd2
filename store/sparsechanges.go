package store

import (
	"iter"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Created iterates over the items that had no data when the last frame began and have some
// now, or so far, by typeId and then in the order in which they got it: in a flush that of
// the commands, and then of creates. The lists of a Sparse are net over the frame. An item
// that is gone is in none, but in [Erased] of its table. Of which frame they are, [Created]
// of tables says, and who may read them. They panic unless the data was added with Changes;
// without commands and notes they cost nothing.
func (s *Sparse[T, C]) Created() iter.Seq2[Handle[T], *C] {
	s.core.mustTrack("Created")
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			s.core.lookup("Created")
		}
		for i := range s.core.changes {
			for _, id := range s.core.changes[i].created {
				if v := s.core.item(id); v != nil && !yield(Handle[T]{ID: id}, (*C)(v)) {
					return
				}
			}
		}
	}
}

// Erased iterates over the items that had data when the last frame began and have none now,
// with the value that they had when they lost it first, by typeId and then in the order in
// which they did. The item lives. See [Sparse.Created].
func (s *Sparse[T, C]) Erased() iter.Seq2[Handle[T], *C] {
	s.core.mustTrack("Erased")
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			s.core.lookup("Erased")
		}
		for i := range s.core.changes {
			gone := &s.core.changes[i].gone
			values := *items.As[C](&gone.values)
			for i, id := range gone.ids {
				if s.core.item(id) == nil && s.core.table.has(id) && !yield(Handle[T]{ID: id}, &values[i]) {
					return
				}
			}
		}
	}
}

// Written iterates over the items that had data when the last frame began and have data now
// that it has written: by [Sparse.Set], [Sparse.Put], or in place where a task noted it by
// [SparseChunk.Wrote]. They come by typeId and in the order of the table. See
// [Sparse.Created], and [Written] for what passes note outside of frames.
func (s *Sparse[T, C]) Written() iter.Seq2[Handle[T], *C] {
	s.core.mustTrack("Written")
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			s.core.lookup("Written")
		}
		s.core.written.all(func(id ID) bool {
			v := s.core.item(id)
			return v == nil || yield(Handle[T]{ID: id}, (*C)(v))
		})
	}
}

// sparseChanges are what a frame did to the data of the items of a shard.
type sparseChanges struct {
	data    *sparseData
	index   int
	created []ID            // that had none when it began; some may have none again
	made    slotset.Handles // created
	gone    keptItems       // that had some when it began, with the value that they lost first
	taken   slotset.Handles // of gone
	peak    highwater.Mark
}

// change notes that an item gets a value next, or loses it: before is the value so far, nil
// if there is none.
func (c *sparseChanges) change(id ID, before unsafe.Pointer, has bool) {
	switch {
	case !has:
		if !c.made.Has(id) && !c.taken.Has(id) {
			c.gone.add(c.data.typ, id, before)
			c.taken.Grow(int(id.Slot()) + 1)
			c.taken.Add(id)
		}
	case before != nil || c.taken.Has(id):
		c.data.written.add(c.index, id)
	case !c.made.Has(id):
		c.created = append(c.created, id)
		c.made.Grow(int(id.Slot()) + 1)
		c.made.Add(id)
	}
}

func (c *sparseChanges) forget() {
	c.created = highwater.Trim(&c.peak, c.created)
	c.made.Clear()
	c.gone.forget(c.data.typ)
	c.taken.Clear()
}

// changeAtOnce notes a change in a Write; see [sparseChanges.change].
func (c *sparseData) changeAtOnce(w *Writer, shard int, id ID, before unsafe.Pointer, has bool) {
	c.table.listAtOnce(w).touched.Add(shard)
	c.written.begins(w.phase.frame.number)
	c.changes[shard].change(id, before, has)
}

// onChange returns what a flush calls for the items of a shard.
func (c *sparseData) onChange(shard int) func(id ID, before unsafe.Pointer, has bool) {
	if !c.tracked {
		return nil
	}
	return func(id ID, before unsafe.Pointer, has bool) { c.changes[shard].change(id, before, has) }
}
