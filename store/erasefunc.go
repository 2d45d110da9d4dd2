package store

import (
	"context"
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
	return domain{table: core}.forEach(ctx, opEraseFunc, *(*func(untyped))(unsafe.Pointer(&dead))) // see untyped
}

// eraseChunk records the erases of a chunk's items for which dead returns true. [pass.endTask]
// must follow.
func (p *pass) eraseChunk(chunk int, dead func(*untyped) bool) {
	shard, lo, hi := p.find(chunk)
	items, q := p.table.rowItems(shard), p.queues.Queue(chunk)
	for row := lo; row < hi; row++ {
		if v := items.at(row); v != nil && dead(v) {
			p.table.eraseRow(q, shard, row)
		}
	}
}

// eraseRow records the erase of a row. [pass.endTask] must follow.
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
