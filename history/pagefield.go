package history

import (
	"fmt"
	"reflect"
	"unicode/utf8"

	"handloom/store"
)

// A field is a bounded text of a field of an item, a column or sparse data, in the words of a
// [Change].
type field struct {
	Name  string // as Changes takes it; "": the item itself
	Text  string
	Links []store.ID // handles in the value
	Plain bool       // Text is a number
}

// Limits of an answer.
const (
	maxFields = 32
	maxLinks  = 8
	maxLeaves = 256 // of a value; larger ones are not formatted
	maxText   = 400 // bytes
	maxStack  = 1 << 14
)

// fieldsOf returns the fields of an item, its columns and its sparse data.
func fieldsOf(s *store.Store, id store.ID, item any) (fields []field) {
	fields = appendFields(fields, "", reflect.ValueOf(item).Elem())
	for name, element := range s.DumpColumns(id) {
		fields = appendFields(fields, name, reflect.ValueOf(element).Elem())
	}
	return fields
}

func appendFields(fields []field, prefix string, v reflect.Value) []field {
	if v.Kind() != reflect.Struct || isTypedHandle(v.Type()) || v.NumField() == 0 {
		return appendField(fields, prefix, v)
	}
	if _, ok := v.Addr().Interface().(fmt.Stringer); ok && !hasExported(v.Type()) {
		return appendField(fields, prefix, v) // such as a time.Time
	}
	for f, v := range v.Fields() {
		if f.Name == "_" {
			continue
		}
		name := f.Name
		if prefix != "" {
			name = prefix + "." + name
		}
		fields = appendField(fields, name, v)
	}
	return fields
}

func hasExported(t reflect.Type) bool {
	for f := range t.Fields() {
		if f.IsExported() {
			return true
		}
	}
	return false
}

func appendField(fields []field, name string, v reflect.Value) []field {
	if len(fields) >= maxFields {
		return fields
	}
	f := field{Name: name, Plain: v.CanInt() || v.CanUint() || v.CanFloat()}
	left := maxLeaves
	if f.Links = links(nil, v, &left); left < 0 {
		f.Text = fmt.Sprintf("%v, too large to show", v.Type())
	} else {
		f.Text = cut(textOf(v), maxText)
	}
	return append(fields, f)
}

// links appends the handles in v. left counts down the leaves; below 0 the rest is not visited.
func links(all []store.ID, v reflect.Value, left *int) []store.ID {
	if *left--; *left < 0 {
		return all
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, inner := range v.Fields() {
			all = links(all, inner, left)
		}
	case reflect.Array, reflect.Slice:
		for i := 0; i < v.Len() && *left >= 0; i++ {
			all = links(all, v.Index(i), left)
		}
	case reflect.String:
		*left -= v.Len() / 64
	case reflect.Map:
		*left -= 4 * v.Len()
	}
	if v.Type() == idType && v.Uint() != 0 && len(all) < maxLinks {
		all = append(all, store.ID(v.Uint()))
	}
	return all
}

// cut returns the start of a long text.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
