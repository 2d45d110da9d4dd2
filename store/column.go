package store

import (
	"context"
	"iter"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/items"
)

// Column is an array of elements of type C beside the items of a table, for what some
// systems read or write and others do not: element i belongs to row i, whatever moves.
// A pass over one field of many items is several times faster over a column than over
// a field of large items, and systems that write different columns of a table run at
// the same time. [AddColumn] makes one.
//
// A column is no table. Its elements come and go with the items: they are zero for new
// ones, unless [Column.Set] says otherwise, and part of digests, checkpoints and
// snapshots like the items themselves. Inserts cost nothing for it, and each erase of a
// single item in a Write some 5 ns.
//
// The guide's pages are guide/columns.md and guide/optional-parts.md.
type Column[T, C any] struct {
	core column
}

// ColumnOptions configure a column of elements of type C. The zero ColumnOptions are
// good.
type ColumnOptions[C any] struct {
	Name    string // unique in the table; "": the name of C
	Changes bool   // keeps what each frame did, for [Column.Written] and the lists of [Sparse]; the table needs Changes, too

	// Clone and Links are for elements what they are for items in [TableOptions].
	Clone func(dst, src *C)
	Links func(v *C, visit func(id *ID))
}

// AddColumn adds an array of C beside the items of t. Its elements are zero for the
// items that there are and those to come, unless [Column.Set] says otherwise.
//
//	pos := store.AddColumn(boids, store.ColumnOptions[Pos]{Name: "pos"})
//
// It takes the time of making the array. A [Checkpoint] taken before is [ErrCheckpoint]
// from then on. Any goroutine may call it; it waits for nothing. It panics with an error as
// [Register] does: [ErrPhase] while a phase is open or the store is claimed, [ErrClosed], or
// one that names every other fault (a name that is taken, Changes where the table keeps none,
// handles in C where a flush cannot make them real); t is unchanged then.
func AddColumn[C, T any](t *Table[T], o ColumnOptions[C]) *Column[T, C] {
	check.Given(t != nil, "store: AddColumn", "table")
	c := new(Column[T, C])
	if err := c.core.add(&t.core, untypedColumn(o), items.For[C]()); err != nil {
		panic(err)
	}
	return c
}

func (c *Column[T, C]) resource() resource { return c.core.component.resource() }
func (c *Column[T, C]) isNil() bool        { return c == nil }

// Name returns the name of the column.
func (c *Column[T, C]) Name() string { return c.core.name }

// Get returns a pointer to the element of the item that h names, and whether there is
// such an item. It takes O(1) time and inlines. Who may call it, and for how long the
// pointer is good, is as for [Table.Get]; [Exchange] ends it as well.
func (c *Column[T, C]) Get(h Handle[T]) (*C, bool) {
	if check.Cheap {
		c.core.lookup("Get")
	}
	return dense.FindColumn[C](c.core.shards[h.ID>>48&(MaxShards-1)], h.ID)
}

// At returns a pointer to the element of the item that h names, as [Column.Get] does,
// and panics with a [*StaleError] if there is no such item.
func (c *Column[T, C]) At(h Handle[T]) *C {
	if check.Cheap {
		c.core.lookup("At")
	}
	of := c.core.shards[h.ID>>48&(MaxShards-1)]
	v, ok := dense.FindColumn[C](of, h.ID)
	if !ok {
		panic(of.NewStaleError(h.ID))
	}
	return v
}

// Rows returns the elements of the items of a chunk of a [Table.ForEach], by the same
// indexes. They are the task's own, to read and write; capacity equals length. A system
// names the column, in Reads or Writes, beside the table that its ForEach writes. It
// panics when k is not a chunk of the column's table, or the pass has ended.
func (c *Column[T, C]) Rows(k Chunk[T]) []C {
	if k.serial != k.table.pass.serial {
		panic(savedChunk{"Rows", k.Index, k.table.name})
	}
	if check.Cheap {
		c.core.mustRead(k.table.pass.ctx)
	}
	all := c.core.run("Rows", k.items, int(k.row), len(k.Items))
	return *items.As[C](&all)
}

