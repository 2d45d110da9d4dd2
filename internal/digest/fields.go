package digest

import (
	"fmt"
	"reflect"
)

// Fields are the fields of an item of an older type. They are valid only during the call of
// [Migration.Item].
type Fields struct {
	m *Migration
	b []byte
}

// Read sets *into to the named field, or to the whole item if name is "". It converts as a
// [Migration] does; other conversions are errors.
func (f Fields) Read(name string, into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("field %s is read into a pointer, not into %T", name, into)
	}
	old, b, err := f.find(name)
	if err != nil {
		return err
	}
	as := readAs{old, v.Type().Elem()}
	m, known := f.m.fields[as]
	if !known {
		// The pair is compiled once and kept for the other items.
		p := Of(as.typ)
		if err := p.Codable(); err != nil {
			return err
		}
		m = p.From(old)
		f.m.fields[as] = m
	}
	if len(m.Mismatches) > 0 {
		return fmt.Errorf("field %s of %v cannot be read as %s", name, old, schemaOf(as.typ))
	}
	v.Elem().SetZero()
	return m.root.decode(&reading{b: b}, v.UnsafePointer())
}

// find returns the schema of a field and its bytes. It skips the fields before it.
func (f Fields) find(name string) (*Schema, []byte, error) {
	if name == "" {
		return f.m.from, f.b, nil
	}
	r := reading{b: f.b}
	for _, field := range f.m.from.fields() {
		if field.name == name {
			return field.schema, r.b, nil
		}
		if err := r.skip(field.schema); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, fmt.Errorf("there is no field %s in %v", name, f.m.from)
}
