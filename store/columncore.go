package store

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"handloom/internal/apply"
	"handloom/internal/items"
	"handloom/internal/rows"
)

// column is all of a [Column] but what a user's code calls with elements.
type column struct {
	table   *table
	index   int // among those of the table
	name    string
	kind    *rows.Kind
	shards  [MaxShards]*rows.Column // by typeId & 63 of the table
	fields  []uintptr               // offsets of handles within an element
	visitor apply.Visitor           // of handles behind references; nil: there are none
	tracked bool                    // keeps what frames wrote
}

// add adds the column to the table, or leaves both as they are if anything fails.
func (c *column) add(t *table, o columnOptions, of *items.Type) error {
	s := t.store
	if !s.gate.tryAcquire(false) {
		return fmt.Errorf("store: AddColumn: %w: a phase is open; add columns before the first one or between two", ErrPhase)
	}
	defer s.gate.release(false)
	if s.closed {
		return fmt.Errorf("store: AddColumn: %w", ErrClosed)
	}
	if o.name == "" {
		o.name = of.Reflect.String()
	}
	fields, err := handleFields(of.Reflect, o.links != nil, "ColumnOptions.Links")
	if err := errors.Join(err, o.validate(t)); err != nil {
		return prefixed(fmt.Sprintf("store: AddColumn %q to table %q", o.name, t.name), err)
	}
	c.table, c.index, c.name = t, len(t.columns), o.name
	c.kind = &rows.Kind{Name: o.name, Type: of}
	c.fields, c.visitor, c.tracked = fields, o.links, o.changes
	for i := range t.order {
		c.shards[(int(t.first)+i)%MaxShards] = t.packed(i).AddColumn(c.kind)
	}
	t.columns = append(t.columns, c)
	t.copying.addColumn(t.name, o.name, of, o.clone)
	s.publishStats([]*table{t})
	return nil
}

func (o columnOptions) validate(t *table) error {
	var errs []error
	if slices.ContainsFunc(t.columns, func(c *column) bool { return c.name == o.name }) {
		errs = append(errs, errors.New("the name is taken; give each column of a table a Name of its own"))
	}
	if o.changes && !t.tracked {
		errs = append(errs, errors.New("the table keeps no changes; register it with Changes as well"))
	}
	return errors.Join(errs...)
}

// fullName returns the name of the column with that of its table.
func (c *column) fullName() string { return c.table.name + "." + c.name }

// of returns the part of the column that belongs to a map of the table.
func (c *column) of(m *rows.Dense) *rows.Column { return c.shards[m.TypeID()%MaxShards] }

// run returns the elements of n rows from row on of a map, of which a chunk or Rows is.
func (c *column) run(method string, m *rows.Dense, row, n int) items.Slice {
	if m == nil || c.table.lookups.packed[m.TypeID()%MaxShards] != m {
		panic(fmt.Sprintf("store: %s of column %q with rows that are not of table %q, or of none; use those of a pass over that table",
			method, c.name, c.table.name))
	}
	return c.of(m).Range(row, row+n)
}

// lookup is [table.lookup] for a column.
func (c *column) lookup(method string) {
	if s := c.table.store; s.applying.Load() {
		panic(fmt.Sprintf("store: %s of column %q while a flush applies; look things up in a phase (Read, a pass, Write)", method, c.fullName()))
	}
}

// item returns the address of the element of the item that id names, or nil.
func (c *column) item(id ID) unsafe.Pointer {
	if !c.table.owns(id) {
		return nil
	}
	m := c.table.packed(int(id.TypeID() - c.table.first))
	if row, ok := m.RowOf(id); ok {
		return c.of(m).At(row)
	}
	return nil
}
