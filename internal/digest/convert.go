package digest

import "reflect"

// readAs is a pair of types: what was written, and what it is to be.
type readAs struct {
	old *Schema
	typ reflect.Type
}

// migrating compiles nodes that read one type as another: their ops are in the
// order of what was written, their offsets those of what it is to be.
type migrating struct {
	compiler
	nodes   map[readAs]*migrated
	misfits []string
}

type migrated struct {
	node *node
	fits bool
}

func (c *migrating) node(old *Schema, t reflect.Type, path string) (*node, bool) {
	if m, ok := c.nodes[readAs{old, t}]; ok {
		return m.node, m.fits
	}
	// What contains itself finds itself here, and fits, unless all of it does not.
	m := &migrated{node: &node{size: t.Size()}, fits: true}
	c.nodes[readAs{old, t}] = m
	m.node.ops, m.fits = c.emit(nil, old, t, 0, path)
	m.node.bools = c.bools(nil, t, 0)
	return m.node, m.fits
}

// emit appends the ops that read an old value as a t that lies at offset, and
// reports whether it can be; they are ops without it if it cannot.
func (c *migrating) emit(ops []op, old *Schema, t reflect.Type, offset uintptr, path string) ([]op, bool) {
	if !old.within && old.text == schemaOf(t) {
		return c.compiler.emit(ops, t, offset), true
	}
	switch kind := t.Kind(); {
	case widens(old.kind, kind):
		return append(ops, op{kind: opWiden, offset: offset, old: old, typ: t}), true
	case kind != old.kind:
	case kind == reflect.Struct:
		return c.emitStruct(ops, old, t, offset, path), true
	case kind == reflect.Array && t.Len() == old.count:
		if elem, ok := c.node(old.elem, t.Elem(), path+"[]"); ok {
			return append(ops, op{kind: opArray, offset: offset, count: old.count, elem: elem}), true
		}
	case kind == reflect.Slice:
		if elem, ok := c.node(old.elem, t.Elem(), path+"[]"); ok {
			return append(ops, op{kind: opSlice, offset: offset, elem: elem, typ: t}), true
		}
	case kind == reflect.Map:
		key, ok := c.node(old.key, t.Key(), path+"[key]")
		if !ok {
			break
		}
		if elem, ok := c.node(old.elem, t.Elem(), path+"[]"); ok {
			return append(ops, op{kind: opMap, offset: offset, key: key, elem: elem, typ: t}), true
		}
	}
	return ops, false
}

func (c *migrating) emitStruct(ops []op, old *Schema, t reflect.Type, offset uintptr, path string) []op {
	for _, field := range old.fields {
		f, ok := fieldOf(t, field.name)
		if ok {
			part := path + "." + field.name
			if ops, ok = c.emit(ops, field.of, f.Type, offset+f.Offset, part); !ok {
				c.misfits = append(c.misfits, part)
			}
		}
		if !ok {
			ops = emitSkip(ops, field.of)
		}
	}
	return ops
}

// emitSkip appends what passes over a value, joined with what passes over the one
// before if both have a size.
func emitSkip(ops []op, old *Schema) []op {
	if !old.fixed {
		return append(ops, op{kind: opSkip, old: old})
	}
	if n := len(ops); n > 0 && ops[n-1].kind == opSkipBytes {
		ops[n-1].count += old.least
		return ops
	}
	return append(ops, op{kind: opSkipBytes, count: old.least})
}

// fieldOf returns the field of this name that is in the encoding of a t.
func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if f.Name == name && name != "_" && !isSilent(f.Type) {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// widens reports whether every integer of the kind from is one of the kind to, and
// the latter is wider. An int is as wide as an int64, whatever the machine.
func widens(from, to reflect.Kind) bool {
	fromBits, fromSigned := integer(from)
	toBits, toSigned := integer(to)
	return 0 < fromBits && fromBits < toBits && (toSigned || !fromSigned)
}

// integer returns the bits of an integer in its encoding, 0 for other kinds.
func integer(kind reflect.Kind) (bits int, signed bool) {
	switch kind {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return 8 << (kind - reflect.Int8), true
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return 8 << (kind - reflect.Uint8), false
	case reflect.Int:
		return 64, true
	case reflect.Uint, reflect.Uintptr:
		return 64, false
	}
	return 0, false
}
