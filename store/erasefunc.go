package store

import (
	"cmp"
	"context"
	"fmt"
	"unsafe"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/paged"
)

// EraseFunc records the erases of all items of t for which dead returns true, in
// parallel. The next flush applies them.
//
//	err := store.EraseFunc(ctx, shots, func(s *Shot) bool { return s.Left <= 0 })
//
// It takes O(rows) time. dead must only read; several goroutines call it at once. When it
// panics, EraseFunc returns the [*PanicError] of the lowest chunk, and records nothing.
// EraseFunc is a phase like [Table.ForEach]. A system that calls it names t in Reads and
// Emits.
func EraseFunc[T any](ctx context.Context, t TableOf[T], dead func(v *T) bool) error {
	core := tableOf("EraseFunc", t)
	check.Given(dead != nil, "store: EraseFunc", "function")
	return core.eraseFunc(ctx, *(*func(*untyped) bool)(unsafe.Pointer(&dead))) // see untyped
}

// erasing is a pass that reads a table and records erases. Several can run at the same
// time, so the table only keeps the memory.
type erasing struct {
	table  *table
	phase  *phase
	queues *batch.Pass
	chunks chunking
	n      int
	region region
	dead   func(*untyped) bool
	erase  func(int) error // eraseChunk, bound once
}

func (t *table) eraseFunc(ctx context.Context, dead func(*untyped) bool) error {
	p, err := t.beginErasing(ctx, opEraseFunc, t)
	if err != nil {
		return err
	}
	defer p.leave()
	p.dead = dead
	return p.record(p.erase)
}

// beginErasing begins a pass that reads t and other. On success [erasing.record] and
// [erasing.leave] must follow.
func (t *table) beginErasing(ctx context.Context, op operation, other *table) (*erasing, error) {
	ph, err := t.store.enter(ctx, op)
	if err != nil {
		return nil, err
	}
	if check.Cheap {
		err = cmp.Or(ph.mayRead(t), ph.mayRead(other))
	}
	p := t.takeErasing()
	p.phase, p.region = ph, ph.trace(t.name)
	if err == nil {
		p.n = t.cut(&p.chunks)
		if p.queues, err = t.store.begin(ph, p.n); err != nil {
			err = fmt.Errorf("store: %v of table %q: %w", op, t.name, err)
		}
	}
	if err != nil {
		p.leave()
		return nil, err
	}
	return p, nil
}

func (t *table) takeErasing() *erasing {
	p, ok := t.erasings.Get().(*erasing)
	if !ok {
		p = &erasing{table: t}
		p.erase = p.eraseChunk
	}
	return p
}

// record runs the tasks of the pass.
func (p *erasing) record(task func(int) error) error {
	err := p.table.store.runPass(p.phase, p.queues, p.n, task)
	p.table.resolveIfChanged(p.phase, p.queues)
	return err
}

func (p *erasing) leave() {
	p.region.end()
	p.phase.leave()
	p.phase, p.queues, p.dead = nil, nil, nil
	p.table.erasings.Put(p)
}

func (p *erasing) find(chunk int) (shard, lo, hi int) {
	shard, lo, hi = p.chunks.find(chunk)
	return shard, lo, min(hi, p.table.order[shard].Map.Rows())
}

func (p *erasing) eraseChunk(chunk int) error {
	shard, lo, hi := p.find(chunk)
	items, q := p.table.rowItems(shard), p.queues.Queue(chunk)
	for row := lo; row < hi; row++ {
		if v := items.at(row); v != nil && p.dead(v) {
			p.table.eraseRow(q, shard, row)
		}
	}
	p.table.eraseRows(q, shard)
	return nil
}

// eraseRow records the erase of a row. [table.eraseRows] must follow.
func (t *table) eraseRow(q batch.Queue, shard, row int) {
	if t.lookups.packed == nil {
		t.recorder.Erase(q, t.order[shard].Map.IDAt(row))
		return
	}
	rows := q.Rows()
	*rows = append(*rows, uint32(row))
}

// rowItems are the untyped items of a shard by row.
type rowItems struct {
	stable *paged.Set // nil: a packed table
	first  unsafe.Pointer
	size   uintptr
}

func (t *table) rowItems(shard int) rowItems {
	if t.lookups.packed == nil {
		return rowItems{stable: t.pages(shard)}
	}
	m := t.packed(shard)
	all := m.Range(0, m.Len())
	return rowItems{first: all.Data(), size: t.typ.Size}
}

// at returns the item at a row, or nil for an empty row.
func (r *rowItems) at(row int) *untyped {
	if r.stable != nil {
		return (*untyped)(r.stable.At(row))
	}
	return (*untyped)(unsafe.Add(r.first, uintptr(row)*r.size))
}
