package store

import (
	"context"
	"iter"
	"slices"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/highwater"
)

// Chunk is a run of rows given to one task of [Table.ForEach], [Table.ForEachRows] or
// [Reduce], valid until the task returns. Its methods panic after the pass; All and Handle
// do so only in checked builds and with the race detector. In a Reduce, Erase and Wrote
// panic, in a ForEachRows Wrote.
type Chunk[T any] struct {
	Items []T   // only a ForEach may write them; capacity equals length
	Queue Queue // queue of the task; in a Reduce the zero Queue
	Index int   // index of the chunk in the pass; depends only on row counts

	pass   *pass
	erased *[]uint32 // rows to erase
	notes  *notes    // nil: items are read-only
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
	if check.Cheap && c.serial != c.pass.serial && c.pass != &reducing {
		panic(wrongChunk{"All", c.Index, c.pass})
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
	if check.Cheap && c.serial != c.pass.serial && c.pass != &reducing {
		panic(wrongChunk{"Handle", c.Index, c.pass})
	}
	_ = c.Items[i] // rows past the chunk belong to others
	return Handle[T]{ID: c.items.IDAt(int(c.row) + i)}
}

// Erase records the erase of Items[i].
func (c *Chunk[T]) Erase(i int) {
	if c.serial != c.pass.serial {
		panic(wrongChunk{"Erase", c.Index, c.pass})
	}
	_ = c.Items[i]
	*c.erased = append(*c.erased, c.row+uint32(i))
}

// Wrote notes that the task has written Items[i], for [Written] and, in a table with FixedKeys,
// for the order of [Defragment]. In other tables every item counts as changed for the order
// after a pass. It costs an append, also in a table without Changes.
func (c *Chunk[T]) Wrote(i int) {
	if c.notes == nil || c.serial != c.pass.serial {
		panic(wrongChunk{"Wrote", c.Index, c.pass})
	}
	_ = c.Items[i]
	c.notes.rows = append(c.notes.rows, int(c.row)+i)
}

// WroteAll notes that the task has written all Items; see [Chunk.Wrote].
func (c *Chunk[T]) WroteAll() {
	if c.notes == nil || c.serial != c.pass.serial {
		panic(wrongChunk{"WroteAll", c.Index, c.pass})
	}
	c.notes.all = true
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
	return domain{table: &t.core}.forEach(ctx, opForEach, *(*func(untyped))(unsafe.Pointer(&f))) // see untyped
}

func (p *pass) chunk(index int) Chunk[untyped] {
	t := p.table
	shard, lo, hi := p.chunks.find(index)
	c, q := t.rows(shard, lo, hi, index), p.queues.Queue(index)
	c.Queue, c.erased, c.pass, c.serial = Queue(q), q.Rows(), p, p.serial
	if p.phase.writes == t {
		c.notes = &t.written.chunks[index]
	}
	return c
}

// ForEachRows runs f for every chunk of the table, in parallel, as [Table.ForEach] does,
// but f only reads items and may write elements of columns. A system that calls it names
// the columns that it writes, not the table, so systems that write different columns run
// at the same time.
//
//	err := boids.ForEachRows(ctx, func(c store.Chunk[Boid]) {
//		p, v := pos.Write(c), vel.Read(c)
//		for i := range p {
//			p[i].X += v[i].X
//		}
//	})
//
// A ForEach has the same chunks.
func (t *Table[T]) ForEachRows(ctx context.Context, f func(c Chunk[T])) error {
	check.Given(t != nil, "store: ForEachRows", "table")
	check.Given(f != nil, "store: ForEachRows", "function")
	return domain{table: &t.core}.forEach(ctx, opForEachRows, *(*func(untyped))(unsafe.Pointer(&f))) // see untyped
}

// columnWrites are the rows that one task wrote, by column.
type columnWrites struct {
	columns []wroteColumn
	_       [40]byte // neighbours are written by different workers
}

type wroteColumn struct {
	column *column
	rows   []int
	peak   highwater.Mark
}

// beginNotes makes room for the notes of n chunks, and trims notes past them.
func (p *pass) beginNotes(n int) {
	p.wrote = append(p.wrote, make([]columnWrites, max(0, n-len(p.wrote)))...)
	for _, w := range p.wrote[n:] {
		for i := range w.columns {
			wrote := &w.columns[i]
			wrote.rows = highwater.Trim(&wrote.peak, wrote.rows)
		}
	}
	if len(p.wrote) <= fewChunks {
		return
	}
	if keep := p.peak.Note(n, fewChunks); len(p.wrote) > keep {
		p.wrote = slices.Clone(p.wrote[:keep])
	}
}

func (p *pass) note(c *column, chunk, row int) {
	w := &p.wrote[chunk]
	for i := range w.columns {
		if wrote := &w.columns[i]; wrote.column == c {
			wrote.rows = append(wrote.rows, row)
			return
		}
	}
	w.columns = append(w.columns, wroteColumn{column: c, rows: []int{row}})
}

// finish lists the notes of a pass of n chunks, also after a failure.
func (p *pass) finish(n int) {
	frame := p.phase.frameNumber()
	for chunk := range p.wrote[:n] {
		shard, _, _ := p.chunks.find(chunk)
		m := p.table.packed(shard)
		for i := range p.wrote[chunk].columns {
			wrote := &p.wrote[chunk].columns[i]
			if len(wrote.rows) > 0 {
				wrote.column.written.begins(frame)
			}
			for _, row := range wrote.rows {
				wrote.column.written.add(shard, m.IDAt(row))
			}
			wrote.rows = highwater.Trim(&wrote.peak, wrote.rows)
		}
	}
}
