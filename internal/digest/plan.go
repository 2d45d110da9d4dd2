package digest

import (
	"reflect"
	"sync"
	"unsafe"
)

// Codec is the encoding of one type. Any number of goroutines may use it at the same time,
// each with its own Hash.
type Codec struct {
	typ       reflect.Type
	layout    layout
	root      *node
	recursive bool
	bounded   bool      // all items are within the limits
	parse     sync.Once // guards schema
	schema    *Schema
	dynamic   sync.Map
	walkers   sync.Pool
}

var codecs sync.Map

// Of returns the codec of t. It works for every type and never panics. The first call for a
// type takes some microseconds per component type, later calls a lookup.
func Of(t reflect.Type) *Codec {
	if p, ok := codecs.Load(t); ok {
		return p.(*Codec)
	}
	made := new(Codec)
	made.init(t, layout{memory: littleEndian})
	p, _ := codecs.LoadOrStore(t, made)
	return p.(*Codec)
}

// Plan is the codec of T with typed methods. It is a pointer, to be passed by value.
type Plan[T any] struct{ codec *Codec }

// For returns the plan of T.
func For[T any]() Plan[T] { return Plan[T]{Of(reflect.TypeFor[T]())} }

// Items adds the encodings of items to h, one after another and without their number. A T that
// encodes to nothing adds nothing.
//
// Items takes time proportional to the encoded bytes: for a memory type the speed of
// [Hash.Bytes], otherwise some nanoseconds per field. Maps are sorted, in memory proportional
// to their encoding.
func (p Plan[T]) Items(h *Hash, items []T) {
	p.codec.Items(h, unsafe.Pointer(unsafe.SliceData(items)), len(items))
}

// Lasting is [Plan.Items] for items that do not change; see [Hash.Lasting].
func (p Plan[T]) Lasting(h *Hash, items []T) {
	p.codec.Lasting(h, unsafe.Pointer(unsafe.SliceData(items)), len(items))
}

// Decode is [Codec.Decode] into items, which must be zero.
func (p Plan[T]) Decode(d *Decoder, items []T) {
	p.codec.Decode(d, unsafe.Pointer(unsafe.SliceData(items)), len(items))
}

func (p *Codec) init(t reflect.Type, l layout) {
	p.typ, p.layout = t, l
	p.recursive = isRecursive(t, nil)
	p.root = compile(t, l, p.recursive)
	p.bounded = p.root.isFixed() && p.root.measure() <= MaxBytes
	p.walkers.New = func() any { return &walker{codec: p} }
}

// Items is [Plan.Items] for the n items at base, which must have the type of the codec.
func (p *Codec) Items(h *Hash, base unsafe.Pointer, n int) {
	switch {
	case n == 0 || p.root.empty:
	case p.root.memory:
		h.Bytes(unsafe.Slice((*byte)(base), uintptr(n)*p.root.size))
	default:
		w := p.walker(h)
		// A digest has no limits: nobody reads it back.
		if h.tee == nil || p.bounded {
			w.buf = p.root.appendItems(w, w.buf, base, n)
		} else {
			w.buf = p.appendLimited(w, w.buf, base, n)
		}
		h.Bytes(w.buf)
		p.release(w)
	}
}

// appendLimited is appendItems that notes the first item that a reader would refuse.
func (p *Codec) appendLimited(w *walker, b []byte, base unsafe.Pointer, n int) []byte {
	for i := range uintptr(n) {
		from := w.hash.length + uint64(len(b))
		b = p.root.appendItem(w, b, unsafe.Add(base, i*p.root.size))
		size := w.hash.length + uint64(len(b)) - from
		if (size > MaxBytes || w.deepest > maxDepth) && w.hash.tee.err == nil {
			w.hash.tee.err = unreadable(p.typ, size, w.deepest)
		}
		b = w.spill(b)
	}
	return b
}

// Lasting is [Plan.Lasting] for the n items at base.
func (p *Codec) Lasting(h *Hash, base unsafe.Pointer, n int) {
	if p.root.memory && n > 0 {
		h.Lasting(unsafe.Slice((*byte)(base), uintptr(n)*p.root.size))
		return
	}
	p.Items(h, base, n)
}

// If h is nil the walker keeps all bytes.
func (p *Codec) walker(h *Hash) *walker {
	w := p.walkers.Get().(*walker)
	w.hash, w.buf, w.depth, w.deepest = h, w.buf[:0], 0, 0
	return w
}

// release keeps the walker and its buffer, unless the buffer is large.
func (p *Codec) release(w *walker) {
	w.hash = nil
	if cap(w.buf) > keepBuffer {
		w.buf = nil
	}
	p.walkers.Put(w)
}

// nodeOf returns the node of a dynamic type in an interface.
func (p *Codec) nodeOf(t reflect.Type) *node {
	if n, ok := p.dynamic.Load(t); ok {
		return n.(*node)
	}
	n, _ := p.dynamic.LoadOrStore(t, compile(t, p.layout, isRecursive(t, nil)))
	return n.(*node)
}
