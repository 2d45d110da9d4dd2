package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"unsafe"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/items"
	"handloom/shard"
)

// Column is an array of C with one element per row of a packed table, for data that some
// systems use and others do not: element i belongs to row i, also when items move. A pass
// over a column is several times faster than over a field of large items, and systems
// that write different columns of a table run at the same time. [AddColumn] adds one.
//
// Elements of new items are zero, unless [Column.Set] sets them. They are part of
// digests, checkpoints and snapshots. A column adds nothing to the cost of an insert,
// and about 5 ns to the erase of a single item in a Frame.
//
// See guide/columns.md and guide/sparse-data.md.
type Column[T, C any] struct {
	core column
}

// ColumnOptions configure a column of elements of type C. The zero value is valid.
type ColumnOptions[C any] struct {
	Name    string // unique in the table; default: the name of C
	Changes bool   // keep the change lists of the [Column] or [Sparse]; the table needs Changes, too

	// Clone and Links of elements; see [TableOptions].
	Clone func(dst, src *C)
	Links func(v *C, visit func(id *ID))
}

// AddColumn adds an array of C to t. Its elements are zero for present and new items,
// unless [Column.Set] sets them.
//
//	pos := store.AddColumn(boids, store.ColumnOptions[Pos]{Name: "pos"})
//
// It takes O(rows) time. Older [Checkpoint] values fail with [ErrCheckpoint] from then on.
// Any goroutine may call it; it does not wait. It panics
// with an error as [Register] does, and t is unchanged: [ErrPhase] while a phase is open
// or the store is claimed, [ErrClosed], or an error that names every other fault (a name
// that is taken, Changes that the table lacks, handles in C that a flush cannot reach).
func AddColumn[C, T any](t *Table[T], o ColumnOptions[C]) *Column[T, C] {
	check.Given(t != nil, "store: AddColumn", "table")
	c := new(Column[T, C])
	if err := c.core.add(&t.core, untypedColumn(o), items.For[C]()); err != nil {
		panic(err)
	}
	return c
}

func (c *Column[T, C]) resource() resource {
	if c == nil {
		return resource{}
	}
	return c.core.component.resource()
}

// Name returns the name of the column.
func (c *Column[T, C]) Name() string { return c.core.name }

// Get returns a pointer to the element of the item h, and whether the item exists. It
// takes O(1) time and inlines. Callers and lifetime are as for [Table.Get]; [Exchange]
// also ends the lifetime.
func (c *Column[T, C]) Get(h Handle[T]) (*C, bool) {
	if check.Cheap {
		c.core.lookup("Get")
	}
	return dense.FindColumn[C](c.core.shards[h.ID>>48&(MaxShards-1)], h.ID)
}

// At returns the pointer of [Column.Get]. It panics with a [*StaleError] if the item does
// not exist.
func (c *Column[T, C]) At(h Handle[T]) *C {
	if check.Cheap {
		c.core.lookup("At")
	}
	shard := c.core.shards[h.ID>>48&(MaxShards-1)]
	v, ok := dense.FindColumn[C](shard, h.ID)
	if !ok {
		panic(shard.NewStaleError(h.ID))
	}
	return v
}

// Read returns the elements of the items of k, with the same indexes, to be read only. It
// panics if k belongs to another table.
func (c *Column[T, C]) Read(k Chunk[T]) []C {
	if check.Cheap {
		c.core.lookup("Read")
	}
	all := c.core.run("Read", k.items, int(k.row), len(k.Items))
	return *items.As[C](&all)
}

// Write returns the elements of the items of a chunk of [Table.ForEachRows] or
// [Table.ForEach], with the same indexes. The task may read and write them; capacity equals
// length. A system names the column in Writes. Write panics if k belongs to another table or
// to a Reduce, or the pass has ended.
func (c *Column[T, C]) Write(k Chunk[T]) []C {
	k.pass.mustRun("Write", k.Index, k.serial)
	if check.Cheap {
		c.core.mustWrite(k.pass.phase)
	}
	all := c.core.run("Write", k.items, int(k.row), len(k.Items))
	return *items.As[C](&all)
}

