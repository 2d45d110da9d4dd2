package history

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"handloom/store"
)

// A literal is the text of a value in a [Script]: as in Go, without types, and with handles such as
// 3:17.2. "$1" is the item of the first create of the call, "$0" an item that never was. Fields that
// are zero are left out.

// isTypedHandle reports whether t is a handle with an item type. The package of handles has a generic
// type, which reflect knows only by its fields.
func isTypedHandle(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).Name == "_" && t.Field(1).Type == idType
}

// appendLiteral appends the literal of v. name returns the text of a handle.
func appendLiteral(b []byte, v reflect.Value, name func(store.ID) string) []byte {
	t := v.Type()
	switch {
	case t == idType:
		return append(b, name(store.ID(v.Uint()))...)
	case isTypedHandle(t):
		return appendLiteral(b, v.Field(1), name)
	}
	switch t.Kind() {
	case reflect.Struct:
		var all []string
		for field, value := range v.Fields() {
			if field.Name == "_" {
				continue
			}
			text := appendLiteral(nil, value, name)
			// IsZero is true of -0, whose sign a script must keep.
			if zero := appendLiteral(nil, reflect.Zero(value.Type()), name); !bytes.Equal(text, zero) {
				all = append(all, field.Name+": "+string(text))
			}
		}
		return appendList(b, all)
	case reflect.Array, reflect.Slice:
		var all []string
		for i := range v.Len() {
			all = append(all, string(appendLiteral(nil, v.Index(i), name)))
		}
		return appendList(b, all)
	case reflect.Map:
		var all []string
		for entries := v.MapRange(); entries.Next(); {
			key := appendLiteral(nil, entries.Key(), name)
			all = append(all, string(key)+": "+string(appendLiteral(nil, entries.Value(), name)))
		}
		slices.Sort(all) // a map has no order, and the text of a script must not change
		return appendList(b, all)
	case reflect.String:
		return strconv.AppendQuote(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	// With -1 a float has as many digits as it needs to be read back as the same bits, except for NaN.
	case reflect.Float32, reflect.Float64:
		return strconv.AppendFloat(b, v.Float(), 'g', -1, t.Bits())
	case reflect.Complex64, reflect.Complex128:
		return append(b, strconv.FormatComplex(v.Complex(), 'g', -1, t.Bits())...)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	}
	return strconv.AppendUint(b, v.Uint(), 10)
}

func appendList(b []byte, all []string) []byte {
	return append(append(append(b, '{'), strings.Join(all, ", ")...), '}')
}

// A literalReader reads literals and words from the beginning of a text.
type literalReader struct {
	rest string
	id   func(text string) (store.ID, error)
}

func (r *literalReader) space() { r.rest = strings.TrimLeft(r.rest, " \t") }

// skip reads a text, and reports whether the rest began with it.
func (r *literalReader) skip(text string) bool {
	r.space()
	rest, ok := strings.CutPrefix(r.rest, text)
	r.rest = rest
	return ok
}

// A scalar ends before a space or a sign of a list. It is read with its type, which refuses other text.
var (
	wordPattern   = regexp.MustCompile(`^[\pL_][\pL\pN_]*`)
	handlePattern = regexp.MustCompile(`^(\$\d+|\d+:\d+\.\d+)`)
	scalarPattern = regexp.MustCompile(`^[^ \t,:{}]+`)
)

// match reads the text that a pattern matches, or nothing.
func (r *literalReader) match(p *regexp.Regexp) string {
	r.space()
	text := p.FindString(r.rest)
	r.rest = r.rest[len(text):]
	return text
}

// quoted reads a string.
func (r *literalReader) quoted() (string, error) {
	r.space()
	prefix, err := strconv.QuotedPrefix(r.rest)
	if err != nil {
		return "", r.unexpected("a string in quotes")
	}
	r.rest = r.rest[len(prefix):]
	return strconv.Unquote(prefix)
}

func (r *literalReader) unexpected(want string) error {
	r.space()
	got := r.rest
	if len(got) > 20 {
		got = got[:20] + "..."
	}
	return fmt.Errorf("got %q, want %s", got, want)
}

// value reads a literal into v, which is zero and has an address.
func (r *literalReader) value(v reflect.Value) (err error) {
	v = writable(v)
	// Handles first: by its kind a handle is a number.
	t := v.Type()
	switch {
	case t == idType:
		text := r.match(handlePattern)
		if text == "" {
			return r.unexpected("a handle such as 3:17.2 or $1")
		}
		id, err := r.id(text)
		v.SetUint(uint64(id))
		return err
	case isTypedHandle(t):
		return r.value(v.Field(1))
	}
	switch t.Kind() {
	case reflect.Struct:
		return r.list(func(int) error { return r.field(v) })
	case reflect.Array:
		return r.list(func(i int) error {
			if i >= v.Len() {
				return r.unexpected(fmt.Sprintf("%d elements", v.Len()))
			}
			return r.value(v.Index(i))
		})
	case reflect.Slice:
		return r.list(func(i int) error {
			v.Set(reflect.Append(v, reflect.Zero(t.Elem())))
			return r.value(v.Index(i))
		})
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		return r.list(func(int) error { return r.entry(v) })
	case reflect.String:
		text, err := r.quoted()
		v.SetString(text)
		return err
	}
	return r.scalar(v)
}

// list reads the elements of a list. An element has to follow each comma.
func (r *literalReader) list(element func(i int) error) error {
	if !r.skip("{") {
		return r.unexpected("{")
	}
	for i := 0; !r.skip("}"); i++ {
		if i > 0 && !r.skip(",") {
			return r.unexpected(", or }")
		}
		if err := element(i); err != nil {
			return err
		}
	}
	return nil
}

func (r *literalReader) field(v reflect.Value) error {
	// A promoted field has no name of its own here: its struct is a field.
	name := r.match(wordPattern)
	f, ok := v.Type().FieldByName(name)
	if !ok || len(f.Index) > 1 {
		return fmt.Errorf("got field %q, want one of %v", name, v.Type())
	}
	if !r.skip(":") {
		return r.unexpected(":")
	}
	if err := r.value(v.FieldByIndex(f.Index)); err != nil {
		return fmt.Errorf("field %s: %w", name, err)
	}
	return nil
}

func (r *literalReader) entry(v reflect.Value) error {
	key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	if err := r.value(key); err != nil {
		return err
	}
	if !r.skip(":") {
		return r.unexpected(":")
	}
	err := r.value(value)
	v.SetMapIndex(key, value)
	return err
}

// scalar reads a number or a bool. A value that the type cannot have is an error, not cut off.
func (r *literalReader) scalar(v reflect.Value) (err error) {
	text := r.match(scalarPattern)
	t := v.Type()
	switch t.Kind() {
	case reflect.Bool:
		var b bool
		b, err = strconv.ParseBool(text)
		v.SetBool(b)
	case reflect.Float32, reflect.Float64:
		var f float64
		f, err = strconv.ParseFloat(text, t.Bits())
		v.SetFloat(f)
	case reflect.Complex64, reflect.Complex128:
		var c complex128
		c, err = strconv.ParseComplex(text, t.Bits())
		v.SetComplex(c)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(text, 10, t.Bits())
		v.SetInt(n)
	default:
		var n uint64
		n, err = strconv.ParseUint(text, 10, t.Bits())
		v.SetUint(n)
	}
	if err != nil {
		return fmt.Errorf("got %q, want a value of type %v", text, t)
	}
	return nil
}
