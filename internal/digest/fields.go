package digest

import (
	"fmt"
	"reflect"
)

// Fields are those of an item of an older type, by name. They are good during the
// call that is given them.
type Fields struct {
	m *Migration
	b []byte // the encoding
}

// Read makes *into the value of the field of this name, or of the whole item if
// name is "". Whatever a [Migration] converts it converts; all else is an error.
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

// find returns the field of this name, and where it begins.
func (f Fields) find(name string) (*Schema, []byte, error) {
	if name == "" {
		return f.m.from, f.b, nil
	}
	r := reading{b: f.b}
	for _, field := range f.m.from.fields() {
		if field.name == name {
			return field.of, r.b, nil
		}
		if err := r.skip(field.of); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, fmt.Errorf("there is no field %s in %v", name, f.m.from)
}
