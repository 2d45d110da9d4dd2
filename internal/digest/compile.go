package digest

import (
	"encoding/binary"
	"reflect"
)

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// layout is the memory layout of a machine. Tests compile without memory types.
type layout struct {
	memory bool // false: none, as on a big-endian machine
}

// isMemory reports whether t is a memory type: its encoding is its memory.
func (l layout) isMemory(t reflect.Type) bool {
	if !l.memory {
		return false
	}
	switch t.Kind() {
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return t.Size() == 8
	case reflect.Bool,
		reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Array:
		return t.Size() == 0 || l.isMemory(t.Elem())
	case reflect.Struct:
		return l.isMemoryStruct(t)
	default:
		return false
	}
}

// isMemoryStruct reports whether a struct has neither padding nor skipped fields.
func (l layout) isMemoryStruct(t reflect.Type) bool {
	end := uintptr(0)
	for f := range t.Fields() {
		// Fields without size encode to nothing and occupy nothing, whatever their type or
		// name: _ [0]*T in a typed handle.
		if f.Type.Size() == 0 {
			continue
		}
		if f.Name == "_" || f.Offset != end || !l.isMemory(f.Type) {
			return false
		}
		end += f.Type.Size()
	}
	return end == t.Size()
}

// isEmpty reports whether every value of t encodes to nothing. The types around t need no
// list: a recursive type has a pointer, slice or map in between.
func isEmpty(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return true
	case reflect.Array:
		return t.Len() == 0 || isEmpty(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name != "_" && !isEmpty(f.Type) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// node is the compiled encoding of one type.
type node struct {
	size   uintptr
	least  int  // minimum bytes of an encoding
	empty  bool // encodes to nothing; no ops
	memory bool // encodes to its memory; no ops
	ops    []op
	bools  []run // bytes that must be 0 or 1
}

type run struct{ offset, n uintptr }

// op encodes or decodes one part of a value, at an offset.
type op struct {
	kind   opKind
	offset uintptr
	count  int          // opMemory: bytes; opArray: elements
	after  int          // minimum bytes of the rest of the value
	elem   *node        // opArray, opSlice, opNested, opMap
	key    *node        // opMap
	typ    reflect.Type // opSlice, opNested, opMap, opInterface, opWiden
	old    *Schema      // opSkip, opWiden
}

type opKind uint8

const (
	opUint8      opKind = iota // 1 byte
	opUint16                   // 2 bytes
	opUint32                   // 4 bytes
	opUint64                   // 8 bytes
	opInt32To64                // 4 bytes widened with the sign
	opUint32To64               // 4 bytes widened with zeros
	opMemory                   // bytes as in memory
	opArray                    // elements
	opString                   // length, bytes
	opSlice                    // length, elements
	opNested                   // slice in a type that contains itself; counts depth
	opMap                      // length, entries in order
	opInterface                // 0; or 1, type, value
	opSkip                     // value of an older type, discarded
	opWiden                    // narrower integer of an older type
)

// compile returns the node of t. Walkers count the depth of slices if recursive is set; see
// [Codec.Recursive].
func compile(t reflect.Type, l layout, recursive bool) *node {
	c := compiler{layout: l, slice: opSlice, nodes: map[reflect.Type]*node{}}
	if recursive {
		c.slice = opNested
	}
	n := c.node(t)
	c.measure()
	return n
}

type compiler struct {
	layout layout
	slice  opKind                 // for slices: opSlice or opNested
	nodes  map[reflect.Type]*node // a recursive type finds its node here
}

// measure computes the minimum sizes, after all nodes are complete.
func (c *compiler) measure() {
	for _, n := range c.nodes {
		n.measure()
	}
}

// node returns the node of a type, compiled once.
func (c *compiler) node(t reflect.Type) *node {
	// A recursive type finds its node here, before the ops are complete.
	if n, ok := c.nodes[t]; ok {
		return n
	}
	n := &node{size: t.Size(), empty: isEmpty(t), memory: c.layout.isMemory(t)}
	c.nodes[t] = n
	if !n.empty && !n.memory {
		n.ops = c.emit(nil, t, 0)
	}
	// Any byte decodes as an integer, but a bool other than 0 or 1 would break the program.
	n.bools = c.bools(nil, t, 0)
	return n
}

// bools omits the bools inside separate nodes.
func (c *compiler) bools(runs []run, t reflect.Type, offset uintptr) []run {
	switch t.Kind() {
	case reflect.Bool:
		if k := len(runs) - 1; k >= 0 && runs[k].offset+runs[k].n == offset {
			runs[k].n++
			return runs
		}
		return append(runs, run{offset, 1})
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name != "_" {
				runs = c.bools(runs, f.Type, offset+f.Offset)
			}
		}
	case reflect.Array:
		if elem := t.Elem(); c.layout.isMemory(t) && len(c.bools(nil, elem, 0)) > 0 {
			for i := range uintptr(t.Len()) {
				runs = c.bools(runs, elem, offset+i*elem.Size())
			}
		}
	}
	return runs
}

// emit appends the ops of a value of type t at an offset.
func (c *compiler) emit(ops []op, t reflect.Type, offset uintptr) []op {
	if isEmpty(t) {
		return ops
	}
	if c.layout.isMemory(t) {
		return emitMemory(ops, offset, t.Size())
	}
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name != "_" {
				ops = c.emit(ops, f.Type, offset+f.Offset)
			}
		}
		return ops
	case reflect.Array:
		return append(ops, op{kind: opArray, offset: offset, count: t.Len(), elem: c.node(t.Elem())})
	case reflect.String:
		return append(ops, op{kind: opString, offset: offset})
	case reflect.Slice:
		return append(ops, op{kind: c.slice, offset: offset, elem: c.node(t.Elem()), typ: t})
	case reflect.Map:
		return append(ops, op{kind: opMap, offset: offset, key: c.node(t.Key()), elem: c.node(t.Elem()), typ: t})
	case reflect.Interface:
		return append(ops, op{kind: opInterface, offset: offset, typ: t})
	default:
		return emitNumber(ops, t, offset)
	}
}

// emitMemory appends a run of memory, or extends the last op if it is adjacent.
func emitMemory(ops []op, offset, size uintptr) []op {
	if len(ops) > 0 {
		if last := &ops[len(ops)-1]; last.kind == opMemory && last.offset+uintptr(last.count) == offset {
			last.count += int(size)
			return ops
		}
	}
	return append(ops, op{kind: opMemory, offset: offset, count: int(size)})
}

// emitNumber appends the op of a number that is not memory on this machine.
func emitNumber(ops []op, t reflect.Type, offset uintptr) []op {
	size := t.Size()
	switch kind := t.Kind(); {
	case kind == reflect.Int && size == 4:
		return append(ops, op{kind: opInt32To64, offset: offset})
	case (kind == reflect.Uint || kind == reflect.Uintptr) && size == 4:
		return append(ops, op{kind: opUint32To64, offset: offset})
	case kind == reflect.Complex64 || kind == reflect.Complex128:
		ops = append(ops, op{kind: loadOf(size / 2), offset: offset})
		return append(ops, op{kind: loadOf(size / 2), offset: offset + size/2})
	default:
		return append(ops, op{kind: loadOf(size), offset: offset})
	}
}

// loadOf returns the op of a number by its size.
func loadOf(size uintptr) opKind {
	switch size {
	case 1:
		return opUint8
	case 2:
		return opUint16
	case 4:
		return opUint32
	default:
		return opUint64
	}
}
