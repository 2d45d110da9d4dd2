package digest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// Decode reads n items into the memory at base, which must have the type of p and be zero.
// Items share no memory with the input. A string, slice or map of length 0 becomes "" or nil.
//
// Decode takes time proportional to the input and allocates at most a multiple of the bytes read,
// by a factor of the type. Bytes that do not encode the type, or exceed the limits of an item, make
// [ErrEncoding] the error of d. Some items may be set then. The type must be [Codec.Codable].
func (p *Codec) Decode(d *Decoder, base unsafe.Pointer, n int) {
	switch {
	case n == 0 || p.root.empty:
	case p.root.memory:
		d.Fill(unsafe.Slice((*byte)(base), uintptr(n)*p.root.size))
		if d.err == nil && !p.root.boolsHold(base, n) {
			d.Fail(errBool)
		}
	default:
		own := p.own
		for i := range uintptr(n) {
			d.item(p.root, p.typ, own, unsafe.Add(base, i*p.root.size), 1)
		}
	}
}

// own returns nil if the type exceeds the depth of schemas.
func (p *Codec) own() *Schema {
	p.parse.Do(func() { p.schema, _ = ParseSchema(p.Schema()) })
	return p.schema
}

// item reads one item of at least need bytes and returns its encoding, valid until the next
// read. The bytes at hand nearly always suffice. Otherwise item joins pieces, and checks by
// skipping, without memory, each time the bytes have doubled.
func (d *Decoder) item(n *node, t reflect.Type, written func() *Schema, at unsafe.Pointer, need int) []byte {
	if !d.have(need) {
		return nil
	}
	for {
		r := reading{b: d.b[:min(len(d.b), MaxBytes)]}
		have := len(r.b)
		err := n.decode(&r, at)
		if err == nil {
			read := d.b[:have-len(r.b)]
			d.b = d.b[len(read):]
			return read
		}
		if !errors.Is(err, errShort) {
			d.Fail(err)
			return nil
		}
		reflect.NewAt(t, at).Elem().SetZero()
		for short := true; short; {
			if !d.more() {
				return nil
			}
			whole := reading{b: d.b[:min(len(d.b), MaxBytes)]}
			s := written()
			short = s != nil && errors.Is(whole.skip(s), errShort)
		}
	}
}

var (
	errShort  = errors.New("more bytes are needed")
	errBool   = fmt.Errorf("%w: a bool is neither 0 nor 1", ErrEncoding)
	errNumber = fmt.Errorf("%w: a number does not fit an int of this machine", ErrEncoding)
	errMap    = fmt.Errorf("%w: the entries of a map are not in order, or one is there twice", ErrEncoding)
)

// reading is the rest of the bytes of an item.
//
// A length is valid only if the bytes exist after subtraction of the minimum need of enclosing
// lengths and following fields. So every byte pays for memory once, however deep a type
// contains itself.
type reading struct {
	b       []byte
	claimed int // minimum bytes of b that follow the current value
	depth   int
}

