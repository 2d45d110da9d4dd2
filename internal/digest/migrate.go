package digest

import (
	"reflect"
	"unsafe"
)

// A Migration reads encodings of an older type as values of the type of a [Codec]. It
// matches fields by name, also in nested structs: new fields are zero, lost fields are
// skipped, and integers may become wider.
type Migration struct {
	// Mismatches are the names of fields in both types whose values cannot be converted.
	// They are zero.
	Mismatches []string

	// Lost are names of fields that only the older type has, at most 8.
	Lost []string

	// Item, unless nil, is called with each item read, to convert mismatches and lost
	// fields. Its error becomes the error of the Decoder.
	Item func(old Fields, item unsafe.Pointer) error

	codec  *Codec
	from   *Schema
	root   *node
	fields map[readAs]*Migration
}

// From compiles the migration of a schema. It never fails: parts that cannot be converted
// are Mismatches.
func (p *Codec) From(old *Schema) *Migration {
	m := &Migration{codec: p, from: old, fields: map[readAs]*Migration{}}
	c := migrating{compiler: compiler{layout: p.layout, slice: opSlice, nodes: map[reflect.Type]*node{}}, nodes: map[readAs]*migrated{}, types: map[reflect.Type]*target{}, recursive: p.recursive}
	var fits bool
	if m.root, fits = c.node(old, p.typ, p.typ.String()); !fits {
		// Nothing fits, so each item is skipped and stays zero.
		m.root.ops = []op{{kind: opSkip, old: old}}
		c.mismatches = []string{p.typ.String()}
	}
	c.measure()
	for _, made := range c.nodes {
		made.node.measure()
	}
	m.root.measure()
	m.Mismatches, m.Lost = c.mismatches, c.lost
	return m
}

// ColumnPlan is the plan for a column of the input.
type ColumnPlan struct {
	Into      int        // index of the target column; -1 to skip
	Migration *Migration // nil: elements have their written type
	Skip      *Schema    // schema of skipped elements
}

// MigrateColumns sets the plans for all columns and all sparse data of the encoding, in
// order; nil reads them as written. Columns and sparse data without input are zero or
// empty.
func (d *Decoder) MigrateColumns(columns, data []ColumnPlan) { d.columns, d.data = columns, data }

// Columns returns the plans of the columns; own is the number of columns of the reader.
func (d *Decoder) Columns(own int) []ColumnPlan { return asWritten(d.columns, own) }

// Data is [Decoder.Columns] for sparse data.
func (d *Decoder) Data(own int) []ColumnPlan { return asWritten(d.data, own) }

// asWritten returns the given plans, or plans for columns of the same index.
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

// Migrate makes [Codec.DecodeItems] of m's codec read the older type.
func (d *Decoder) Migrate(m *Migration) { d.migration = m }

// DecodeItems is [Codec.Decode] for items that may have an older type.
func (p *Codec) DecodeItems(d *Decoder, base unsafe.Pointer, n int) {
	if d.migration != nil && d.migration.codec == p {
		d.migration.decode(d, base, n)
		return
	}
	p.Decode(d, base, n)
}

// Migrates reports whether items are read as another type than the written type.
func (d *Decoder) Migrates() bool { return d.migration != nil }

// decode reads n items and calls Item with each.
func (m *Migration) decode(d *Decoder, base unsafe.Pointer, n int) {
	from := func() *Schema { return m.from }
	for i := range uintptr(n) {
		item := unsafe.Add(base, i*m.root.size)
		b := d.item(m.root, m.codec.typ, from, item, int(min(m.from.least, 1)))
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
