package store

import (
	"errors"
	"fmt"
	"reflect"

	"handloom/shard/handle"
)

var idType = reflect.TypeFor[handle.ID]()

// handleFields returns the offsets of all handles in values of type t, in nested
// structures and arrays too, for a flush to replace provisional ones. A handle inside a
// slice, map, pointer or channel, or an interface that may hold one, is an error that
// names the field and the option, unless it is declared.
func handleFields(t reflect.Type, declared bool, option string) ([]uintptr, error) {
	w := fieldWalk{seen: make(map[reflect.Type]bool), declared: declared, option: option}
	w.walk(t, t.String(), 0, "")
	return w.offsets, errors.Join(w.errs...)
}

type fieldWalk struct {
	offsets []uintptr
	errs    []error
	seen    map[reflect.Type]bool // types inside references, which may be recursive

	declared bool // handles inside references are declared
	option   string
}

// walk visits a part of the value at offset. reference is "" or the kind of reference
// around the part.
func (w *fieldWalk) walk(t reflect.Type, path string, offset uintptr, reference string) {
	if t == idType {
		if reference == "" {
			w.offsets = append(w.offsets, offset)
		} else if !w.declared {
			w.errs = append(w.errs, fmt.Errorf(
				"%s is a handle inside a %s, where a flush does not find provisional handles; declare it by %s, or keep handles in fields or arrays", path, reference, w.option))
		}
		return
	}
	switch t.Kind() {
	case reflect.Interface:
		if !w.declared && mayHoldHandle(t) {
			w.errs = append(w.errs, fmt.Errorf(
				"%s is of type %v, which may hold a handle, where a flush does not find provisional handles; declare it by %s, also if it holds none, or use a type that cannot hold a handle", path, t, w.option))
		}
	case reflect.Struct:
		for f := range t.Fields() {
			w.walk(f.Type, path+"."+f.Name, offset+f.Offset, reference)
		}
	case reflect.Array:
		for i := range t.Len() {
			w.walk(t.Elem(), fmt.Sprintf("%s[%d]", path, i), offset+uintptr(i)*t.Elem().Size(), reference)
			if reference != "" || !mentions(t.Elem()) {
				return
			}
		}
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Chan:
		if w.seen[t] {
			return
		}
		w.seen[t] = true
		switch t.Kind() {
		case reflect.Map:
			w.walk(t.Key(), path+"[key]", 0, "map")
			w.walk(t.Elem(), path+"[]", 0, "map")
		case reflect.Slice:
			w.walk(t.Elem(), path+"[]", 0, "slice")
		case reflect.Chan:
			w.walk(t.Elem(), path+"[]", 0, "channel")
		default:
			w.walk(t.Elem(), path+"[]", 0, "pointer")
		}
	}
}

// mayHoldHandle reports whether the interface t can hold a handle or a pointer to one, as
// any and fmt.Stringer can.
func mayHoldHandle(t reflect.Type) bool {
	for _, typ := range []reflect.Type{idType, reflect.TypeFor[handle.Of[struct{}]]()} { // typed handles all have the same methods
		if reflect.PointerTo(typ).Implements(t) { // includes the methods of the value
			return true
		}
	}
	return false
}

// mentions reports whether values of t contain handles directly, so that most arrays need
// no walk of every element.
func mentions(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if mentions(f.Type) {
				return true
			}
		}
	case reflect.Array:
		return t.Len() > 0 && mentions(t.Elem())
	}
	return t == idType
}
