package digest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

// Append appends the encodings of the n items that begin at base to b, as
// [Codec.Items] adds them to a Hash, and returns b.
func (p *Codec) Append(b []byte, base unsafe.Pointer, n int) []byte {
	switch {
	case n == 0 || p.root.silent:
		return b
	case p.root.memory:
		return append(b, unsafe.Slice((*byte)(base), uintptr(n)*p.root.size)...)
	}
	w := p.walker(nil)
	b = p.root.appendItems(w, b, base, n)
	p.release(w)
	return b
}

// Empty reports whether every value of the type encodes to nothing.
func (p *Codec) Empty() bool { return p.root.silent }

// Recursive reports whether values of the type can hold others of it, which makes them as
// deep as a program likes: some are too deep to be read back. It is true as well of a
// type that is as deep itself.
func (p *Codec) Recursive() bool { return p.nests }

func nests(t reflect.Type, around []reflect.Type) bool {
	if len(around) == mostDepth || slices.Contains(around, t) {
		return true
	}
	around = append(around, t)
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if nests(f.Type, around) {
				return true
			}
		}
	case reflect.Map:
		return nests(t.Key(), around) || nests(t.Elem(), around)
	case reflect.Array, reflect.Slice:
		return nests(t.Elem(), around)
	}
	return false
}

// Reader reads what lies in memory: numbers, and what [Codec.Append] appended. The
// first error stays; all later reads give zeros, and Err tells it. One goroutine at a
// time.
type Reader struct {
	r   reading
	err error
}

// Reset begins to read b.
func (r *Reader) Reset(b []byte) { *r = Reader{r: reading{b: b}} }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Remaining returns how many bytes are left.
func (r *Reader) Remaining() int { return len(r.r.b) }

// Fail makes err the first error, unless there is one.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.r.b = nil
}

var errEnds = fmt.Errorf("%w: the bytes end too early", ErrEncoding)

// Bytes takes n bytes, which stay where they are, or nil.
func (r *Reader) Bytes(n int) []byte {
	if n < 0 || n > len(r.r.b) {
		r.Fail(errEnds)
		return nil
	}
	b := r.r.b[:n:n]
	r.r.b = r.r.b[n:]
	return b
}

// Uint8 takes a byte.
func (r *Reader) Uint8() uint8 {
	if len(r.r.b) == 0 {
		r.Fail(errEnds)
		return 0
	}
	v := r.r.b[0]
	r.r.b = r.r.b[1:]
	return v
}

// Uint64 takes a number of 8 bytes.
func (r *Reader) Uint64() uint64 {
	if b := r.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Count takes a number that [binary.AppendUvarint] wrote, from 1 to most, and fails
// for any other.
func (r *Reader) Count(most int, what string) int {
	if len(r.r.b) > 0 && r.r.b[0]-1 < 0x7f && int(r.r.b[0]) <= most { // nearly always
		v := int(r.r.b[0])
		r.r.b = r.r.b[1:]
		return v
	}
	v, n := binary.Uvarint(r.r.b)
	switch {
	case n <= 0:
		r.Fail(errEnds)
		return 0
	case v == 0 || v > uint64(max(most, 0)):
		r.Fail(fmt.Errorf("%w: %d %s; there can be 1 to %d", ErrEncoding, v, what, most))
		return 0
	}
	r.r.b = r.r.b[n:]
	return int(v)
}

// Items reads n items of the type of p into the memory at base, which is of that type
// and zero; see [Codec.Decode].
func (r *Reader) Items(p *Codec, base unsafe.Pointer, n int) {
	switch {
	case p.root.silent || n == 0 || r.err != nil:
		return
	case n > len(r.r.b)/max(1, p.root.least):
		r.Fail(errEnds)
		return
	}
	r.r.depth, r.r.claimed = 0, 0
	switch err := p.root.decodeItems(&r.r, base, n); {
	case err == nil:
	case errors.Is(err, errShort):
		r.Fail(errEnds)
	default:
		r.Fail(err)
	}
}
