package digest

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"
	"unsafe"
)

const (
	spillBytes = 4 << 10  // encoded bytes passed to the hash at once
	keepBuffer = 64 << 10 // maximum buffer kept for the next walk
)

// Every function takes and returns the buffer as append does. walker encodes values of one
// codec. A codec keeps walkers for reuse.
type walker struct {
	codec *Codec
	hash  *Hash // receives spilled bytes; nil: no spilling
	buf   []byte

	// Current and maximum depth of nested slices and maps. Slices count only in recursive
	// types.
	depth, deepest int
}

// enter and leave surround the elements of a slice or map.
func (w *walker) enter() {
	w.depth++
	w.deepest = max(w.deepest, w.depth)
}

func (w *walker) leave() { w.depth-- }

// spill passes a long buffer to the hash, so that it stays small.
func (w *walker) spill(b []byte) []byte {
	if len(b) < spillBytes || w.hash == nil {
		return b
	}
	w.hash.Bytes(b)
	return b[:0]
}

// put appends run, or passes it to the hash without a copy if it is long.
func (w *walker) put(b, run []byte) []byte {
	if len(run) < spillBytes || w.hash == nil {
		return append(b, run...)
	}
	w.hash.Bytes(b)
	w.hash.Bytes(run)
	return b[:0]
}

// appendItems appends the encodings of count values at base.
func (n *node) appendItems(w *walker, b []byte, base unsafe.Pointer, count int) []byte {
	switch {
	case n.empty || count == 0:
		return b
	case n.memory:
		return w.put(b, unsafe.Slice((*byte)(base), uintptr(count)*n.size))
	}
	for i := range uintptr(count) {
		b = w.spill(n.appendItem(w, b, unsafe.Add(base, i*n.size)))
	}
	return b
}

// One switch for speed: appendItem runs for every item of a table.
func (n *node) appendItem(w *walker, b []byte, base unsafe.Pointer) []byte {
	for i := range n.ops {
		o := &n.ops[i]
		at := unsafe.Add(base, o.offset)
		switch o.kind {
		case opUint8:
			b = append(b, *(*uint8)(at))
		case opUint16:
			b = binary.LittleEndian.AppendUint16(b, *(*uint16)(at))
		case opUint32:
			b = binary.LittleEndian.AppendUint32(b, *(*uint32)(at))
		case opUint64:
			b = binary.LittleEndian.AppendUint64(b, *(*uint64)(at))
		case opInt32To64:
			b = binary.LittleEndian.AppendUint64(b, uint64(*(*int32)(at)))
		case opUint32To64:
			b = binary.LittleEndian.AppendUint64(b, uint64(*(*uint32)(at)))
		case opMemory:
			b = w.put(b, unsafe.Slice((*byte)(at), o.count))
		case opArray:
			b = o.elem.appendItems(w, b, at, o.count)
		case opString:
			b = w.appendString(b, *(*string)(at))
		case opSlice:
			// This element type has no size to multiply by and no pointers to scan.
			s := *(*[]struct{})(at)
			b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
			b = o.elem.appendItems(w, b, unsafe.Pointer(unsafe.SliceData(s)), len(s))
		case opNested:
			b = w.appendNested(b, o, *(*[]struct{})(at))
		case opMap:
			b = w.appendMap(b, o, reflect.NewAt(o.typ, at).Elem())
		case opInterface:
			b = w.appendInterface(b, reflect.NewAt(o.typ, at).Elem())
		}
	}
	return b
}

// appendNested is opSlice with a count of the depth.
func (w *walker) appendNested(b []byte, o *op, s []struct{}) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
	w.enter()
	b = o.elem.appendItems(w, b, unsafe.Pointer(unsafe.SliceData(s)), len(s))
	w.leave()
	return b
}

// appendString appends the length and the bytes.
func (w *walker) appendString(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
	return w.put(b, unsafe.Slice(unsafe.StringData(s), len(s)))
}

// Entries are ordered by their bytes, so a side buffer takes them first.
func (w *walker) appendMap(b []byte, o *op, m reflect.Value) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(m.Len()))
	w.enter()
	defer w.leave()
	if m.Len() == 0 || o.key.empty && o.elem.empty {
		return b
	}
	side := w.codec.walker(nil)
	// The depth of an item counts across buffers.
	side.depth = w.depth
	defer w.codec.release(side)
	key, value := reflect.New(o.typ.Key()), reflect.New(o.typ.Elem())
	cuts := make([]int, 0, m.Len())
	for entries := m.MapRange(); entries.Next(); {
		key.Elem().SetIterKey(entries)
		value.Elem().SetIterValue(entries)
		side.buf = o.key.appendItems(side, side.buf, key.UnsafePointer(), 1)
		side.buf = o.elem.appendItems(side, side.buf, value.UnsafePointer(), 1)
		cuts = append(cuts, len(side.buf))
	}
	w.deepest = max(w.deepest, side.deepest)
	runs, from := make([][]byte, len(cuts)), 0
	for i, to := range cuts {
		runs[i], from = side.buf[from:to], to
	}
	// Equal runs exist for keys such as NaN; their order does not matter.
	slices.SortFunc(runs, bytes.Compare)
	for _, run := range runs {
		b = w.spill(w.put(b, run))
	}
	return b
}

// appendInterface appends the name of the dynamic type and the value.
func (w *walker) appendInterface(b []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(b, 0)
	}
	v = v.Elem()
	b = w.appendString(append(b, 1), v.Type().String())
	n := w.codec.nodeOf(v.Type())
	if n.empty {
		return b
	}
	// A value in an interface has no address; its copy has one.
	boxed := reflect.New(v.Type())
	boxed.Elem().Set(v)
	return n.appendItems(w, b, boxed.UnsafePointer(), 1)
}
