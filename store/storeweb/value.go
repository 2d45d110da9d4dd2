package storeweb

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"handloom/internal/report"
	"handloom/store"
)

// A value is a bounded copy of a value in an item. Pages are written when the item may have
// changed.
type value interface {
	text() string
	bytes() int // max size on a page, in HTML or JSON
}

type (
	leaf struct {
		is    string
		plain bool // written as is in JSON: a number, true, false
		whole bool // a whole number
	}
	object []field
	list   []value
)

type field struct {
	name string
	value
}

// Limits of a copy.
const (
	maxFields = 32  // fields of the item
	maxParts  = 16  // parts of a field
	maxFirst  = 8   // elements of a list
	maxString = 120 // bytes
)

var (
	idType       = reflect.TypeFor[store.ID]()
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
)

// room is the number of bytes left for values.
type room int

// pageRoom is for values, which HTML contains twice. The rest of 1 MiB is for other text.
const pageRoom room = 3 << 17

var full = leaf{is: "…"}

// take returns v if there is room. The first value without room takes the rest, so no later one
// is copied.
func (r *room) take(v value) value {
	if *r -= room(v.bytes()); *r < 0 {
		*r = 0
		return full
	}
	return v
}

// copyItem copies the item at p, up to left bytes. Like Digest it calls no methods; of maps it
// copies the size.
func copyItem(p any, left *room) value {
	v := reflect.ValueOf(p).Elem()
	if v.Kind() != reflect.Struct || v.Type() == timeType || isHandle(v.Type()) {
		return copyField(v, left)
	}
	return copyFields(v, func(fields int) bool { return fields < maxFields }, func(v reflect.Value) value { return copyField(v, left) })
}

// copyFields copies the fields of a struct as long as there is room.
func copyFields(v reflect.Value, fits func(fields int) bool, each func(v reflect.Value) value) value {
	var fields object
	for f, v := range v.Fields() {
		switch {
		case f.Name == "_":
		case fits(len(fields)):
			fields = append(fields, field{f.Name, each(v)})
		default:
			return append(fields, field{"…", leaf{is: "and more"}})
		}
	}
	return fields
}

func copyField(v reflect.Value, left *room) value {
	if *left == 0 {
		return full
	}
	parts := maxParts
	return left.take(copyValue(v, &parts))
}

func isHandle(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).Name == "_" && t.Field(1).Type == idType
}

// copyValue copies v and takes at least one of parts.
func copyValue(v reflect.Value, parts *int) value {
	if *parts--; *parts < 0 {
		return leaf{is: "…"}
	}
	switch t := v.Type(); {
	case t == idType:
		return leaf{is: store.ID(v.Uint()).String()}
	case isHandle(t):
		return leaf{is: store.ID(v.Field(1).Uint()).String()}
	case t == durationType:
		return leaf{is: time.Duration(v.Int()).String()}
	case t == timeType && v.CanInterface():
		return leaf{is: v.Interface().(time.Time).Format(time.RFC3339Nano)}
	}
	switch v.Kind() {
	case reflect.Struct:
		return copyFields(v, func(int) bool { return *parts > 0 }, func(v reflect.Value) value { return copyValue(v, parts) })
	case reflect.Slice, reflect.Array:
		return copyList(v, parts)
	case reflect.Interface:
		if v.IsNil() {
			return leaf{is: "nil"}
		}
		return copyValue(v.Elem(), parts)
	}
	return copyLeaf(v)
}

// copyList returns the first elements, and the size of a list that has more.
func copyList(v reflect.Value, parts *int) value {
	l := list{}
	for i := range min(v.Len(), maxFirst) {
		if *parts <= 0 {
			break
		}
		l = append(l, copyValue(v.Index(i), parts))
	}
	if v.Len() > len(l) {
		l = append(l, leaf{is: "… of " + report.Count(v.Len())})
	}
	return l
}

func copyLeaf(v reflect.Value) leaf {
	switch k := v.Kind(); k {
	case reflect.Bool:
		return leaf{is: strconv.FormatBool(v.Bool()), plain: true}
	case reflect.String:
		return leaf{is: cut(v.String())}
	case reflect.Float32, reflect.Float64:
		f := v.Float()
		return leaf{is: strconv.FormatFloat(f, 'g', -1, v.Type().Bits()), plain: !math.IsNaN(f) && !math.IsInf(f, 0)}
	case reflect.Complex64, reflect.Complex128:
		return leaf{is: strconv.FormatComplex(v.Complex(), 'g', -1, v.Type().Bits())}
	case reflect.Map:
		return leaf{is: "map of " + report.Count(v.Len())}
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if v.IsZero() {
			return leaf{is: "nil"}
		}
		return leaf{is: k.String()}
	}
	if v.CanInt() {
		return leaf{is: strconv.FormatInt(v.Int(), 10), plain: true, whole: true}
	}
	return leaf{is: strconv.FormatUint(v.Uint(), 10), plain: true, whole: true}
}

// cut copies the start of s, whose memory may belong to an item.
func cut(s string) string {
	if len(s) <= maxString {
		return strings.Clone(s)
	}
	end := maxString
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

func (l leaf) text() string {
	if l.whole {
		return grouped(l.is)
	}
	return l.is
}

func grouped(digits string) string {
	first := 0
	if digits[0] == '-' {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// bytes counts escaped characters at their longest form.
func (l leaf) bytes() int {
	n := 8 // quotes, commas
	for _, r := range l.is {
		if r < ' ' || r == utf8.RuneError || r == '\u2028' || r == '\u2029' || strings.ContainsRune("<>&\"'\\+", r) {
			n += len("\\u0000")
		} else {
			n += utf8.RuneLen(r)
		}
	}
	if l.whole {
		n += len(l.is) / 3
	}
	return n
}

func (o object) bytes() int {
	n := 8
	for _, f := range o {
		n += len(f.name) + 8 + f.bytes()
	}
	return n
}

func (l list) bytes() int {
	n := 8
	for _, v := range l {
		n += v.bytes()
	}
	return n
}

func (o object) text() string {
	parts := make([]string, len(o))
	for i, f := range o {
		parts[i] = f.name + " " + f.text()
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (l list) text() string {
	var parts []string
	for _, v := range l {
		parts = append(parts, v.text())
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// MarshalJSON writes a string unless the leaf is plain.
func (l leaf) MarshalJSON() ([]byte, error) {
	if l.plain {
		return []byte(l.is), nil
	}
	return json.Marshal(l.is)
}

// MarshalJSON keeps the order of fields.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range o {
		name, err1 := json.Marshal(f.name)
		v, err2 := json.Marshal(f.value)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), v...)
	}
	return append(b, '}'), nil
}
