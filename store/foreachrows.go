package store

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/highwater"
)

// ForEachRows runs f for every chunk of the table, in parallel, as [Table.ForEach] does,
// but f only reads items and may write elements of columns. A system that calls it names
// the columns that it writes, not the table, so systems that write different columns run
// at the same time.
//
//	err := boids.ForEachRows(ctx, func(r store.Rows[Boid]) {
//		p, v := pos.Write(r), vel.Read(r)
//		for i := range p {
//			p[i].X += v[i].X
//		}
//	})
//
// A ForEach has the same chunks.
func (t *Table[T]) ForEachRows(ctx context.Context, f func(r Rows[T])) error {
	check.Given(t != nil, "store: ForEachRows", "table")
	check.Given(f != nil, "store: ForEachRows", "function")
	return t.core.forEachRows(ctx, *(*func(Rows[untyped]))(unsafe.Pointer(&f))) // see untyped
}

// rowsPass is a running ForEachRows. Several can run at the same time, so the table only
// keeps the memory.
type rowsPass struct {
	table  *table
	name   string
	phase  *phase
	f      func(Rows[untyped])
	queues *batch.Pass
	chunks chunking
	wrote  []columnWrites
	peak   highwater.Mark
	serial uint32 // incremented by each pass, so that use of an old chunk is detected
	task   func(int) error
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

func (t *table) forEachRows(ctx context.Context, f func(Rows[untyped])) error {
	ph, err := t.store.enter(ctx, opForEachRows)
	if err != nil {
		return err
	}
	defer ph.leave()
	defer ph.trace(t.name).end()
	if check.Cheap {
		if err := ph.mayRead(t); err != nil {
			return err
		}
	}
	ph.writesColumns = t
	p := t.takeRowsPass()
	defer p.release()
	n := t.cut(&p.chunks)
	if p.queues, err = t.store.begin(ph, n); err != nil {
		return fmt.Errorf("store: ForEachRows of table %q: %w", t.name, err)
	}
	p.phase, p.f = ph, f
	if t.tracked {
		p.beginNotes(n)
		defer p.finish(n)
	}
	err = t.store.runPass(ph, p.queues, n, p.task)
	t.resolveIfChanged(ph, p.queues)
	return err
}

func (t *table) takeRowsPass() *rowsPass {
	p, ok := t.rowsPasses.Get().(*rowsPass)
	if !ok {
		p = &rowsPass{table: t, name: t.name}
		p.task = p.run
	}
	return p
}

func (p *rowsPass) release() {
	p.phase, p.f, p.queues = nil, nil, nil
	p.serial++
	p.table.rowsPasses.Put(p)
}

func (p *rowsPass) run(index int) error {
	shard, lo, hi := p.chunks.find(index)
	m := p.table.packed(shard)
	items, q := m.Range(lo, min(hi, m.Len())), p.queues.Queue(index)
	p.f(Rows[untyped]{
		Items: *(*[]untyped)(unsafe.Pointer(&items)), Queue: Queue(q), Index: index,
		pass: p, erased: q.Rows(), items: m, row: uint32(lo), serial: p.serial,
	})
	err := p.queues.Failed(index)
	if err == nil {
		p.table.eraseRows(q, shard)
	}
	return err
}

// beginNotes makes room for the notes of n chunks, and trims notes past them.
func (p *rowsPass) beginNotes(n int) {
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

func (p *rowsPass) note(c *column, chunk, row int) {
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
func (p *rowsPass) finish(n int) {
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
