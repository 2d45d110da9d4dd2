package digest

import (
	"reflect"
	"sync"
	"unsafe"
)

// Codec is the encoding of one type, worked out once. Any number of goroutines
// may use one Program at the same time, each with a Hash of its own.
type Codec struct {
	typ     reflect.Type
	layout  layout
	root    *node
	nests   bool      // values can hold others of the type
	parse   sync.Once // of the schema
	schema  *Schema   // see own
	dynamic sync.Map  // reflect.Type to *node, for values in interfaces
	walkers sync.Pool // of *walker
}

// programs are those that were asked for: reflect.Type to the *Program of that
// type.
var programs sync.Map

// Of returns the program of t. It works for every type and never panics. The
// first call for a type costs some microseconds for each type that it is made of,
// others a look-up.
func Of(t reflect.Type) *Codec {
	if p, ok := programs.Load(t); ok {
		return p.(*Codec)
	}
	made := new(Codec)
	made.init(t, layout{memory: littleEndian})
	p, _ := programs.LoadOrStore(t, made)
	return p.(*Codec)
}

// Plan is the [Codec] of a T.
type Plan[T any] struct{ program *Codec }

// For returns the plan of T; see [Of].
func For[T any]() Plan[T] { return Plan[T]{Of(reflect.TypeFor[T]())} }

// Items adds the encodings of items to h, one after another and without their
// number. A T that encodes to nothing adds nothing.
//
// Items takes time in proportion to the encoded bytes: for a memory type the
// speed of [Hash.Bytes]; else some nanoseconds for each field. Maps are sorted
// and need memory in proportion to their encoding.
func (p Plan[T]) Items(h *Hash, items []T) {
	p.program.Items(h, unsafe.Pointer(unsafe.SliceData(items)), len(items))
}

// Lasting is [Plan.Items] for items that stay as they are; see [Hash.Lasting].
func (p Plan[T]) Lasting(h *Hash, items []T) {
	p.program.Lasting(h, unsafe.Pointer(unsafe.SliceData(items)), len(items))
}

// Decode reads items back; see [Codec.Decode].
func (p Plan[T]) Decode(d *Decoder, items []T) {
	p.program.Decode(d, unsafe.Pointer(unsafe.SliceData(items)), len(items))
}

// Memory reports whether T is a memory type on this machine, which makes
// [Plan.Items] hash a whole slice as one run of bytes. Types without size
// count.
func Memory[T any]() bool {
	return layout{memory: littleEndian}.isMemory(reflect.TypeFor[T]())
}

func (p *Codec) init(t reflect.Type, l layout) {
	p.typ, p.layout = t, l
	p.nests = nests(t, nil)
	p.root = compile(t, l, p.nests)
	p.walkers.New = func() any { return &walker{program: p} }
}

// Items is [Plan.Items] for the n items that begin at base.
func (p *Codec) Items(h *Hash, base unsafe.Pointer, n int) {
	switch {
	case n == 0 || p.root.silent:
	case p.root.memory:
		h.Bytes(unsafe.Slice((*byte)(base), uintptr(n)*p.root.size))
	default:
		w := p.walker(h)
		if h.tee == nil {
			w.buf = p.root.appendItems(w, w.buf, base, n)
		} else {
			w.buf = p.appendLimited(w, w.buf, base, n)
		}
		h.Bytes(w.buf)
		p.release(w)
	}
}

// appendLimited is appendItems of items that are read back from what the Tee gives away.
func (p *Codec) appendLimited(w *walker, b []byte, base unsafe.Pointer, n int) []byte {
	for i := range uintptr(n) {
		from := w.hash.length + uint64(len(b))
		b = p.root.appendItem(w, b, unsafe.Add(base, i*p.root.size))
		size := w.hash.length + uint64(len(b)) - from
		if (size > MaxBytes || w.deepest > mostDepth) && w.hash.tee.err == nil {
			w.hash.tee.err = unreadable(p.typ, size, w.deepest)
		}
		b = w.spill(b)
	}
	return b
}

// Lasting is Items for items that stay as they are; see [Hash.Lasting].
func (p *Codec) Lasting(h *Hash, base unsafe.Pointer, n int) {
	if p.root.memory && n > 0 {
		h.Lasting(unsafe.Slice((*byte)(base), uintptr(n)*p.root.size))
		return
	}
	p.Items(h, base, n)
}

// walker returns a walker that spills into h, or keeps all when h is nil.
func (p *Codec) walker(h *Hash) *walker {
	w := p.walkers.Get().(*walker)
	w.hash, w.buf, w.depth, w.deepest = h, w.buf[:0], 0, 0
	return w
}

func (p *Codec) release(w *walker) {
	w.hash = nil
	if cap(w.buf) > keepBuffer {
		w.buf = nil
	}
	p.walkers.Put(w)
}

// nodeOf returns the node of a type met in an interface.
func (p *Codec) nodeOf(t reflect.Type) *node {
	if n, ok := p.dynamic.Load(t); ok {
		return n.(*node)
	}
	n, _ := p.dynamic.LoadOrStore(t, compile(t, p.layout, nests(t, nil)))
	return n.(*node)
}
