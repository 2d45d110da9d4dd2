package digest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

func (p *Codec) Append(b []byte, base unsafe.Pointer, n int) []byte {
	switch {
	case n == 0 || p.root.empty:
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
func (p *Codec) Empty() bool { return p.root.empty }

// Recursive reports whether values of the type can contain others of it, and so be too deep
// to be decoded. It is also true for a type that is itself that deep.
func (p *Codec) Recursive() bool { return p.recursive }

func isRecursive(t reflect.Type, around []reflect.Type) bool {
	if len(around) == maxDepth || slices.Contains(around, t) {
		return true
	}
	around = append(around, t)
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if isRecursive(f.Type, around) {
				return true
			}
		}
	case reflect.Map:
		return isRecursive(t.Key(), around) || isRecursive(t.Elem(), around)
	case reflect.Array, reflect.Slice:
		return isRecursive(t.Elem(), around)
	}
	return false
}

// Reader reads numbers and the output of [Codec.Append] from memory. The first error stays:
// later reads return zeros, and Err returns it. One goroutine at a time may use it.
type Reader struct {
	r   reading
	err error
}

func (r *Reader) Reset(b []byte) { *r = Reader{r: reading{b: b}} }

func (r *Reader) Err() error { return r.err }

func (r *Reader) Remaining() int { return len(r.r.b) }

func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.r.b = nil
}

var errEnds = fmt.Errorf("%w: the bytes end too early", ErrEncoding)

// Bytes does not copy. It returns nil after an error.
func (r *Reader) Bytes(n int) []byte {
	if n < 0 || n > len(r.r.b) {
		r.Fail(errEnds)
		return nil
	}
	b := r.r.b[:n:n]
	r.r.b = r.r.b[n:]
	return b
}

func (r *Reader) Uint8() uint8 {
	if len(r.r.b) == 0 {
		r.Fail(errEnds)
		return 0
	}
	v := r.r.b[0]
	r.r.b = r.r.b[1:]
	return v
}

func (r *Reader) Uint64() uint64 {
	if b := r.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Count reads a number by [binary.AppendUvarint] from 1 to limit and fails for any other.
func (r *Reader) Count(limit int, what string) int {
	if len(r.r.b) > 0 && r.r.b[0]-1 < 0x7f && int(r.r.b[0]) <= limit {
		v := int(r.r.b[0])
		r.r.b = r.r.b[1:]
		return v
	}
	v, n := binary.Uvarint(r.r.b)
	switch {
	case n <= 0:
		r.Fail(errEnds)
		return 0
	case v == 0 || v > uint64(max(limit, 0)):
		r.Fail(fmt.Errorf("%w: %d %s; there can be 1 to %d", ErrEncoding, v, what, limit))
		return 0
	}
	r.r.b = r.r.b[n:]
	return int(v)
}

// Items reads n items of the type of p into the zero memory at base; see [Codec.Decode].
func (r *Reader) Items(p *Codec, base unsafe.Pointer, n int) {
	switch {
	case p.root.empty || n == 0 || r.err != nil:
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
