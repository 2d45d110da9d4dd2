package store

import (
	"context"
	"iter"
	"unsafe"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/sparse"
)

// Sparse is data of type C that few items of a table have: rows of its own, packed, each
// found by the handle of its item and gone with it. A pass visits those that have it and
// nobody else. [AddSparse] makes one, for a table of either kind. C of no bytes is a tag.
//
// It is no table. Rows and their owners are part of digests, checkpoints and snapshots
// like the items themselves. From the first Set on they cost 4 bytes for each slot of the
// table, up to 8 while it grows, and a handle for each row. Nothing moves when the table is
// sorted.
type Sparse[T, C any] struct {
	core sparseData
}

// AddSparse adds data of type C that few items of t have. No item has any before
// [Sparse.Set] or [Sparse.Put].
//
//	shields := store.AddSparse(ships, store.ColumnOptions[Shield]{Name: "shield"})
//
// It takes O(shards) time. Who may call it, what it ends and when it panics is as for
// [AddColumn]; the name is unique among the columns of the table as well.
func AddSparse[C, T any](t TableOf[T], o ColumnOptions[C]) *Sparse[T, C] {
	c := new(Sparse[T, C])
	if err := c.core.add(tableOf("AddSparse", t), untypedColumn(o), items.For[C]()); err != nil {
		panic(err)
	}
	return c
}

func (s *Sparse[T, C]) resource() resource { return s.core.component.resource() }
func (s *Sparse[T, C]) isNil() bool        { return s == nil }

// Name returns the name of the data.
func (s *Sparse[T, C]) Name() string { return s.core.name }

// Len returns how many items have it, in O(shards) time; in a Write in which [Maps] or
// [StableMaps] gave out the maps of the table, in O(rows).
func (s *Sparse[T, C]) Len() int {
	if check.Cheap {
		s.core.lookup("Len")
	}
	return s.core.len()
}

// Has reports whether the item that h names has the data. It takes O(1) time.
func (s *Sparse[T, C]) Has(h Handle[T]) bool {
	if check.Cheap {
		s.core.lookup("Has")
	}
	_, ok := sparse.Find[C](s.core.shards[h.ID>>48&(MaxShards-1)], h.ID)
	return ok
}

// Get returns a pointer to what the item that h names has, and whether it has any. It
// takes O(1) time. Who may call it, and for how long the pointer is good, is as for
// [Table.Get]; in a stable table, too, rows move when others go.
func (s *Sparse[T, C]) Get(h Handle[T]) (*C, bool) {
	if check.Cheap {
		s.core.lookup("Get")
	}
	return sparse.Find[C](s.core.shards[h.ID>>48&(MaxShards-1)], h.ID)
}

// All iterates over the items that have the data, with what they have: by typeId and row.
// Nothing structural may change meanwhile.
func (s *Sparse[T, C]) All() iter.Seq2[Handle[T], *C] {
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			s.core.lookup("All")
		}
		for shard := range s.core.table.order {
			data := s.core.of(shard)
			for _, id := range data.Owners(0, data.Rows()) {
				if v, ok := sparse.Find[C](data, id); ok && !yield(Handle[T]{ID: id}, v) {
					return
				}
			}
		}
	}
}

// Put gives the item that h names v at once, and reports whether there is such an item. It
// takes O(1) time, once [Maps] or [StableMaps] gave out the maps of the table O(rows).
// Pointers to what items have are no longer good. It panics when w is not in its Write.
func (s *Sparse[T, C]) Put(w *Writer, h Handle[T], v C) bool {
	place := (*C)(s.core.put(w, h.ID))
	if place != nil {
		*place = v
	}
	return place != nil
}

// Remove takes what the item that h names has, at once, and reports whether it had any. The
// last row of the shard takes its place. In everything else it is like [Sparse.Put].
func (s *Sparse[T, C]) Remove(w *Writer, h Handle[T]) bool { return s.core.remove(w, h.ID) }

// Set records that the item that h names is to have v; h may be provisional, of the same
// batch. Sets and Unsets are one sequence, of which the last by (key, sequence) wins for
// each item. A flush applies it behind puts, which leave the data alone, and before
// erases: what is for an item that is erased in the same batch is dropped. It emits to the
// data and not to the table, and has a line of its own in a [Report].
//
// It takes O(1) time and allocates nothing in the steady state; for items that the same
// queue creates it is cheapest, as [Column.Set] is. Queues panic and fail as for
// [Table.Emplace].
func (s *Sparse[T, C]) Set(q Queue, h Handle[T], v C) {
	if place := (*C)(s.core.recorder.Set(batch.Queue(q), h.ID)); place != nil {
		*place = v
	}
}

// Unset records that the item that h names is to have none. It is redundant where that has
// none, and in everything else like [Sparse.Set].
func (s *Sparse[T, C]) Unset(q Queue, h Handle[T]) {
	s.core.recorder.Unset(batch.Queue(q), h.ID)
}

// SortAsTable brings the rows of each shard in the order that the items have in the
// table, so that a pass which looks at those as well walks through memory in one
// direction. Nothing keeps them so. It takes O(rows) time, and panics when w is not in its
// Write. Pointers are no longer good.
func (s *Sparse[T, C]) SortAsTable(w *Writer) { s.core.sortAsTable(w) }

// SparseChunk is a run of rows of a [Sparse] given to one task, and good until that
// returns.
type SparseChunk[T, C any] struct {
	Items  []C         // the task may write them; capacity equals length
	Owners []Handle[T] // the item that has Items[i]; not to be written
	Queue  Queue       // the task's own
	Index  int         // of the chunk in the pass; depends on row counts alone

	pass   *sparsePass // nil: of a Reduce
	wrote  *notes      // nil: the data keeps no changes
	row    int         // of Items[0]
	serial uint32      // of the pass
}

// Wrote notes that the task has written Items[i], so that [Sparse.Written] lists it. In data
// that was added without Changes it costs a branch. It panics when the pass has ended.
func (c *SparseChunk[T, C]) Wrote(i int) {
	mayWriteChunk("Wrote", c.pass != nil)
	if c.serial != c.pass.serial {
		panic(savedChunk{"Wrote", c.Index, c.pass.data.fullName})
	}
	_ = c.Items[i]
	if c.wrote != nil {
		c.wrote.rows = append(c.wrote.rows, c.row+i)
	}
}

// ForEach runs f for every chunk of the rows, in parallel, as [Table.ForEach] does for
// items: those of a chunk are that task's alone to write. It may read the items of the
// table, so that its system names the data in Writes and not the table. Rows are in the
// order in which they came, with others in the gaps that went: see [Sparse.SortAsTable].
//
//	err := burning.ForEach(ctx, func(c store.SparseChunk[Unit, Burning]) {
//		for i := range c.Items {
//			if c.Items[i].Left--; c.Items[i].Left == 0 {
//				burning.Unset(c.Queue, c.Owners[i])
//			}
//		}
//	})
func (s *Sparse[T, C]) ForEach(ctx context.Context, f func(c SparseChunk[T, C])) error {
	check.Given(s != nil, "store: ForEach", "Sparse")
	check.Given(f != nil, "store: ForEach", "function")
	return s.core.forEach(ctx, *(*func(SparseChunk[untyped, untyped]))(unsafe.Pointer(&f))) // see untyped
}
