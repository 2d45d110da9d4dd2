package store

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"handloom/internal/digest"
	"handloom/internal/items"
)

// cell is a watched value: an item, its value of a component, or a field of either.
type cell struct {
	table  *table
	part   *component // nil: the item
	name   string
	typ    reflect.Type
	offset uintptr
	codec  *digest.Codec
	raw    []byte // memory of the value, if that has no pointers
	flat   bool

	has       bool
	old, next []byte // encodings
}

// cells returns the cell of a field, or for "" the item and all its components.
func (t *table) cells(field string) ([]*cell, error) {
	item := &cell{table: t, typ: t.typ.Reflect}
	all := []*cell{item}
	for _, p := range t.components {
		all = append(all, &cell{table: t, part: p, name: p.name, typ: p.typ.Reflect})
	}
	if field != "" {
		found := find(all, field)
		if found == nil {
			return nil, fmt.Errorf("unknown field %q of table %q, want one of %s", field, t.name, fieldNames(all))
		}
		all = []*cell{found}
	}
	for _, c := range all {
		c.codec, c.flat = digest.Of(c.typ), !items.HasPointers(c.typ)
		if err := c.codec.Codable(); err != nil {
			return nil, fmt.Errorf("table %q: %w", t.name, err)
		}
	}
	return all, nil
}

// find returns the cell of a field of the item or, if it has none, of a component.
func find(all []*cell, field string) *cell {
	if found := all[0].field(field); found != nil {
		found.name = field
		return found
	}
	for _, c := range all[1:] {
		if rest, ok := strings.CutPrefix(field, c.name); ok {
			if rest == "" {
				return c
			}
			if path, ok := strings.CutPrefix(rest, "."); ok {
				if found := c.field(path); found != nil {
					found.name = field
					return found
				}
			}
		}
	}
	return nil
}

// field returns a cell for a field of c, or nil. A path names fields of nested structs, and elements
// of arrays by number.
func (c *cell) field(path string) *cell {
	found := *c
	for name := range strings.SplitSeq(path, ".") {
		switch t := found.typ; t.Kind() {
		case reflect.Struct:
			f, ok := t.FieldByName(name)
			if !ok || name == "_" {
				return nil
			}
			for _, i := range f.Index { // through embedded structs
				if found.typ.Kind() != reflect.Struct {
					return nil
				}
				inner := found.typ.Field(i)
				found.offset, found.typ = found.offset+inner.Offset, inner.Type
			}
		case reflect.Array:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= t.Len() {
				return nil
			}
			found.offset, found.typ = found.offset+uintptr(i)*t.Elem().Size(), t.Elem()
		default:
			return nil
		}
	}
	return &found
}

// fieldNames lists the fields of the item, and components with their fields.
func fieldNames(all []*cell) string {
	var names []string
	for i, c := range all {
		prefix := ""
		if i > 0 {
			names = append(names, strconv.Quote(c.name))
			prefix = c.name + "."
		}
		if c.typ.Kind() != reflect.Struct {
			continue
		}
		for f := range c.typ.Fields() {
			if f.Name != "_" {
				names = append(names, strconv.Quote(prefix+f.Name))
			}
		}
	}
	return strings.Join(names, " ")
}

// address returns the address of the value for an item, or nil.
func (c *cell) address(id ID) unsafe.Pointer {
	p := unsafe.Pointer(nil)
	if c.part == nil {
		p = c.table.item(id)
	} else {
		p = c.part.element(id)
	}
	if p == nil {
		return nil
	}
	return unsafe.Add(p, c.offset)
}

func (c *cell) memory(p unsafe.Pointer) []byte { return unsafe.Slice((*byte)(p), c.typ.Size()) }

// changed reports whether the value differs from the one that take took. It compares memory first,
// and then encodings, because memory has padding and pointers.
func (c *cell) changed(id ID) bool {
	p := c.address(id)
	switch {
	case p == nil || !c.has:
		return c.has != (p != nil)
	case c.flat && bytes.Equal(c.memory(p), c.raw):
		return false
	}
	c.next = c.codec.Append(c.next[:0], p, 1)
	if !bytes.Equal(c.next, c.old) {
		return true
	}
	if c.flat {
		copy(c.raw, c.memory(p))
	}
	return false
}

// take keeps the value.
func (c *cell) take(id ID) {
	p := c.address(id)
	c.has = p != nil
	c.old, c.raw = c.old[:0], c.raw[:0]
	if !c.has {
		return
	}
	c.old = c.codec.Append(c.old, p, 1)
	if c.flat {
		c.raw = append(c.raw, c.memory(p)...)
	}
}

// oldText returns the text of the value that take took, or "".
func (c *cell) oldText() string {
	if !c.has {
		return ""
	}
	v := reflect.New(c.typ)
	if !c.codec.Empty() {
		var r digest.Reader
		r.Reset(c.old)
		r.Items(c.codec, v.UnsafePointer(), 1)
	}
	if c.typ.Kind() == reflect.String {
		return strconv.Quote(v.Elem().String())
	}
	if text := fmt.Sprintf("%+v", v.Elem().Interface()); text != "" {
		return text
	}
	return strconv.Quote("")
}
