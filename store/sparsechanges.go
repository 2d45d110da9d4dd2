package store

import (
	"iter"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Created iterates over the items that had no data when the last frame began and have it
// now, or so far. The order is typeId, then time; within a flush commands come before
// creates. The lists of a Sparse are net over the frame. Erased items are only in
// [Erased] of their table. The frame, callers and lifetime are as for the function
// [Created]. The lists panic unless the data has Changes; without commands and notes they
// cost nothing.
func (s *Sparse[T, C]) Created() iter.Seq2[Handle[T], *C] {
	s.core.mustTrack("Created")
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			s.core.table.lookupChanges("Created", s.core.resource().String())
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

// Erased iterates over the items that had data when the last frame began and lack it now,
// with the value that they lost first. The order is typeId, then time. The items exist.
// See [Sparse.Created].
func (s *Sparse[T, C]) Erased() iter.Seq2[Handle[T], *C] {
	s.core.mustTrack("Erased")
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			s.core.table.lookupChanges("Erased", s.core.resource().String())
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

// Written iterates over the items that had data when the last frame began, have it now,
// and got a new value by [Sparse.Set], [Sparse.Put] or a write in place with
// [SparseChunk.Wrote]. The order is typeId, then row of the table. See [Sparse.Created],
// and [Written] for notes of passes outside frames.
func (s *Sparse[T, C]) Written() iter.Seq2[Handle[T], *C] {
	s.core.mustTrack("Written")
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			s.core.table.lookupChanges("Written", s.core.resource().String())
		}
		s.core.written.all(func(id ID) bool {
			v := s.core.item(id)
			return v == nil || yield(Handle[T]{ID: id}, (*C)(v))
		})
	}
}

// sparseChanges are the changes of a frame to the data of one shard.
type sparseChanges struct {
	data    *sparseData
	index   int
	created []ID            // items that had no data at first; some may have lost it again
	made    slotset.Handles // set of created
	gone    keptItems       // items that had data at first, with the value that they lost first
	taken   slotset.Handles // set of gone
	peak    highwater.Mark
}

// change notes a change of the data of an item before it happens: before is the old value
// or nil, and has reports whether the item has data afterwards.
func (c *sparseChanges) change(id ID, before unsafe.Pointer, has bool) {
	switch {
	case !has:
		if !c.made.Has(id) && !c.taken.Has(id) {
			c.gone.add(c.data.typ, id, before)
			c.taken.Add(id)
		}
	case before != nil || c.taken.Has(id):
		c.data.written.add(c.index, id)
	case !c.made.Has(id):
		c.created = append(c.created, id)
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

// onChange returns the function that a flush calls for changes in a shard, or nil.
func (c *sparseData) onChange(shard int) func(id ID, before unsafe.Pointer, has bool) {
	if !c.tracked {
		return nil
	}
	return func(id ID, before unsafe.Pointer, has bool) { c.changes[shard].change(id, before, has) }
}
