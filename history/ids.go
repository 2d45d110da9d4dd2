package history

import (
	"reflect"

	"handloom/store"
)

var idType = reflect.TypeFor[store.ID]()

// hasIDs reports whether values of t may contain handles. A type in seen is done, or contains itself:
// then its other parts decide. Values of a log have no pointers and no interfaces, which could not be
// read back.
func hasIDs(t reflect.Type, seen map[reflect.Type]bool) bool {
	switch {
	case t == idType:
		return true
	case seen[t]:
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if hasIDs(f.Type, seen) {
				return true
			}
		}
	case reflect.Map:
		return hasIDs(t.Key(), seen) || hasIDs(t.Elem(), seen)
	case reflect.Array, reflect.Slice:
		return hasIDs(t.Elem(), seen)
	}
	return false
}

// withIDs returns a value, which v points to, with other handles. It shares no handle with v.
func withIDs(v any, to func(store.ID) store.ID) any {
	if v == nil || !hasIDs(reflect.TypeOf(v).Elem(), map[reflect.Type]bool{}) {
		return v
	}
	// A copy: the commands of the log are used again for the next try.
	next := reflect.New(reflect.TypeOf(v).Elem())
	next.Elem().Set(reflect.ValueOf(v).Elem())
	replaceIDs(next.Elem(), to)
	return next.Interface()
}

// replaceIDs replaces the handles in v, which has an address, and copies what v refers to.
func replaceIDs(v reflect.Value, to func(store.ID) store.ID) {
	v = writable(v)
	switch {
	case v.Type() == idType:
		v.SetUint(uint64(to(store.ID(v.Uint()))))
		return
	// A slice or map without handles is shared with the original.
	case !hasIDs(v.Type(), map[reflect.Type]bool{}):
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			replaceIDs(field, to)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			next := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(next, v)
			v.Set(next)
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			replaceIDs(v.Index(i), to)
		}
	case reflect.Map:
		if v.Len() == 0 { // a nil map stays nil
			return
		}
		next := reflect.MakeMapWithSize(v.Type(), v.Len())
		for entries := v.MapRange(); entries.Next(); {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.Set(entries.Key())
			value.Set(entries.Value())
			replaceIDs(key, to)
			replaceIDs(value, to)
			next.SetMapIndex(key, value)
		}
		v.Set(next)
	}
}

// writable returns v, which has an address, also if a field that is not exported leads to it.
func writable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}
