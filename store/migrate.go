package store

import (
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"unsafe"

	"handloom/internal/digest"
	"handloom/internal/image"
)

// Fields are the fields of an item of an older version of its type, for
// [TableOptions.Migrate]. They are valid during that call.
type Fields digest.Fields

// Read copies the field with the name into *into; "" is the whole item. Structs are
// matched by field name, and integers may be wider than before. A missing field or
// another type is an error that names both.
//
// It takes time in proportion to the item. *into shares no memory with later reads.
func (f Fields) Read(name string, into any) error { return digest.Fields(f).Read(name, into) }

// migration describes how to read a table of a snapshot into the store. The zero
// migration is for equal schemas.
type migration struct {
	items   *digest.Migration
	columns []digest.ColumnPlan
	data    []digest.ColumnPlan // sparse data
}

// migration returns the migration of a snapshot's table to e, or an error if there is no
// such migration.
func (e *emptyTable) migration(saved image.Table) (how migration, err error) {
	if err := e.codable(); err != nil {
		return how, fmt.Errorf("table %q: %w", e.table.name, err)
	}
	if !e.image.IsPlacedAs(&saved) {
		return how, e.differs(saved, "the table has another kind, Shards or place among the typeIds; register tables as before, new ones last")
	}
	if e.image.Schema != saved.Schema {
		if how.items, err = e.itemMigration(saved); err != nil {
			return how, err
		}
	}
	if !slices.Equal(e.image.Columns, saved.Columns) {
		err = e.columnMigrations(saved, &how)
	}
	return how, err
}

func (e *emptyTable) itemMigration(saved image.Table) (*digest.Migration, error) {
	t := e.table
	old, err := digest.ParseSchema(saved.Schema)
	if err != nil {
		return nil, e.differs(saved, err.Error())
	}
	m, hash := t.typ.Digest.From(old), digest.SchemaHash(saved.Schema)
	convert, known := t.migrate[hash]
	switch {
	case convert != nil:
		m.Item = func(old digest.Fields, item unsafe.Pointer) error { return guarded(convert, old, item) }
	case len(m.Mismatches) > 0:
		return nil, e.differs(saved, fmt.Sprintf("%s cannot be converted; TableOptions.Migrate[%q] could", strings.Join(m.Mismatches, ", "), hash))
	case len(m.Lost) > 0 && len(t.migrate) > 0 && !known:
		return nil, e.differs(saved, fmt.Sprintf("%s would be lost, and TableOptions.Migrate has no key %q, got %q; a nil function for the key drops them",
			strings.Join(m.Lost, ", "), hash, slices.Sorted(maps.Keys(t.migrate))))
	}
	return m, nil
}

func guarded(convert func(old Fields, v unsafe.Pointer) error, old digest.Fields, item unsafe.Pointer) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return convert(Fields(old), item)
}

func (e *emptyTable) differs(saved image.Table, why string) error {
	return fmt.Errorf("table %q: %s\nin the snapshot %v\nin the store %v", image.Clip(saved.Name), image.Clip(why), saved, e.image)
}

// columnMigrations sets the migrations of all saved columns and sparse data, matched by
// name.
func (e *emptyTable) columnMigrations(saved image.Table, how *migration) error {
	how.columns, how.data = make([]digest.ColumnPlan, 0, len(saved.Columns)), []digest.ColumnPlan{}
	seen := make(map[string]bool, len(saved.Columns))
	for _, was := range saved.Columns {
		from, err := e.columnMigration(was)
		if seen[was.Name] {
			err = errors.New("duplicate")
		}
		if seen[was.Name] = true; err != nil {
			return e.differs(saved, fmt.Sprintf("%v %q: %v", was.KindName(), image.Clip(was.Name), err))
		}
		list := &how.columns
		if was.Kind != 0 {
			list = &how.data
		}
		*list = append(*list, from)
	}
	return nil
}

func (e *emptyTable) columnMigration(was image.Column) (how digest.ColumnPlan, err error) {
	how.Into = -1
	var into *component
	before := [2]int{} // number of components of both kinds before this one
	for i := range e.image.Columns {
		c := &e.image.Columns[i]
		if c.Name == was.Name {
			into, how.Into = e.components[i], before[c.Kind]
			if c.Kind != was.Kind {
				return how, fmt.Errorf("it is of kind %q in the store; rename that", c.KindName())
			}
			if c.Schema == was.Schema {
				return how, nil
			}
			break
		}
		before[c.Kind]++
	}
	old, err := digest.ParseSchema(was.Schema)
	switch {
	case err != nil:
		return how, err
	case into == nil:
		how.Skip = old
		return how, nil
	}
	how.Migration = into.typ.Digest.From(old)
	if misfits := how.Migration.Mismatches; len(misfits) > 0 {
		return how, fmt.Errorf("%s cannot be converted; rename it or its fields", strings.Join(misfits, ", "))
	}
	return how, nil
}
