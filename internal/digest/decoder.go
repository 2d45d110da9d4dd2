package digest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Decoder reads back what a [Tee] passed on. The first error stays: all later
// reads give zeros, and Err tells it. One goroutine at a time.
type Decoder struct {
	next func() ([]byte, error) // the piece that follows; none is an error
	end  error                  // of next, which is not asked again
	b    []byte                 // what is left of the pieces so far
	own  []byte                 // the memory of b, if pieces had to be joined
	err  error

	again int // bytes that were looked at more than once, for tests

	migration *Migration   // nil: items are read as what they are
	columns   []ColumnPlan // nil: columns are read as what they are
	data      []ColumnPlan // likewise
}

// ErrEncoding says that bytes are not the encoding of what they are read as.
var ErrEncoding = errors.New("not an encoding of this type")

// NewDecoder returns a Decoder of the pieces that next returns, which are good
// until it is called again.
func NewDecoder(next func() ([]byte, error)) *Decoder { return &Decoder{next: next} }

// Err returns the first error.
func (d *Decoder) Err() error { return d.err }

// Fail makes err the first error, unless there is one.
func (d *Decoder) Fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.b = nil
}

// Remaining returns how many bytes are left of the pieces so far.
func (d *Decoder) Remaining() int { return len(d.b) }

// have makes at least n bytes of the stream lie in one piece, and reports whether
// it could.
func (d *Decoder) have(n int) bool {
	for len(d.b) < n {
		if !d.join() {
			d.Fail(d.end)
			return false
		}
	}
	return true
}

// more doubles the bytes that lie in one piece, as far as the stream has more, and
// reports whether there are more now.
func (d *Decoder) more() bool {
	had := len(d.b)
	if err := tooLong(uint64(had) + 1); err != nil {
		d.Fail(err)
		return false
	}
	for len(d.b) < max(1, 2*had) && d.join() {
	}
	if len(d.b) == had {
		d.Fail(d.end)
		return false
	}
	d.again += len(d.b)
	return true
}

// join takes one more piece, and reports whether there was one.
func (d *Decoder) join() bool {
	if d.end != nil || d.err != nil {
		return false
	}
	// What is left is moved before the next piece takes its place.
	if left := len(d.b); left == 0 || cap(d.own) == 0 || &d.own[:1][0] != &d.b[0] {
		d.own = append(d.own[:0], d.b...)
	} else {
		d.own = d.own[:left]
	}
	d.b = d.own
	piece, err := d.next()
	switch {
	case err != nil:
		d.end = err
		return false
	case len(d.own) == 0:
		d.b = piece
	default:
		if len(d.own)+len(piece) > cap(d.own) {
			d.own = slices.Grow(d.own, max(len(piece), len(d.own)))
		}
		d.own = append(d.own, piece...)
		d.b = d.own
	}
	return true
}

// Fill fills all of b.
func (d *Decoder) Fill(b []byte) {
	for len(b) > 0 {
		if len(d.b) == 0 && !d.have(1) {
			return
		}
		n := copy(b, d.b)
		b, d.b = b[n:], d.b[n:]
	}
}

// take returns the next n bytes, which are few, or zeros behind an error.
func (d *Decoder) take(n int) []byte {
	if !d.have(n) {
		return make([]byte, n)
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

// Uint8, Uint16, Uint32 and Uint64 read a number as the methods of [Hash] of these
// names add it.
func (d *Decoder) Uint8() uint8   { return d.take(1)[0] }
func (d *Decoder) Uint16() uint16 { return binary.LittleEndian.Uint16(d.take(2)) }
func (d *Decoder) Uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *Decoder) Uint64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }

// Count reads a Uint64 that counts what follows or lies below most, and fails
// beyond that.
func (d *Decoder) Count(most int, what string) int {
	n := d.Uint64()
	if n > uint64(most) {
		d.Fail(fmt.Errorf("%w: %d %s; there can be %d", ErrEncoding, n, what, most))
		return 0
	}
	return int(n)
}
