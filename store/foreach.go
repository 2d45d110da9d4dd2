package store

import (
	"context"
	"iter"

	"handloom/internal/check"
	"handloom/internal/dense"
)

// Chunk is a run of rows given to one task, valid until the task returns. Its methods
// panic after the pass; All and Handle do so only in checked builds and with the race
// detector.
type Chunk[T any] struct {
	Items []T   // the task may write them; capacity equals length
	Queue Queue // queue of the task
	Index int   // index of the chunk in the pass; depends only on row counts

	table  *table
	erased *[]uint32 // rows to erase
	notes  *notes
	wrote  *notes // nil: the table has no Changes
	items  *dense.Set
	row    uint32 // row of Items[0] in the map
	serial uint32
}

// All iterates over the indexes and addresses of Items.
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
	_ = c.Items[i] // rows past the chunk belong to others
	return Handle[T]{ID: c.items.IDAt(int(c.row) + i)}
}

// Erase records the erase of Items[i].
func (c *Chunk[T]) Erase(i int) {
	if c.serial != c.table.pass.serial {
		panic(savedChunk{"Erase", c.Index, c.table.name})
	}
	_ = c.Items[i]
	*c.erased = append(*c.erased, c.row+uint32(i))
}

// Touch notes a change of Items[i] that matters to the order of
// [handlemap.Map.Defragment]. After a pass without Touch every item counts as changed,
// unless the table has FixedKeys.
func (c *Chunk[T]) Touch(i int) {
	if c.serial != c.table.pass.serial {
		panic(savedChunk{"Touch", c.Index, c.table.name})
	}
	_ = c.Items[i]
	c.notes.rows = append(c.notes.rows, int(c.row)+i)
}

// Wrote notes that the task has written Items[i], for [Written]. It costs a branch in a
// table without Changes.
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

// ForEach runs f for every chunk of the table, in parallel. A task may write the rows of
// its chunk, and read all data that nobody writes in this pass. Chunk bounds depend only
// on row counts and the table's chunk size.
//
// If tasks fail, by [Queue.Fail] or a panic, ForEach runs all others, drops everything
// that the pass recorded and returns the error of the lowest chunk, a panic as a
// [*PanicError]. Items written in place stay written. ForEach checks ctx once, before the
// first chunk.
//
// A pass holds the store alone, or joins the Frame or system of its context. A system
// that calls ForEach names the table in Writes, even if f only reads. Only Reduce over
// other tables may run inside a task.
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
