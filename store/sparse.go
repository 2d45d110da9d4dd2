package store

import (
	"context"
	"iter"
	"unsafe"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/internal/sparse"
)

// Sparse is data of type C that few items of a table have: packed rows of its own, each
// found by the handle of its item and erased with it. A pass visits only items that have
// it. [AddSparse] adds it to a table of either kind. A C of size 0 is a tag.
//
// Rows and their owners are part of digests, checkpoints and snapshots. From the first
// Set on they cost 4 bytes per slot of the table, up to 8 while it grows, and a handle
// per row. They do not move when the table is sorted.
type Sparse[T, C any] struct {
	core sparseData
}

// AddSparse adds data of type C that few items of t have. No item has it before
// [Sparse.Set] or [Sparse.Put].
//
//	shields := store.AddSparse(ships, store.ColumnOptions[Shield]{Name: "shield"})
//
// It takes O(shards) time. Callers, panics and effects on checkpoints are as for
// [AddColumn]; columns and sparse data of a table share one set of names.
func AddSparse[C, T any](t TableOf[T], o ColumnOptions[C]) *Sparse[T, C] {
	c := new(Sparse[T, C])
	if err := c.core.add(tableOf("AddSparse", t), untypedColumn(o), items.For[C]()); err != nil {
		panic(err)
	}
	return c
}

func (s *Sparse[T, C]) resource() resource {
	if s == nil {
		return resource{}
	}
	return s.core.component.resource()
}

// Name returns the name of the data.
func (s *Sparse[T, C]) Name() string { return s.core.name }

// Len returns the number of items with the data, in O(shards) time.
func (s *Sparse[T, C]) Len() int {
	if check.Cheap {
		s.core.lookup("Len")
	}
	return s.core.len()
}

// Has reports whether the item h has the data. It takes O(1) time.
func (s *Sparse[T, C]) Has(h Handle[T]) bool {
	if check.Cheap {
		s.core.lookup("Has")
	}
	_, ok := sparse.Find[C](s.core.shards[h.ID>>48&(MaxShards-1)], h.ID)
	return ok
}

// Get returns a pointer to the data of the item h, and whether it has any. It takes O(1)
// time. Callers and lifetime are as for [Table.Get], also in a stable table, because rows
// move.
func (s *Sparse[T, C]) Get(h Handle[T]) (*C, bool) {
	if check.Cheap {
		s.core.lookup("Get")
	}
	return sparse.Find[C](s.core.shards[h.ID>>48&(MaxShards-1)], h.ID)
}

// All iterates over the items with the data and their data, by typeId and row. The data of
// the current item may be removed meanwhile; everything else is as for [Table.All].
func (s *Sparse[T, C]) All() iter.Seq2[Handle[T], *C] {
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			s.core.lookup("All")
		}
		sum := s.core.rowChanges()
		for shard := range s.core.table.order {
			data := s.core.shard(shard)
			sum -= data.Changes()
			for id, v := range sparse.All[C](data) {
				if !yield(Handle[T]{ID: id}, v) {
					return
				}
			}
			sum += data.Changes()
		}
		slotset.MustEqual(sum, s.core.rowChanges())
	}
}

// Put sets the data of the item h at once, and reports whether the item exists. It takes
// O(1) time and invalidates pointers to the data. It panics when w is used outside its
// Write or Frame.
func (s *Sparse[T, C]) Put(w *Writer, h Handle[T], v C) bool {
	place := (*C)(s.core.put(w, h.ID))
	if place != nil {
		*place = v
	}
	return place != nil
}

// Remove removes the data of the item h at once, and reports whether it had any. The last
// row of the shard takes its place. Everything else is as for [Sparse.Put].
func (s *Sparse[T, C]) Remove(w *Writer, h Handle[T]) bool { return s.core.remove(w, h.ID) }

// Set records v as the data of the item h, which may be provisional in the same batch. The
// last Set or Unset of an item by (key, sequence) wins. A flush applies it
// after puts, which do not change the data, and before erases: commands for an item
// erased in the same batch are dropped. A system that calls Set emits to the data, not to
// the table. A [Report] has a line for it.
//
// It takes O(1) time and allocates nothing in steady use. It is fastest for items that
// the same queue created, as [Column.Set] is. Queues panic and fail as for
// [Table.Emplace].
func (s *Sparse[T, C]) Set(q Queue, h Handle[T], v C) {
	if place := (*C)(s.core.recorder.Set(batch.Queue(q), h.ID)); place != nil {
		*place = v
	}
}

// Unset records the removal of the data of the item h. It is redundant for an item
// without data. Everything else is as for [Sparse.Set].
func (s *Sparse[T, C]) Unset(q Queue, h Handle[T]) {
	s.core.recorder.Unset(batch.Queue(q), h.ID)
}

// SortAsTable sorts the rows of each shard in the order of their items in the table, so
// that a pass over both reads memory in one direction. Later changes do not keep the
// order. It takes O(rows) time and invalidates pointers. It panics when w is used outside
// its Write or Frame.
func (s *Sparse[T, C]) SortAsTable(w *Writer) { s.core.sortAsTable(w) }

// SparseChunk is a run of rows of a [Sparse] given to one task, valid until the task
// returns.
type SparseChunk[T, C any] struct {
	Items  []C         // the task may write them; capacity equals length
	Owners []Handle[T] // owner of Items[i]; read-only
	Queue  Queue       // queue of the task
	Index  int         // index of the chunk in the pass; depends only on row counts

	pass   *pass
	wrote  *notes // nil: the data has no Changes
	row    int
	serial uint32
}

// Wrote notes that the task has written Items[i], for [Sparse.Written]. It costs a branch
// for data without Changes. It panics after the pass.
func (c *SparseChunk[T, C]) Wrote(i int) {
	if c.serial != c.pass.serial {
		panic(wrongChunk{"Wrote", c.Index, c.pass})
	}
	_ = c.Items[i]
	if c.wrote != nil {
		c.wrote.rows = append(c.wrote.rows, c.row+i)
	}
}

// ForEach runs f for every chunk of the rows, in parallel, as [Table.ForEach] does for
// items. A task may write the rows of its chunk and read the items of the table, so its
// system names the data in Writes, and not the table. Rows are in the order of creation,
// except that later rows fill gaps: see [Sparse.SortAsTable].
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
	return domain{s.core.table, &s.core}.forEach(ctx, opForEach, *(*func(untyped))(unsafe.Pointer(&f))) // see untyped
}
