package store

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"unsafe"

	"handloom/internal/digest"
)

// Fields are those of an item as an older version of its type had them, which
// [TableOptions.Migrate] is given. They are good during that call.
type Fields digest.Fields

// Read makes *into the value of the field of this name; "" names the whole item.
// A struct takes what it has of the fields by name, an integer may be wider than it
// was. A field that is not there or of another type is an error, which names both.
//
// It takes time in proportion to the item and copies: *into shares no memory with
// what is read later.
func (f Fields) Read(name string, into any) error { return digest.Fields(f).Read(name, into) }

// migration returns how the items of a table of a snapshot are read as those of the
// table, nil if they are the same, or why they cannot be. Columns must be the same.
func (e *emptyTable) migration(of imageTable) (*digest.Migration, error) {
	t, own := e.table, &e.image
	if err := t.typ.Digest.Codable(); err != nil {
		return nil, fmt.Errorf("table %q: %w", t.name, err)
	}
	if own.equal(&of) {
		return nil, nil
	}
	shape := of
	if shape.schema = own.schema; !shape.equal(own) {
		return nil, e.differs(of, own.unlike(&of))
	}
	old, err := digest.ParseSchema(of.schema)
	if err != nil {
		return nil, e.differs(of, err.Error())
	}
	m, hash := t.typ.Digest.From(old), digest.SchemaHash(of.schema)
	if convert := t.migrate[hash]; convert != nil {
		m.Item = func(old digest.Fields, item unsafe.Pointer) error { return guarded(convert, old, item) }
	} else if len(m.Misfits) > 0 {
		return nil, e.differs(of, fmt.Sprintf("%s cannot be converted; TableOptions.Migrate[%q] could", strings.Join(m.Misfits, ", "), hash))
	}
	return m, nil
}

// guarded calls a function of the caller, and makes a panic an error.
func guarded(convert func(old Fields, v unsafe.Pointer) error, old digest.Fields, item unsafe.Pointer) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return convert(Fields(old), item)
}

// differs makes the error for a table that is not as in the snapshot.
func (e *emptyTable) differs(of imageTable, why string) error {
	return fmt.Errorf("table %q: %s\nin the snapshot %v\nin the store %v", of.name, why, of, e.image)
}

// unlike says in what else than its items the table differs from the one that was saved.
func (t *imageTable) unlike(saved *imageTable) string {
	for _, c := range t.columns {
		switch was, ok := saved.column(c.name); {
		case !ok:
			return fmt.Sprintf("column %q is new in the store; the columns have to be those that were saved", c.name)
		case was.schema != c.schema:
			return fmt.Sprintf("column %q has other elements; they have to be those that were saved", c.name)
		}
	}
	for _, was := range saved.columns {
		if _, ok := t.column(was.name); !ok {
			return fmt.Sprintf("column %q is missing in the store; the columns have to be those that were saved", was.name)
		}
	}
	return "the table has changed, or its place among the typeIds"
}

func (t *imageTable) column(name string) (c imageColumn, ok bool) {
	if i := slices.IndexFunc(t.columns, func(c imageColumn) bool { return c.name == name }); i >= 0 {
		return t.columns[i], true
	}
	return c, false
}

func (t *imageTable) equal(o *imageTable) bool {
	return t.name == o.name && t.first == o.first && t.shards == o.shards && t.kind == o.kind && t.schema == o.schema &&
		slices.Equal(t.columns, o.columns)
}

func (t imageTable) String() string {
	kind := [...]string{"Table", "StableTable"}[t.kind&1]
	var b strings.Builder
	fmt.Fprintf(&b, "%s, typeIds %d to %d, %s", kind, t.first, int(t.first)+int(t.shards)-1, digest.IndentSchema(t.schema))
	for _, c := range t.columns {
		fmt.Fprintf(&b, "\ncolumn %q, %s", c.name, digest.IndentSchema(c.schema))
	}
	return b.String()
}
