package digest

import (
	"fmt"
	"reflect"
	"strings"
)

// Codable returns an error that names the field if values of the type cannot be decoded,
// else nil. Pointers, functions and channels encode to nothing; the encoding lacks the type
// in an interface; a slice of elements without bytes could claim any length.
func (p *Codec) Codable() error {
	return codable(p.typ, p.typ.String(), map[reflect.Type]bool{})
}

// codable returns an error with the path of the first part that cannot be decoded.
func codable(t reflect.Type, path string, seen map[reflect.Type]bool) error {
	// A recursive type; each type needs one check.
	if seen[t] {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			// It encodes to nothing.
			if f.Name == "_" || f.Type.Size() == 0 {
				continue
			}
			if err := codable(f.Type, path+"."+f.Name, seen); err != nil {
				return err
			}
		}
	case reflect.Array:
		if t.Len() > 0 {
			return codable(t.Elem(), path+"[0]", seen)
		}
	case reflect.Slice:
		if isEmpty(t.Elem()) {
			return fmt.Errorf("the elements of %s of type %v have nothing to be read back", path, t)
		}
		return codable(t.Elem(), path+"[0]", seen)
	case reflect.Map:
		if isEmpty(t.Key()) {
			return fmt.Errorf("the keys of %s of type %v have nothing to be read back", path, t)
		}
		if err := codable(t.Key(), path+"[key]", seen); err != nil {
			return err
		}
		return codable(t.Elem(), path+"[value]", seen)
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Interface:
		return fmt.Errorf("%s of kind %v cannot be read back, name another item by its handle or keep the value outside of the store", path, t.Kind())
	}
	return nil
}

// Schema returns the text of the encoding. Two types have equal texts exactly if their
// encodings and field names are equal. int is written as int64; a type that contains itself
// as @ and the number of levels out to where it begins.
func (p *Codec) Schema() string { return schemaOf(p.typ) }

func schemaOf(t reflect.Type) string {
	var b strings.Builder
	schema(&b, t, nil)
	return b.String()
}

// schema writes the text of a type inside the types around it.
func schema(b *strings.Builder, t reflect.Type, around []reflect.Type) {
	for i, outer := range around {
		if outer == t {
			fmt.Fprintf(b, "@%d", len(around)-i)
			return
		}
	}
	around = append(around, t)
	switch t.Kind() {
	case reflect.Struct:
		b.WriteString("struct{")
		sep := ""
		for f := range t.Fields() {
			if f.Name == "_" || isEmpty(f.Type) {
				continue
			}
			fmt.Fprintf(b, "%s%s ", sep, f.Name)
			schema(b, f.Type, around)
			sep = "; "
		}
		b.WriteByte('}')
	case reflect.Array:
		fmt.Fprintf(b, "[%d]", t.Len())
		schema(b, t.Elem(), around)
	case reflect.Slice:
		b.WriteString("[]")
		schema(b, t.Elem(), around)
	case reflect.Map:
		b.WriteString("map[")
		schema(b, t.Key(), around)
		b.WriteByte(']')
		schema(b, t.Elem(), around)
	case reflect.Int:
		b.WriteString("int64")
	case reflect.Uint, reflect.Uintptr:
		b.WriteString("uint64")
	default:
		b.WriteString(t.Kind().String())
	}
}
