package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"handloom/internal/apply"
	"handloom/internal/items"
	"handloom/internal/record"
	"handloom/internal/rows"
	"handloom/internal/sparse"
)

// column is all of a [Column] but what a user's code calls with elements.
type column struct {
	table    *table
	index    int // among those of the table
	name     string
	fullName string // with that of the table
	line     int    // of [Store.Flushed]
	kind     *rows.Kind
	shards   [MaxShards]*rows.Column // by typeId & 63 of the table; unused entries are of an empty map
	fields   []uintptr               // offsets of handles within an element
	visitor  apply.Visitor           // of handles behind references; nil: there are none
	tracked  bool                    // keeps what frames wrote
	written  written

	recorder record.Attachment
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
	if s.claim.Load() != nil {
		return fmt.Errorf("store: AddColumn: %w", errClaimed)
	}
	if o.name == "" {
		o.name = of.Reflect.String()
	}
	fields, err := handleFields(of.Reflect, o.links != nil, "ColumnOptions.Links")
	if err := errors.Join(err, o.validate(t)); err != nil {
		return prefixed(fmt.Sprintf("store: AddColumn %q to table %q", o.name, t.name), err)
	}
	c.table, c.index, c.name, c.fullName = t, len(t.columns), o.name, t.name+"."+o.name
	c.kind = &rows.Kind{Name: o.name, Type: of}
	c.fields, c.visitor, c.tracked = fields, o.links, o.changes
	c.written.init(t)
	c.forget()
	for i, sh := range t.order {
		shard := t.packed(i).AddColumn(c.kind)
		c.shards[(int(t.first)+i)%MaxShards] = shard
		sh.AddColumn(shard, c.onSet(i))
	}
	c.recorder.Init(&t.recorder, of, fields, c.visitor)
	s.columns[c.fullName] = c
	s.statsLock.Lock()
	c.line = len(s.flushed.Columns)
	s.flushed.Columns = append(s.flushed.Columns, TableReport{Name: c.fullName})
	s.statsLock.Unlock()
	t.columns = append(t.columns, c)
	t.copying.addColumn(t.name, o.name, of, o.clone)
	s.publishAll([]*table{t})
	return nil
}

func (o columnOptions) validate(t *table) error {
	var errs []error
	if slices.ContainsFunc(t.columns, func(c *column) bool { return c.name == o.name }) {
		errs = append(errs, errors.New("the name is taken; give each column of a table a Name of its own"))
	} else if other := t.store.columns[t.name+"."+o.name]; other != nil {
		errs = append(errs, fmt.Errorf("column %q of table %q has the same name in reports; give this one another", other.name, other.table.name))
	}
	if o.changes && !t.tracked {
		errs = append(errs, errors.New("the table keeps no changes; register it with Changes as well"))
	}
	return errors.Join(errs...)
}

// forget empties the lookups: they find nothing.
func (c *column) forget() {
	none, _ := rows.New(c.table.typ, sparse.Options{TypeID: int(c.table.first)}) // which is a typeId
	fill(c.shards[:], none.AddColumn(c.kind))
}

// onSet returns what a flush tells of the items of a shard whose elements it sets.
func (c *column) onSet(shard int) func(id ID, item unsafe.Pointer) bool {
	if !c.tracked {
		return nil
	}
	return func(id ID, _ unsafe.Pointer) bool {
		c.written.add(shard, id)
		return true
	}
}

// beginSets is told the frame of a flush that sets elements.
func (t *table) beginSets(frame uint64) {
	for _, c := range t.columns {
		if c.tracked && len(t.recorder.Pending.Sets(c.index)) > 0 {
			c.written.begins(frame)
		}
	}
}

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

// byTable orders columns by the typeId of the table, and then as they were added.
func byTable(a, b *column) int {
	return cmp.Or(byTypeID(a.table, b.table), cmp.Compare(a.index, b.index))
}

// lookup is [table.lookup] for a column.
func (c *column) lookup(method string) {
	if s := c.table.store; s.applying.Load() {
		panic(fmt.Sprintf("store: %s of column %q while a flush applies; look things up in a phase (Read, a pass, Write)", method, c.fullName))
	}
}

// mustWrite and mustRead panic, in checked builds, with what the pass of a phase is to
// return when its system does not name the column.
func (c *column) mustWrite(p *phase) {
	if err := p.mayWriteColumn(c, "writes"); err != nil {
		panic(err)
	}
}

func (c *column) mustRead(ctx context.Context) {
	if err := c.table.store.phaseOf(ctx).mayReadColumn(c, "reads"); err != nil {
		panic(err)
	}
}

// mustTrack panics unless the column keeps what frames wrote.
func (c *column) mustTrack() {
	if !c.tracked {
		panic(fmt.Sprintf("store: Written of column %q, which keeps no changes; add it with ColumnOptions.Changes", c.fullName))
	}
}

// wrote notes that the task of a chunk of a ForEachRows wrote the element of a row.
func (c *column) wrote(p *rowsPass, chunk, row int) {
	if p.table != c.table {
		panic(fmt.Sprintf("store: Wrote of column %q with a chunk of table %q", c.fullName, p.name))
	}
	p.note(c, chunk, row)
}

// exchange is [Exchange].
func exchange(ctx context.Context, a, b *column) error {
	s := a.table.store
	switch {
	case a.table != b.table:
		return fmt.Errorf("store: Exchange of columns %q and %q of two tables; both have to be of one", a.fullName, b.fullName)
	case a.copies() || b.copies():
		return fmt.Errorf("store: Exchange of columns %q and %q, one of which has Clone or Links; copy the elements instead", a.fullName, b.fullName)
	case s.phaseOf(ctx) == nil:
		return fmt.Errorf("store: Exchange outside a phase: %w; call it inside a Write, or in a system that writes both columns", ErrPhase)
	}
	p, err := s.enter(ctx, opExchange)
	if err != nil {
		return err
	}
	defer p.leave()
	if err := cmp.Or(p.mayWriteColumn(a, "exchanges"), p.mayWriteColumn(b, "exchanges")); err != nil {
		return fmt.Errorf("%w: %w", err, ErrPhase) // in every build: the other systems of the wave may have slices of both
	}
	for i := range a.table.order {
		m := a.table.packed(i)
		a.of(m).Exchange(b.of(m), m.Len())
	}
	return nil
}

func (c *column) copies() bool {
	return c.visitor != nil || c.table.copying.clones.Columns[c.index] != nil
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