// Member returns a pointer to the element of member k of m, to be read only, in O(1) time
// without a look-up. It panics if m belongs to another table. Callers are as for
// [Groups.Of].
func (c *Column[T, C]) Member(m Members[T], k int) *C {
	if check.Cheap {
		c.core.lookup("Member")
	}
	ref := m.refs[k]
	if m.maps.packed != c.core.table.lookups.packed {
		panic(wrongMembers{c.core.name, c.core.table.name})
	}
	return (*C)(c.core.shards[ref>>32&(MaxShards-1)].At(int(uint32(ref))))
}

// Set records v as the element of the item h, which may be provisional in the same batch.
// The last Set by (key, sequence) wins. A flush applies Sets after puts, which do not
// change elements, and before erases: a Set of an item erased in the same batch is
// dropped. A system that calls Set emits to the column, not to the table. A [Report] has
// a line for it.
//
// It takes O(1) time and allocates nothing in steady use. It is fastest for items that
// the same queue created, in the same order: the flush copies the values in bulk. A Set
// for one of the last of many creates takes memory for the elements of all creates before
// it, which [Options.QueueBytes] counts. Queues panic and fail as for [Table.Emplace].
func (c *Column[T, C]) Set(q Queue, h Handle[T], v C) {
	if place := (*C)(c.core.recorder.Set(batch.Queue(q), h.ID)); place != nil {
		*place = v
	}
}

// Wrote notes that the task has written the element of Items[i] of its chunk, for
// [Column.Written]. It costs a branch in a column without Changes.
func (c *Column[T, C]) Wrote(k Chunk[T], i int) {
	k.pass.mustRun("Wrote", k.Index, k.serial)
	_ = k.Items[i]
	if c.core.tracked {
		c.core.wrote(k.pass, k.Index, int(k.row)+i)
	}
}

// Written iterates over the elements that the last frame wrote, or the current frame so
// far: elements noted by [Column.Wrote] or replaced by [Column.Set], except elements of
// items that the frame created. Everything else is as for the function [Written]. It
// panics unless the column has Changes. [Exchange] does not change the lists.
func (c *Column[T, C]) Written() iter.Seq2[Handle[T], *C] {
	c.core.mustTrack("Written")
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			c.core.table.lookupChanges("Written", c.core.resource().String())
		}
		c.core.written.all(func(id ID) bool { return yield(Handle[T]{ID: id}, (*C)(c.core.item(id))) })
	}
}

// Exchange swaps the elements of two columns of one table, in O(shards) time. In typical
// use a pass reads cur of any item and writes next of its own items:
//
//	err := cells.ForEachRows(ctx, live) // reads cur, writes next
//	err = store.Exchange(ctx, cur, next)
//
// It invalidates slices and pointers of both. Only elements are exchanged: pending Sets
// and the list of Written stay with their column. Exchange joins a Frame, or a system
// that names both in its Writes, while no pass of it runs; elsewhere it is [ErrPhase].
// Columns of two tables, or with Clone or Links, are an error.
//
// See guide/neighbours.md.
func Exchange[T, C any](ctx context.Context, a, b *Column[T, C]) error {
	check.Given(a != nil && b != nil, "store: Exchange", "Column")
	return exchange(ctx, &a.core, &b.core)
}

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

// component is the common core of columns and sparse data of a table.
type component struct {
	table    *table
	number   int
	what     string
	name     string
	fullName string
	line     int // index in the columns of [Store.Flushed]
	typ      *items.Type
	fields   []uintptr         // offsets of handles in an element
	visitor  shard.LinkVisitor // visits handles that references lead to; nil: none
	element  func(id ID) unsafe.Pointer

	recorder batch.SetLog

	tracked bool // whether it has Changes
	written written
}

