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
	types   map[reflect.Type]*target
	misfits []string
	lost    []string
	nests   bool // the type contains itself
}

// mostLost is how many fields that are gone have a name in messages.
const mostLost = 8

// maxPairs is the maximum number of pairs of a part of a schema and the type that it becomes,
// for a type that contains itself. The number for other types is at most the number of their
// parts, but a forged schema can repeat the parts of this one without end.
const maxPairs = 1000

// target is what is asked of a type for each part of a schema that may become it.
type target struct {
	text   string                         // its schema
	fields map[string]reflect.StructField // of a struct: those that are in the encoding
}

func (c *migrating) target(t reflect.Type) *target {
	if known := c.types[t]; known != nil {
		return known
	}
	made := &target{text: schemaOf(t)}
	if t.Kind() == reflect.Struct {
		made.fields = make(map[string]reflect.StructField, t.NumField())
		for f := range t.Fields() {
			if f.Name != "_" && !isSilent(f.Type) {
				made.fields[f.Name] = f
			}
		}
	}
	c.types[t] = made
	return made
}

type migrated struct {
	node *node
	fits bool
}

func (c *migrating) node(old *Schema, t reflect.Type, path string) (*node, bool) {
	if m, ok := c.nodes[readAs{old, t}]; ok {
		return m.node, m.fits
	}
	if c.nests && len(c.nodes) == maxPairs {
		return &node{}, false
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
	if !old.within && old.text == c.target(t).text {
		return c.compiler.emit(ops, t, offset), true
	}
	switch kind := t.Kind(); {
	case widens(old.kind(), kind):
		return append(ops, op{kind: opWiden, offset: offset, old: old, typ: t}), true
	case kind != old.kind():
	case kind == reflect.Struct:
		return c.emitStruct(ops, old, t, offset, path), true
	case kind == reflect.Array && t.Len() == int(old.count):
		if elem, ok := c.node(old.elem, t.Elem(), path+"[]"); ok {
			return append(ops, op{kind: opArray, offset: offset, count: int(old.count), elem: elem}), true
		}
	case kind == reflect.Slice:
		if elem, ok := c.node(old.elem, t.Elem(), path+"[]"); ok {
			return append(ops, op{kind: opSlice, offset: offset, elem: elem, typ: t}), true
		}
	case kind == reflect.Map:
		key, ok := c.node(old.parts.key, t.Key(), path+"[key]")
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
	fields := c.target(t).fields
	var found map[string]bool // a text may have a field twice, and only the first is read
	next := 0                 // of the fields of old, behind all that are in ops
	for i, field := range old.fields() {
		f, ok := fields[field.name]
		if !ok && len(c.lost) < mostLost {
			c.lost = append(c.lost, path+"."+field.name)
		}
		if !ok || found[field.name] {
			continue
		}
		if found == nil {
			found = make(map[string]bool, len(fields))
		}
		found[field.name] = true
		part := path + "." + field.name
		made, ok := c.emit(emitSkip(ops, old.fields()[next:i]), field.of, f.Type, offset+f.Offset, part)
		if ok {
			ops, next = made, i+1
		} else {
			c.misfits = append(c.misfits, part)
		}
	}
	return emitSkip(ops, old.fields()[next:])
}

// emitSkip appends what passes over fields.
func emitSkip(ops []op, fields []schemaField) []op {
	if len(fields) == 0 {
		return ops
	}
	all := &Schema{code: uint8(reflect.Struct), parts: &schemaParts{fields: fields}, fixed: true}
	for _, f := range fields {
		all.least += f.of.least
		all.fixed = all.fixed && f.of.fixed
	}
	return append(ops, op{kind: opSkip, old: all})
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
