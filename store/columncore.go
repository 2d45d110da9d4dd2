package store

import (
	"cmp"
	"context"
	"fmt"
	"unsafe"

	"handloom/internal/dense"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// column is the untyped core of a [Column].
type column struct {
	component
	index  int
	kind   *dense.Kind
	shards [MaxShards]*dense.Column // by typeId & 63; unused entries are columns of an empty map
}

// add adds the column to the table; on failure neither has changed.
func (c *column) add(t *table, o columnOptions, typ *items.Type) error {
	c.what, c.element = isColumn, c.item
	return c.component.add(t, "AddColumn", o, typ, func() {
		c.index = len(t.columns)
		c.kind = &dense.Kind{Name: c.name, Type: typ}
		c.forget()
		for i, sh := range t.order {
			shard := t.packed(i).AddColumn(c.kind)
			c.shards[(int(t.first)+i)%MaxShards] = shard
			sh.AddColumn(shard, c.number, c.fields, c.visitor, c.onSet(i))
		}
		t.columns = append(t.columns, c)
		t.copying.addColumn(t.name, c.name, typ, o.clone)
	})
}

// forget makes the lookups find nothing.
func (c *column) forget() {
	none, _ := dense.New(c.table.typ, handle.Options{TypeID: int(c.table.first)}) // any typeId of the table
	fill(c.shards[:], none.AddColumn(c.kind))
}

// onSet returns the function that a flush calls for each element it sets, or nil.
func (c *column) onSet(shard int) func(id ID, item unsafe.Pointer) bool {
	if !c.tracked {
		return nil
	}
	return func(id ID, _ unsafe.Pointer) bool {
		c.written.add(shard, id)
		return true
	}
}

// beginSets begins the written lists of the components that a flush sets.
func (t *table) beginSets(frame uint64) {
	for _, p := range t.components {
		if p.tracked && len(p.sets()) > 0 {
			p.written.begins(frame)
		}
	}
}

// shard returns the array of the column for a map of the table.
func (c *column) shard(m *dense.Set) *dense.Column { return c.shards[m.TypeID()%MaxShards] }

func (c *column) run(method string, m *dense.Set, row, n int) items.Slice {
	if m == nil || c.table.lookups.packed[m.TypeID()%MaxShards] != m {
		panic(fmt.Sprintf("store: %s of column %q with rows not of table %q; use rows of a pass over that table",
			method, c.name, c.table.name))
	}
	return c.shard(m).Range(row, row+n)
}

// wrongMembers is the panic value of Member for members of another table; a value to
// allow inlining.
type wrongMembers struct{ column, table string }

func (w wrongMembers) Error() string {
	return fmt.Sprintf("store: Member of column %q with members not of table %q; use groups of that table", w.column, w.table)
}

// mustWrite panics, in checked builds, with the error for the pass, if its system does not
// name the column.
func (c *column) mustWrite(p *phase) {
	if err := p.mayWriteComponent(&c.component, "writes"); err != nil {
		panic(err)
	}
}

// mustRun panics unless a chunk belongs to the running pass.
func (p *pass) mustRun(method string, index int, serial uint32) {
	if serial != p.serial {
		panic(wrongChunk{method, index, p})
	}
}

// wrote notes that a task wrote the element of a row.
func (c *column) wrote(p *pass, chunk, row int) {
	if p.table != c.table {
		panic(fmt.Sprintf("store: Wrote of column %q with a chunk of table %q", c.fullName, p.table.name))
	}
	p.note(c, chunk, row)
}

func exchange(ctx context.Context, a, b *column) error {
	s := a.table.store
	s.given(ctx, "Exchange")
	switch {
	case a.table != b.table:
		return fmt.Errorf("store: Exchange of columns %q and %q of two tables; use columns of one table", a.fullName, b.fullName)
	case a.copies() || b.copies():
		return fmt.Errorf("store: Exchange of columns %q and %q, one of which has Clone or Links; copy the elements instead", a.fullName, b.fullName)
	case s.phaseOf(ctx) == nil:
		return fmt.Errorf("store: Exchange outside a phase: %w; call it inside a Frame, or in a system that writes both columns", ErrPhase)
	}
	p, err := s.enter(ctx, opExchange)
	if err != nil {
		return err
	}
	defer p.leave()
	if err := cmp.Or(p.mayWriteComponent(&a.component, "exchanges"), p.mayWriteComponent(&b.component, "exchanges")); err != nil {
		return err // in every build, because other systems of the wave may hold slices of both
	}
	for i := range a.table.order {
		m := a.table.packed(i)
		a.shard(m).Exchange(b.shard(m), m.Len())
	}
	return nil
}

func (c *column) copies() bool {
	return c.visitor != nil || c.table.copying.clones.Columns[c.index] != nil
}

// item returns the address of the element of the item id, or nil.
func (c *column) item(id ID) unsafe.Pointer {
	if !c.table.owns(id) {
		return nil
	}
	m := c.table.packed(int(id.TypeID() - c.table.first))
	if row, ok := m.RowOf(id); ok {
		return c.shard(m).At(row)
	}
	return nil
}
