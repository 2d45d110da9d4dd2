package store

import (
	"context"
	"slices"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/highwater"
)

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