// The kinds of components.
const (
	isColumn = "column"
	isSparse = "sparse data"
)

type columnOptions struct {
	name    string
	changes bool
	links   shard.LinkVisitor
	clone   func(dst, src unsafe.Pointer)
}

// untypedColumn converts options as untypedOptions does.
func untypedColumn[C any](o ColumnOptions[C]) columnOptions {
	return columnOptions{
		name: o.Name, changes: o.Changes,
		links: *(*shard.LinkVisitor)(unsafe.Pointer(&o.Links)),
		clone: *(*func(dst, src unsafe.Pointer))(unsafe.Pointer(&o.Clone)),
	}
}

// add adds the component to the table; on failure neither has changed. It calls attach
// when nothing can fail anymore.
func (p *component) add(t *table, verb string, o columnOptions, typ *items.Type, attach func()) error {
	s := t.store
	if err := s.lockSchema(verb, "add columns and sparse data outside phases"); err != nil {
		return err
	}
	defer s.gate.release(false)
	if o.name == "" {
		o.name = typ.Reflect.String()
	}
	fields, err := handleFields(typ.Reflect, o.links != nil, "ColumnOptions.Links")
	if err := errors.Join(err, o.validate(t)); err != nil {
		return prefixed(fmt.Sprintf("store: %s %q to table %q", verb, o.name, t.name), err)
	}
	p.table, p.number, p.name, p.fullName = t, len(t.components), o.name, t.name+"."+o.name
	p.typ, p.fields, p.visitor, p.tracked = typ, fields, o.links, o.changes
	if p.tracked {
		p.written.init(t, nil)
	}
	p.recorder.Init(&t.recorder, typ, p.what == isSparse, fields, o.links)
	t.components = append(t.components, p)
	t.links, t.visits = t.links || len(fields) > 0, t.visits || o.links != nil
	attach()
	s.components[p.fullName] = p
	s.statsLock.Lock()
	p.line = len(s.flushed.Columns)
	s.flushed.Columns = append(s.flushed.Columns, TableReport{Name: p.fullName})
	s.statsLock.Unlock()
	s.publishAll([]*table{t})
	return nil
}

func (o columnOptions) validate(t *table) error {
	var errs []error
	if t.component(o.name) != nil {
		errs = append(errs, errors.New("the name is taken; give each column and sparse data of a table its own Name"))
	} else if other := t.store.components[t.name+"."+o.name]; other != nil {
		errs = append(errs, fmt.Errorf("%s %q of table %q has the same name in reports; choose another", other.what, other.name, other.table.name))
	}
	if o.changes && !t.tracked {
		errs = append(errs, errors.New("the table keeps no changes; register it with Changes, too"))
	}
	return errors.Join(errs...)
}

func (t *table) component(name string) *component {
	for _, p := range t.components {
		if p.name == name {
			return p
		}
	}
	return nil
}

func (p *component) resource() resource { return resource{table: p.table, component: p} }

// byTable orders components by typeId of the table, then by number.
func byTable(a, b *component) int {
	return cmp.Or(byTypeID(a.table, b.table), cmp.Compare(a.number, b.number))
}

// lookup is [table.lookup] for a component.
func (p *component) lookup(method string) {
	s := p.table.store
	if s.applying.Load() {
		panic(fmt.Sprintf("store: %s of %s %q while a flush applies; look things up in a phase (Read, a pass, Frame)", method, p.what, p.fullName))
	}
	if y := s.currentSystem(); y != nil && !y.readsComponent(p) {
		panic(y.undeclaredComponent("calls "+method+" of", p, "Reads"))
	}
}

func (p *component) mustTrack(method string) {
	if !p.tracked {
		panic(fmt.Sprintf("store: %s of %s %q, which keeps no changes; add it with ColumnOptions.Changes", method, p.what, p.fullName))
	}
}

func (p *component) sets() []*batch.Sets { return p.table.recorder.Pending.Sets(p.number) }