// Read returns the elements of the items of r, by the same indexes, to be read. It panics when r is not of the
// column's table.
func (c *Column[T, C]) Read(r Rows[T]) []C {
	if check.Cheap {
		c.core.lookup("Read")
	}
	all := c.core.run("Read", r.items, int(r.row), len(r.Items))
	return *items.As[C](&all)
}

// Write returns the elements of the items of a chunk of a [Table.ForEachRows], by the
// same indexes. They are the task's own, to read and write; capacity equals length. A
// system names the column in its Writes. It panics when k is not a chunk of the column's
// table, or the pass has ended.
func (c *Column[T, C]) Write(k Rows[T]) []C {
	k.pass.mustRun("Write", k.Index, k.serial)
	if check.Cheap {
		c.core.mustWrite(k.pass.phase)
	}
	all := c.core.run("Write", k.items, int(k.row), len(k.Items))
	return *items.As[C](&all)
}

// Member returns a pointer to the element of member k of m, to be read, in O(1) time and
// without a look-up of a handle. It panics when m is not of the column's table. Who may call
// it is as for [Groups.Of].
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

// Set records that v is to be the element of the item that h names; h may be
// provisional, of the same batch. The last by (key, sequence) wins, and each flush
// applies it behind puts, which leave elements alone, and before erases: a Set of an item
// that is erased in the same batch is dropped. It emits to the column and not to the
// table, and has a line of its own in a [Report].
//
// It takes O(1) time and allocates nothing in the steady state. For items that the same
// queue creates it is cheapest, in the order in which they were created: the values lie as
// the items do, and the flush copies them in bulk. One of the last of many creates takes
// the memory of elements for all before it, which [Options.QueueBytes] counts. Queues panic
// and fail as for [Table.Emplace].
func (c *Column[T, C]) Set(q Queue, h Handle[T], v C) {
	if place := (*C)(c.core.recorder.Set(batch.Queue(q), h.ID)); place != nil {
		*place = v
	}
}

// Wrote notes that the task has written the element of Items[i] of its chunk, so that
// [Column.Written] lists the item. In a column that was added without Changes it costs a
// branch.
func (c *Column[T, C]) Wrote(k Rows[T], i int) {
	k.pass.mustRun("Wrote", k.Index, k.serial)
	_ = k.Items[i]
	if c.core.tracked {
		c.core.wrote(k.pass, k.Index, int(k.row)+i)
	}
}

// Written iterates over the items whose elements the last frame wrote, or the one that
// runs has so far, with these elements: those of which [Column.Wrote] says so, and those
// that lived before and have a new one by [Column.Set]. What else there is to say of it,
// [Written] says, which is the same for items. It panics unless the column was added with
// Changes. [Exchange] leaves the lists of both columns as they are.
func (c *Column[T, C]) Written() iter.Seq2[Handle[T], *C] {
	c.core.mustTrack("Written")
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			c.core.lookup("Written")
		}
		c.core.written.all(func(id ID) bool { return yield(Handle[T]{ID: id}, (*C)(c.core.item(id))) })
	}
}

// Exchange makes the elements of each of two columns of one table those of the other, in
// O(shards) time: a ForEachRows reads cur of any item, writes next of its own, and
// behind it Exchange makes next what is read.
//
//	err := cells.ForEachRows(ctx, live) // reads cur, writes next
//	err = store.Exchange(ctx, cur, next)
//
// Slices and pointers of both are over. Sets that are pending, digests, snapshots and
// what Written lists go by the name of the column. Exchange joins a Write, or a system that names both in its
// Writes, while no pass runs in it; anywhere else it is [ErrPhase]. It is an error for
// columns of two tables, and for those with Clone or Links.
//
// The guide's page is guide/neighbours.md.
func Exchange[T, C any](ctx context.Context, a, b *Column[T, C]) error {
	check.Given(a != nil && b != nil, "store: Exchange", "Column")
	return exchange(ctx, &a.core, &b.core)
}
