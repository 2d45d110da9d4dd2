package digest

import (
	"reflect"
	"sync"
	"unsafe"
)

// Plan is the encoding of one type, worked out once. Any number of goroutines
// may use one Plan at the same time, each with a Hash of its own.
type Plan[T any] struct {
	program program
}

// plans are those that were asked for: reflect.Type to the *Plan of that type.
var plans sync.Map

// For returns the plan of T. It works for every type and never panics. The first
// call for a T costs some microseconds for each type that T is made of, others a
// look-up.
func For[T any]() *Plan[T] {
	t := reflect.TypeFor[T]()
	if p, ok := plans.Load(t); ok {
		return p.(*Plan[T])
	}
	made := new(Plan[T])
	made.program.init(t, layout{memory: littleEndian})
	p, _ := plans.LoadOrStore(t, made)
	return p.(*Plan[T])
}

// Items adds the encodings of items to h, one after another and without their
// number. A T that encodes to nothing adds nothing.
//
// Items takes time in proportion to the encoded bytes: for a memory type the
// speed of [Hash.Bytes]; else some nanoseconds for each field. Maps are sorted
// and need memory in proportion to their encoding.
func (p *Plan[T]) Items(h *Hash, items []T) {
	p.program.items(h, unsafe.Pointer(unsafe.SliceData(items)), len(items))
}

// Memory reports whether T is a memory type on this machine, which makes
// [Plan.Items] hash a whole slice as one run of bytes. Types without size
// count.
func Memory[T any]() bool {
	return layout{memory: littleEndian}.isMemory(reflect.TypeFor[T]())
}

// program is a plan without its type parameter.
type program struct {
	layout  layout
	root    *node
	dynamic sync.Map  // reflect.Type to *node, for values in interfaces
	walkers sync.Pool // of *walker
}

func (p *program) init(t reflect.Type, l layout) {
	p.layout = l
	p.root = compile(t, l)
	p.walkers.New = func() any { return &walker{program: p} }
}

func (p *program) items(h *Hash, base unsafe.Pointer, n int) {
	switch {
	case n == 0 || p.root.silent:
	case p.root.memory:
		h.Bytes(unsafe.Slice((*byte)(base), uintptr(n)*p.root.size))
	default:
		w := p.walker(h)
		w.buf = p.root.appendItems(w, w.buf, base, n)
		h.Bytes(w.buf)
		p.release(w)
	}
}

// walker returns a walker that spills into h, or keeps all when h is nil.
func (p *program) walker(h *Hash) *walker {
	w := p.walkers.Get().(*walker)
	w.hash, w.buf = h, w.buf[:0]
	return w
}

func (p *program) release(w *walker) {
	w.hash = nil
	if cap(w.buf) > keepBuffer {
		w.buf = nil
	}
	p.walkers.Put(w)
}

// nodeOf returns the node of a type met in an interface.
func (p *program) nodeOf(t reflect.Type) *node {
	if n, ok := p.dynamic.Load(t); ok {
		return n.(*node)
	}
	n, _ := p.dynamic.LoadOrStore(t, compile(t, p.layout))
	return n.(*node)
}
