package store

import (
	"errors"
	"fmt"
	"reflect"

	"handloom/shard/handle"
)

var idType = reflect.TypeFor[handle.ID]()

// handleFields returns the offsets of the handles in values of type t, also in
// nested structures and arrays, so that a flush can make provisional ones real.
// A handle behind a slice, map, pointer or channel, and an interface that may hold
// one, is an error that names the field and the option to declare it by, unless it is declared: a
// provisional one there would never become real.
func handleFields(t reflect.Type, declared bool, option string) ([]uintptr, error) {
	w := fieldWalk{seen: make(map[reflect.Type]bool), declared: declared, option: option}
	w.walk(t, t.String(), 0, "")
	return w.offsets, errors.Join(w.errs...)
}

type fieldWalk struct {
	offsets []uintptr
	errs    []error
	seen    map[reflect.Type]bool // types behind references, which may be recursive

	declared bool   // handles behind references are found by other means
	option   string // by which they are declared
}

// walk visits a part of the value at offset. behind is empty, or names the kind
// of reference that the part lies behind.
func (w *fieldWalk) walk(t reflect.Type, path string, offset uintptr, behind string) {
	if t == idType {
		if behind == "" {
			w.offsets = append(w.offsets, offset)
		} else if !w.declared {
			w.errs = append(w.errs, fmt.Errorf(
				"%s is a handle behind a %s, where a flush does not find provisional ones; declare it by %s, or keep handles in fields or arrays", path, behind, w.option))
		}
		return
	}
	switch t.Kind() {
	case reflect.Interface:
		if !w.declared && mayHoldHandle(t) {
			w.errs = append(w.errs, fmt.Errorf(
				"%s is of type %v, which may hold a handle, where a flush does not find provisional ones; declare it by %s, if only to say that it holds none, or take a type that no handle has", path, t, w.option))
		}
	case reflect.Struct:
		for f := range t.Fields() {
			w.walk(f.Type, path+"."+f.Name, offset+f.Offset, behind)
		}
	case reflect.Array:
		for i := range t.Len() {
			w.walk(t.Elem(), fmt.Sprintf("%s[%d]", path, i), offset+uintptr(i)*t.Elem().Size(), behind)
			if behind != "" || !mentions(t.Elem()) {
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

// mayHoldHandle reports whether a handle, or a pointer to one, can be assigned to
// the interface t: any, fmt.Stringer, encoding.TextMarshaler and the like.
func mayHoldHandle(t reflect.Type) bool {
	for _, of := range []reflect.Type{idType, reflect.TypeFor[handle.Of[struct{}]]()} { // typed ones all have the same methods
		if reflect.PointerTo(of).Implements(t) { // has the methods of the handle as well
			return true
		}
	}
	return false
}

// mentions reports whether values of t hold handles in themselves, so that the
// elements of a large array need not all be walked.
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
