package digest

import (
	"reflect"
	"unsafe"
)

// A Migration reads encodings of an older type as values of the type of a
// [Codec]. Fields are matched by name, in structs within structs as well: one
// that is new is zero, one that is gone is skipped, an integer may have become a
// wider one.
type Migration struct {
	// Mismatches names the fields that both types have and whose values cannot be
	// converted. They are zero.
	Mismatches []string

	// Lost names the fields that the older type has and the type has not, or some of them.
	Lost []string

	// Item is called with each item that was read, for what Mismatches and new names
	// need, unless it is nil. What it returns is an error of the Decoder.
	Item func(old Fields, item unsafe.Pointer) error

	program *Codec
	from    *Schema
	root    *node
	fields  map[readAs]*Migration // what Item asked for
}

// From returns how items of the old schema are read as items of p.
func (p *Codec) From(old *Schema) *Migration {
	m := &Migration{program: p, from: old, fields: map[readAs]*Migration{}}
	c := migrating{compiler: compiler{layout: p.layout, slice: opSlice, nodes: map[reflect.Type]*node{}}, nodes: map[readAs]*migrated{}, types: map[reflect.Type]*target{}, nests: p.nests}
	var fits bool
	if m.root, fits = c.node(old, p.typ, p.typ.String()); !fits {
		m.root.ops = []op{{kind: opSkip, old: old}}
		c.misfits = []string{p.typ.String()}
	}
	c.measure()
	for _, made := range c.nodes {
		made.node.measure()
	}
	m.root.measure()
	m.Mismatches, m.Lost = c.misfits, c.lost
	return m
}

// A ColumnPlan says how a column of an encoding is read.
type ColumnPlan struct {
	Into      int        // which column of the map it becomes; -1: none, and it is passed over
	Migration *Migration // nil: elements are what they were
	Skip      *Schema    // of elements that are passed over
}

// MigrateColumns says how each column of the encoding is read, and each optional data
// behind them, in order; nil: each as what it is. Those of the map that none becomes are
// zero, or empty.
func (d *Decoder) MigrateColumns(columns, data []ColumnPlan) { d.columns, d.data = columns, data }

// Columns returns what MigrateColumns said of columns; own is how many the map has.
func (d *Decoder) Columns(own int) []ColumnPlan { return asWritten(d.columns, own) }

// Data returns what MigrateColumns said of optional data.
func (d *Decoder) Data(own int) []ColumnPlan { return asWritten(d.data, own) }

func asWritten(how []ColumnPlan, own int) []ColumnPlan {
	if how != nil {
		return how
	}
	all := make([]ColumnPlan, own)
	for i := range all {
		all[i].Into = i
	}
	return all
}

// Migrate makes [Codec.DecodeItems] of the program of m read what the items were.
func (d *Decoder) Migrate(m *Migration) { d.migration = m }

// DecodeItems is [Codec.Decode] for items of a table, which may be of an older type.
func (p *Codec) DecodeItems(d *Decoder, base unsafe.Pointer, n int) {
	if d.migration != nil && d.migration.program == p {
		d.migration.decode(d, base, n)
		return
	}
	p.Decode(d, base, n)
}

// Migrates reports whether items are read as what they were.
func (d *Decoder) Migrates() bool { return d.migration != nil }

// decode is [Codec.DecodeItems] for items of the old type.
func (m *Migration) decode(d *Decoder, base unsafe.Pointer, n int) {
	from := func() *Schema { return m.from }
	for i := range uintptr(n) {
		item := unsafe.Add(base, i*m.root.size)
		b := d.item(m.root, m.program.typ, from, item, int(min(m.from.least, 1)))
		if d.err != nil {
			return
		}
		if m.Item == nil {
			continue
		}
		if err := m.Item(Fields{m, b}, item); err != nil {
			d.Fail(err)
			return
		}
	}
}
