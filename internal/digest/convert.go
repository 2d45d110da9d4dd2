package digest

import "reflect"

// readAs is a pair of an old schema and a new type.
type readAs struct {
	old *Schema
	typ reflect.Type
}

// migrating compiles a [Migration].
type migrating struct {
	compiler
	nodes      map[readAs]*migrated
	types      map[reflect.Type]*target
	mismatches []string
	lost       []string
	recursive  bool
}

// maxLost limits the names of lost fields.
const maxLost = 8

// maxPairs limits the pairs of schema part and type for a recursive type. A forged schema
// can repeat the parts of a recursive type without end.
const maxPairs = 1000

// target has the fields of a type of the program, to match by name.
type target struct {
	text   string
	fields map[string]reflect.StructField // encoded fields of a struct
}

// target returns the schema and fields of a type, computed once.
func (c *migrating) target(t reflect.Type) *target {
	if known := c.types[t]; known != nil {
		return known
	}
	made := &target{text: schemaOf(t)}
	if t.Kind() == reflect.Struct {
		made.fields = make(map[string]reflect.StructField, t.NumField())
		for f := range t.Fields() {
			if f.Name != "_" && !isEmpty(f.Type) {
				made.fields[f.Name] = f
			}
		}
	}
	c.types[t] = made
	return made
}

// migrated is the compiled pair; fits is false if no value can be converted.
type migrated struct {
	node *node
	fits bool
}

// node returns the node that reads old as t.
func (c *migrating) node(old *Schema, t reflect.Type, path string) (*node, bool) {
	if m, ok := c.nodes[readAs{old, t}]; ok {
		return m.node, m.fits
	}
	if c.recursive && len(c.nodes) == maxPairs {
		return &node{}, false
	}
	// A recursive type finds itself here and fits, unless all of it does not.
	m := &migrated{node: &node{size: t.Size()}, fits: true}
	c.nodes[readAs{old, t}] = m
	m.node.ops, m.fits = c.emit(nil, old, t, 0, path)
	m.node.bools = c.bools(nil, t, 0)
	return m.node, m.fits
}

// emit appends the ops that read old as t, or returns false.
func (c *migrating) emit(ops []op, old *Schema, t reflect.Type, offset uintptr, path string) ([]op, bool) {
	// Equal texts have equal encodings, so this part is read as written. A part with @ has
	// a text that depends on the types around it.
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

// emitStruct reads the fields of old in their order into the fields of t of the same name.
func (c *migrating) emitStruct(ops []op, old *Schema, t reflect.Type, offset uintptr, path string) []op {
	fields := c.target(t).fields
	var found map[string]bool // a text may repeat a field; only the first is read
	next := 0                 // index in the fields of old of the first without ops
	for i, field := range old.fields() {
		f, ok := fields[field.name]
		if !ok && len(c.lost) < maxLost {
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
		made, ok := c.emit(emitSkip(ops, old.fields()[next:i]), field.schema, f.Type, offset+f.Offset, part)
		if ok {
			ops, next = made, i+1
		} else {
			c.mismatches = append(c.mismatches, part)
		}
	}
	return emitSkip(ops, old.fields()[next:])
}

// emitSkip appends one op that skips several fields.
func emitSkip(ops []op, fields []schemaField) []op {
	if len(fields) == 0 {
		return ops
	}
	all := &Schema{code: uint8(reflect.Struct), parts: &schemaParts{fields: fields}, fixed: true}
	for _, f := range fields {
		all.least += f.schema.least
		all.fixed = all.fixed && f.schema.fixed
	}
	return append(ops, op{kind: opSkip, old: all})
}

// widens reports whether every value of one integer kind fits the other, which is wider.
func widens(from, to reflect.Kind) bool {
	fromBits, fromSigned := integer(from)
	toBits, toSigned := integer(to)
	return 0 < fromBits && fromBits < toBits && (toSigned || !fromSigned)
}

// integer returns the encoded bits, 0 for other kinds. An int has 64.
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
