package store

import (
	"context"
	"iter"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/items"
)

// Column is an array of C with one element per row of a packed table, for data that some
// systems use and others do not: element i belongs to row i, also when items move. A pass
// over a column is several times faster than over a field of large items, and systems
// that write different columns of a table run at the same time. [AddColumn] adds one.
//
// Elements of new items are zero, unless [Column.Set] sets them. They are part of
// digests, checkpoints and snapshots. A column adds nothing to the cost of an insert,
// and about 5 ns to the erase of a single item in a Frame.
//
// See guide/columns.md and guide/sparse-data.md.
type Column[T, C any] struct {
	core column
}

// ColumnOptions configure a column of elements of type C. The zero value is valid.
type ColumnOptions[C any] struct {
	Name    string // unique in the table; default: the name of C
	Changes bool   // keep the change lists of the [Column] or [Sparse]; the table needs Changes, too

	// Clone and Links of elements; see [TableOptions].
	Clone func(dst, src *C)
	Links func(v *C, visit func(id *ID))
}

// AddColumn adds an array of C to t. Its elements are zero for present and new items,
// unless [Column.Set] sets them.
//
//	pos := store.AddColumn(boids, store.ColumnOptions[Pos]{Name: "pos"})
//
// It takes O(rows) time. Older [Checkpoint] values fail with [ErrCheckpoint] from then on.
// Any goroutine may call it; it does not wait. It panics
// with an error as [Register] does, and t is unchanged: [ErrPhase] while a phase is open
// or the store is claimed, [ErrClosed], or an error that names every other fault (a name
// that is taken, Changes that the table lacks, handles in C that a flush cannot reach).
func AddColumn[C, T any](t *Table[T], o ColumnOptions[C]) *Column[T, C] {
	check.Given(t != nil, "store: AddColumn", "table")
	c := new(Column[T, C])
	if err := c.core.add(&t.core, untypedColumn(o), items.For[C]()); err != nil {
		panic(err)
	}
	return c
}

func (c *Column[T, C]) resource() resource {
	if c == nil {
		return resource{}
	}
	return c.core.component.resource()
}

// Name returns the name of the column.
func (c *Column[T, C]) Name() string { return c.core.name }

// Get returns a pointer to the element of the item h, and whether the item exists. It
// takes O(1) time and inlines. Callers and lifetime are as for [Table.Get]; [Exchange]
// also ends the lifetime.
func (c *Column[T, C]) Get(h Handle[T]) (*C, bool) {
	if check.Cheap {
		c.core.lookup("Get")
	}
	return dense.FindColumn[C](c.core.shards[h.ID>>48&(MaxShards-1)], h.ID)
}

// At returns the pointer of [Column.Get]. It panics with a [*StaleError] if the item does
// not exist.
func (c *Column[T, C]) At(h Handle[T]) *C {
	if check.Cheap {
		c.core.lookup("At")
	}
	shard := c.core.shards[h.ID>>48&(MaxShards-1)]
	v, ok := dense.FindColumn[C](shard, h.ID)
	if !ok {
		panic(shard.NewStaleError(h.ID))
	}
	return v
}

// Read returns the elements of the items of k, with the same indexes, to be read only. It
// panics if k belongs to another table.
func (c *Column[T, C]) Read(k Chunk[T]) []C {
	if check.Cheap {
		c.core.lookup("Read")
	}
	all := c.core.run("Read", k.items, int(k.row), len(k.Items))
	return *items.As[C](&all)
}

// Write returns the elements of the items of a chunk of [Table.ForEachRows] or
// [Table.ForEach], with the same indexes. The task may read and write them; capacity equals
// length. A system names the column in Writes. Write panics if k belongs to another table or
// to a Reduce, or the pass has ended.
func (c *Column[T, C]) Write(k Chunk[T]) []C {
	k.pass.mustRun("Write", k.Index, k.serial)
	if check.Cheap {
		c.core.mustWrite(k.pass.phase)
	}
	all := c.core.run("Write", k.items, int(k.row), len(k.Items))
	return *items.As[C](&all)
}

// Member returns a pointer to the element of member k of m, to be read only, in O(1) time
// without a look-up. It panics if m belongs to another table. Callers are as for
// [Groups.Of].
func (c *Column[T, C]) Member(m Members[T], k int) *C {
	if check.Cheap {
		c.core.lookup("Member")
	}
	ref := m.refs[k]
	if m.maps.packed != c.core.table.lookups.packed {
		panic(wrongMembers{c.core.name, c.core.table.name})
	}
	return (*C)(c.core.shards[ref>>32&(MaxShards-1)].At(int(uint32(ref))))
}

// Set records v as the element of the item h, which may be provisional in the same batch.
// The last Set by (key, sequence) wins. A flush applies Sets after puts, which do not
// change elements, and before erases: a Set of an item erased in the same batch is
// dropped. A system that calls Set emits to the column, not to the table. A [Report] has
// a line for it.
//
// It takes O(1) time and allocates nothing in steady use. It is fastest for items that
// the same queue created, in the same order: the flush copies the values in bulk. A Set
// for one of the last of many creates takes memory for the elements of all creates before
// it, which [Options.QueueBytes] counts. Queues panic and fail as for [Table.Emplace].
func (c *Column[T, C]) Set(q Queue, h Handle[T], v C) {
	if place := (*C)(c.core.recorder.Set(batch.Queue(q), h.ID)); place != nil {
		*place = v
	}
}

// Wrote notes that the task has written the element of Items[i] of its chunk, for
// [Column.Written]. It costs a branch in a column without Changes.
func (c *Column[T, C]) Wrote(k Chunk[T], i int) {
	k.pass.mustRun("Wrote", k.Index, k.serial)
	_ = k.Items[i]
	if c.core.tracked {
		c.core.wrote(k.pass, k.Index, int(k.row)+i)
	}
}

// Written iterates over the elements that the last frame wrote, or the current frame so
// far: elements noted by [Column.Wrote] or replaced by [Column.Set], except elements of
// items that the frame created. Everything else is as for the function [Written]. It
// panics unless the column has Changes. [Exchange] does not change the lists.
func (c *Column[T, C]) Written() iter.Seq2[Handle[T], *C] {
	c.core.mustTrack("Written")
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			c.core.table.lookupChanges("Written", c.core.resource().String())
		}
		c.core.written.all(func(id ID) bool { return yield(Handle[T]{ID: id}, (*C)(c.core.item(id))) })
	}
}

// Exchange swaps the elements of two columns of one table, in O(shards) time. In typical
// use a pass reads cur of any item and writes next of its own items:
//
//	err := cells.ForEachRows(ctx, live) // reads cur, writes next
//	err = store.Exchange(ctx, cur, next)
//
// It invalidates slices and pointers of both. Only elements are exchanged: pending Sets
// and the list of Written stay with their column. Exchange joins a Frame, or a system
// that names both in its Writes, while no pass of it runs; elsewhere it is [ErrPhase].
// Columns of two tables, or with Clone or Links, are an error.
//
// See guide/neighbours.md.
func Exchange[T, C any](ctx context.Context, a, b *Column[T, C]) error {
	check.Given(a != nil && b != nil, "store: Exchange", "Column")
	return exchange(ctx, &a.core, &b.core)
}
