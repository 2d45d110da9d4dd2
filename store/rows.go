package store

import (
	"fmt"

	"handloom/internal/check"
	"handloom/internal/dense"
)

// Rows is a run of rows of a table given to one task of [Table.ForEachRows] or [Reduce],
// valid until the task returns. In a ForEachRows the task writes columns with
// [Column.Write], and records with Queue and Erase; in a Reduce these panic.
type Rows[T any] struct {
	Items []T   // read-only
	Queue Queue // queue of the task; in a Reduce the zero Queue
	Index int   // index of the run in the pass; depends only on row counts

	pass   *rowsPass // nil: a Reduce
	erased *[]uint32 // rows to erase
	items  *dense.Set
	row    uint32 // row of Items[0] in the map
	serial uint32
}

// Handle returns the handle of Items[i].
func (r *Rows[T]) Handle(i int) Handle[T] {
	if check.Cheap && r.pass != nil && r.serial != r.pass.serial {
		panic(savedChunk{"Handle", r.Index, r.pass.name})
	}
	_ = r.Items[i]
	return Handle[T]{ID: r.items.IDAt(int(r.row) + i)}
}

// Erase records the erase of Items[i].
func (r *Rows[T]) Erase(i int) {
	r.pass.mustRun("Erase", r.Index, r.serial)
	_ = r.Items[i]
	*r.erased = append(*r.erased, r.row+uint32(i))
}

// mustRun panics unless the rows belong to a running pass.
func (p *rowsPass) mustRun(method string, index int, serial uint32) {
	switch {
	case p == nil:
		panic(fmt.Sprintf("store: %s with Rows of a Reduce, which only reads; call it in a ForEachRows", method))
	case p.serial != serial:
		panic(savedChunk{method, index, p.name})
	}
}
