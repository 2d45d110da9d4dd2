package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"handloom/store"
)

// difference returns the path of the first field in which the items at x and y differ, and both
// values as text, which are equal for equal items. It compares as [store.Store.Digest] does.
func difference(x, y any) (path, a, b string) {
	path, a, b = differ("", reflect.ValueOf(x).Elem(), reflect.ValueOf(y).Elem())
	return cmp.Or(strings.TrimPrefix(path, "."), "the item"), a, b
}

func differ(path string, x, y reflect.Value) (where, a, b string) {
	switch x.Kind() {
	case reflect.Struct:
		for f, v := range x.Fields() {
			if f.Name == "_" {
				continue
			}
			if where, a, b := differ(path+"."+f.Name, v, y.FieldByIndex(f.Index)); a != b {
				return where, a, b
			}
		}
		return "", "", ""
	case reflect.Slice, reflect.Array:
		for i := range min(x.Len(), y.Len()) {
			if where, a, b := differ(fmt.Sprintf("%s[%d]", path, i), x.Index(i), y.Index(i)); a != b {
				return where, a, b
			}
		}
		return "the length of " + strings.TrimPrefix(path, "."), fmt.Sprint(x.Len()), fmt.Sprint(y.Len())
	case reflect.Map:
		return differMaps(path, x, y)
	case reflect.Interface:
		if x.IsNil() || y.IsNil() || x.Elem().Type() != y.Elem().Type() {
			return path + " (its type)", typeOf(x), typeOf(y)
		}
		return differ(path, x.Elem(), y.Elem())
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return "", "", ""
	}
	return path, text(x), text(y)
}

func typeOf(v reflect.Value) string {
	if v.IsNil() {
		return "nil"
	}
	return v.Elem().Type().String()
}

func differMaps(path string, x, y reflect.Value) (where, a, b string) {
	keys := make(map[string]reflect.Value)
	for _, m := range []reflect.Value{x, y} {
		for _, k := range m.MapKeys() {
			keys[text(k)] = k
		}
	}
	names := slices.Sorted(maps.Keys(keys))
	for _, name := range names {
		v, w := x.MapIndex(keys[name]), y.MapIndex(keys[name])
		if v.IsValid() && w.IsValid() {
			if where, a, b := differ(fmt.Sprintf("%s[%s]", path, name), v, w); a != b {
				return where, a, b
			}
		} else if v.IsValid() != w.IsValid() {
			return fmt.Sprintf("%s[%s]", path, name), presence(v), presence(w)
		}
	}
	return "", "", ""
}

func presence(v reflect.Value) string {
	if v.IsValid() {
		return text(v)
	}
	return "missing"
}

var idType = reflect.TypeFor[store.ID]()

// text returns a text that is unique within a type.
func text(v reflect.Value) string {
	switch {
	case v.Type() == idType:
		return store.ID(v.Uint()).String() // also for unexported fields
	case v.Kind() == reflect.String:
		return fmt.Sprintf("%q", v.String())
	case v.CanFloat():
		return float(v.Float())
	case v.CanComplex():
		return float(real(v.Complex())) + " + " + float(imag(v.Complex())) + "i"
	}
	return fmt.Sprint(v)
}

func float(f float64) string {
	if f != f {
		return fmt.Sprintf("NaN (bits %#x)", math.Float64bits(f))
	}
	return fmt.Sprint(f)
}