// cut returns the next n bytes without a copy.
func (r *reading) cut(n int) ([]byte, error) {
	if n > len(r.b) {
		return nil, errShort
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b, nil
}

// number reads a number of up to 8 bytes.
func (r *reading) number(size int) (uint64, error) {
	if size > len(r.b) {
		return 0, errShort
	}
	var b [8]byte
	copy(b[:], r.b[:size])
	r.b = r.b[size:]
	return binary.LittleEndian.Uint64(b[:]), nil
}

// length reads the length of a string, slice or map whose elements take at least least
// bytes.
func (r *reading) length(least int) (int, error) {
	n, err := r.number(8)
	switch {
	case err != nil:
		return 0, err
	case n > uint64(MaxBytes/least):
		return 0, fmt.Errorf("%w: a length of %d", ErrEncoding, n)
	case n > uint64(max(len(r.b)-r.claimed, 0)/least):
		return 0, errShort
	}
	return int(n), nil
}

// measure returns the minimum bytes of an encoding. Slices and maps count as their length
// alone, so a recursive type ends.
func (n *node) measure() int {
	switch {
	case n.empty || n.least > 0:
		return n.least
	case n.memory:
		n.least = int(n.size)
		return n.least
	}
	sum := 0
	for i := len(n.ops) - 1; i >= 0; i-- {
		n.ops[i].after = sum
		sum += n.ops[i].measure()
	}
	n.least = sum
	return sum
}

func (o *op) measure() int {
	switch o.kind {
	case opUint8, opInterface:
		return 1
	case opUint16:
		return 2
	case opUint32:
		return 4
	case opMemory:
		return o.count
	case opArray:
		return o.count * o.elem.measure()
	case opSkip, opWiden:
		return int(o.old.least)
	default:
		return 8
	}
}

// boolsHold reports whether the bools of count items are 0 or 1.
func (n *node) boolsHold(base unsafe.Pointer, count int) bool {
	if len(n.bools) == 0 {
		return true
	}
	for i := range uintptr(count) {
		for _, run := range n.bools {
			for _, b := range unsafe.Slice((*byte)(unsafe.Add(base, i*n.size+run.offset)), run.n) {
				if b > 1 {
					return false
				}
			}
		}
	}
	return true
}

// decodeItems reads count values into zero memory at base.
func (n *node) decodeItems(r *reading, base unsafe.Pointer, count int) error {
	switch {
	case n.empty || count == 0:
		return nil
	case n.memory:
		b, err := r.cut(count * int(n.size))
		if err != nil {
			return err
		}
		copy(unsafe.Slice((*byte)(base), len(b)), b)
		if !n.boolsHold(base, count) {
			return errBool
		}
		return nil
	}
	// Each value to come has claimed its minimum, so no length inside a value can use those
	// bytes.
	r.claimed += count * n.least
	for i := range uintptr(count) {
		r.claimed -= n.least
		if err := n.decode(r, unsafe.Add(base, i*n.size)); err != nil {
			return err
		}
	}
	return nil
}

// One switch for speed: decode runs for every item of a table.
func (n *node) decode(r *reading, base unsafe.Pointer) error {
	if n.memory {
		return n.decodeItems(r, base, 1)
	}
	for i := range n.ops {
		o := &n.ops[i]
		at := unsafe.Add(base, o.offset)
		var v uint64
		var err error
		switch o.kind {
		case opUint8:
			v, err = r.number(1)
			*(*uint8)(at) = uint8(v)
		case opUint16:
			v, err = r.number(2)
			*(*uint16)(at) = uint16(v)
		case opUint32:
			v, err = r.number(4)
			*(*uint32)(at) = uint32(v)
		case opUint64:
			v, err = r.number(8)
			*(*uint64)(at) = v
		case opInt32To64:
			// An int of this machine has 32 bits.
			if v, err = r.number(8); int64(v) != int64(int32(v)) {
				return errNumber
			}
			*(*int32)(at) = int32(v)
		case opUint32To64:
			if v, err = r.number(8); v > math.MaxUint32 {
				return errNumber
			}
			*(*uint32)(at) = uint32(v)
		case opMemory:
			var b []byte
			b, err = r.cut(o.count)
			copy(unsafe.Slice((*byte)(at), o.count), b)
		case opArray:
			r.claimed += o.after
			err = o.elem.decodeItems(r, at, o.count)
			r.claimed -= o.after
		case opString:
			err = r.decodeString((*string)(at))
		case opSlice, opNested:
			err = r.nested(o, at, (*reading).decodeSlice)
		case opMap:
			err = r.nested(o, at, (*reading).decodeMap)
		case opSkip:
			err = r.skip(o.old)
		case opWiden:
			err = r.widen(o, at)
		default:
			err = fmt.Errorf("%w: %v cannot be read back", ErrEncoding, o.typ)
		}
		if err != nil {
			return err
		}
	}
	if !n.boolsHold(base, 1) {
		return errBool
	}
	return nil
}

// nested reads a slice or map, one level deeper.
func (r *reading) nested(o *op, at unsafe.Pointer, read func(r *reading, o *op, at unsafe.Pointer) error) error {
	if r.depth++; r.depth > maxDepth {
		return errDepth
	}
	r.claimed += o.after
	err := read(r, o, at)
	r.claimed -= o.after
	r.depth--
	return err
}

func (r *reading) decodeString(s *string) error {
	n, err := r.length(1)
	if err != nil {
		return err
	}
	b, err := r.cut(n)
	*s = string(b)
	return err
}

// Typed memory is for the collector; other memory is faster untyped.
func (r *reading) decodeSlice(o *op, at unsafe.Pointer) error {
	n, err := r.length(max(o.elem.least, 1))
	if err != nil || n == 0 {
		return err
	}
	if !o.elem.memory {
		made := reflect.MakeSlice(o.typ, n, n)
		reflect.NewAt(o.typ, at).Elem().Set(made)
		return o.elem.decodeItems(r, made.UnsafePointer(), n)
	}
	// Words, because every memory type is aligned to at most 8 bytes.
	words := make([]uint64, (uintptr(n)*o.elem.size+7)/8)
	base := unsafe.Pointer(unsafe.SliceData(words))
	*(*[]struct{})(at) = unsafe.Slice((*struct{})(base), n)
	return o.elem.decodeItems(r, base, n)
}

// Entries must be in ascending order of bytes, without duplicate keys.
func (r *reading) decodeMap(o *op, at unsafe.Pointer) error {
	least := o.key.least + o.elem.least
	n, err := r.length(max(least, 1))
	if err != nil || n == 0 {
		return err
	}
	m := reflect.MakeMapWithSize(o.typ, n)
	key, value := reflect.New(o.typ.Key()).Elem(), reflect.New(o.typ.Elem()).Elem()
	r.claimed += n * least
	var before []byte
	for i := range n {
		r.claimed -= least
		// Decoding needs zero memory, and entries must not share any.
		key.SetZero()
		value.SetZero()
		from := r.b
		if err := o.key.decodeItems(r, key.Addr().UnsafePointer(), 1); err != nil {
			return err
		}
		if err := o.elem.decodeItems(r, value.Addr().UnsafePointer(), 1); err != nil {
			return err
		}
		entry := from[:len(from)-len(r.b)]
		// A repeated key does not add to the length.
		if m.SetMapIndex(key, value); m.Len() != i+1 || bytes.Compare(before, entry) > 0 {
			return errMap
		}
		before = entry
	}
	reflect.NewAt(o.typ, at).Elem().Set(m)
	return nil
}
