package store

import (
	"context"
	"iter"

	"handloom/internal/check"
	"handloom/internal/dense"
)

// Chunk is a run of rows of a table given to one task, and good until that
// returns. Its methods panic when the pass has ended, All and Handle in checked
// builds and under the race detector alone.
type Chunk[T any] struct {
	Items []T   // the task may write them; capacity equals length
	Queue Queue // the task's own
	Index int   // of the chunk in the pass; depends on row counts alone

	table  *table
	erased *[]uint32 // rows that are to be erased
	notes  *notes
	wrote  *notes // nil: the table keeps no changes
	items  *dense.Set
	row    uint32 // of Items[0] in the map
	serial uint32 // of the pass
}

// All iterates over the indexes and the addresses of Items.
//
//	for i, ship := range c.All() {
//		if ship.Hull <= 0 {
//			c.Erase(i)
//		}
//	}
func (c *Chunk[T]) All() iter.Seq2[int, *T] {
	if check.Cheap && c.serial != c.table.pass.serial {
		panic(savedChunk{"All", c.Index, c.table.name})
	}
	items := c.Items
	return func(yield func(int, *T) bool) {
		for i := range items {
			if !yield(i, &items[i]) {
				return
			}
		}
	}
}

// Handle returns the handle of Items[i].
func (c *Chunk[T]) Handle(i int) Handle[T] {
	if check.Cheap && c.serial != c.table.pass.serial {
		panic(savedChunk{"Handle", c.Index, c.table.name})
	}
	_ = c.Items[i] // the rows behind the chunk belong to others
	return Handle[T]{ID: c.items.IDAt(int(c.row) + i)}
}

// Erase records that Items[i] is to be erased.
func (c *Chunk[T]) Erase(i int) {
	if c.serial != c.table.pass.serial {
		panic(savedChunk{"Erase", c.Index, c.table.name})
	}
	_ = c.Items[i]
	*c.erased = append(*c.erased, c.row+uint32(i))
}

// Touch notes that Items[i] changed in a way that matters to the order that
// [handlemap.Map.Defragment] keeps. After a pass in which nothing was touched
// every item counts as changed, unless the table was registered with FixedKeys.
func (c *Chunk[T]) Touch(i int) {
	if c.serial != c.table.pass.serial {
		panic(savedChunk{"Touch", c.Index, c.table.name})
	}
	_ = c.Items[i]
	c.notes.rows = append(c.notes.rows, int(c.row)+i)
}

// Wrote notes that the task has written Items[i], so that [Written] lists it. In a
// table that was registered without Changes it costs a branch.
func (c *Chunk[T]) Wrote(i int) {
	if c.serial != c.table.pass.serial {
		panic(savedChunk{"Wrote", c.Index, c.table.name})
	}
	_ = c.Items[i]
	if c.wrote != nil {
		c.wrote.rows = append(c.wrote.rows, int(c.row)+i)
	}
}

// WroteAll notes that the task has written all Items; see [Chunk.Wrote].
func (c *Chunk[T]) WroteAll() {
	if c.serial != c.table.pass.serial {
		panic(savedChunk{"WroteAll", c.Index, c.table.name})
	}
	if c.wrote != nil {
		c.wrote.all = true
	}
}

// ForEach runs f for every chunk of the table, in parallel. A chunk's rows are
// that task's alone: it may write them and read anything that nobody writes in
// this pass. Where chunks begin depends on row counts and on the table's chunk
// size alone, never on the number of workers.
//
// All chunks are visited, whatever happens in one of them; then the error of the
// lowest that failed is returned, by [Queue.Fail] or with a panic as a [*PanicError],
// and everything the pass recorded is dropped, while items written in place stay
// written. ForEach looks at ctx once, before the first chunk.
//
// A pass holds the store alone, or joins the Write or system whose context it is
// given. A system that calls ForEach names the table in its Writes, even if f
// only looks. Inside a task only Reduce joins, over other tables.
func (t *Table[T]) ForEach(ctx context.Context, f func(c Chunk[T])) error {
	check.Given(t != nil, "store: ForEach", "table")
	check.Given(f != nil, "store: ForEach", "function")
	p, err := t.core.enterForEach(ctx)
	if err != nil {
		return err
	}
	t.visit = f
	defer func() { t.visit = nil; t.core.leaveForEach(p) }()
	return t.core.forEach(p, t.core.pass.task)
}

func (t *Table[T]) task(index int) error {
	t.visit(chunkOf[T](&t.core, index))
	return t.core.pass.endTask(index)
}

// chunkOf returns a chunk of the ForEach that runs.
func chunkOf[T any](t *table, index int) Chunk[T] {
	p := &t.pass
	shard, lo, hi := p.find(index)
	m, q := t.packed(shard), p.queues.Queue(index)
	return Chunk[T]{
		Items: dense.Range[T](m, lo, hi), Queue: Queue(q), Index: index,
		table: t, erased: q.Rows(), notes: &t.touched.chunks[index], wrote: t.written.notesOf(index), items: m, row: uint32(lo),
		serial: p.serial,
	}
}
