package store

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard"
)

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
	if !s.gate.tryAcquire(false) {
		return fmt.Errorf("store: %s: %w: a phase is open; add columns and sparse data outside phases", verb, ErrPhase)
	}
	defer s.gate.release(false)
	if s.closed {
		return fmt.Errorf("store: %s: %w", verb, ErrClosed)
	}
	if s.claim.Load() != nil {
		return fmt.Errorf("store: %s: %w", verb, errClaimed)
	}
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
