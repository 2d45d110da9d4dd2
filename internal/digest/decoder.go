package digest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Decoder decodes the output of a [Tee]. The first error stays: later reads return zeros,
// and Err returns it. One goroutine at a time may use it.
type Decoder struct {
	next func() ([]byte, error) // returns the next piece; none is an error
	end  error
	b    []byte
	own  []byte
	err  error

	again int // bytes scanned more than once, for tests

	migration *Migration   // nil: as written
	columns   []ColumnPlan // nil: as written
	data      []ColumnPlan
}

// ErrEncoding means that bytes are not an encoding of the wanted type.
var ErrEncoding = errors.New("not an encoding of this type")

// NewDecoder returns a Decoder of the pieces that next returns. A piece is valid until next
// is called again.
func NewDecoder(next func() ([]byte, error)) *Decoder { return &Decoder{next: next} }

func (d *Decoder) Err() error { return d.err }

// Fail sets the error unless there is one, and ends the input.
func (d *Decoder) Fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.b = nil
}

// Remaining returns the remaining bytes of the pieces so far.
func (d *Decoder) Remaining() int { return len(d.b) }

// have joins pieces until n bytes are adjacent. It returns false after an error.
func (d *Decoder) have(n int) bool {
	for len(d.b) < n {
		if !d.join() {
			d.Fail(d.end)
			return false
		}
	}
	return true
}

// more doubles the adjacent bytes if the stream has more.
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

// join adds the next piece to the bytes at hand. The first piece is used in place; only a
// value that crosses pieces is copied.
func (d *Decoder) join() bool {
	if d.end != nil || d.err != nil {
		return false
	}
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

// Fill copies the next bytes to b, across pieces. After an error the rest of b is
// unchanged.
func (d *Decoder) Fill(b []byte) {
	for len(b) > 0 {
		if len(d.b) == 0 && !d.have(1) {
			return
		}
		n := copy(b, d.b)
		b, d.b = b[n:], d.b[n:]
	}
}

// take returns the next n bytes, or zeros after an error. n is small.
func (d *Decoder) take(n int) []byte {
	if !d.have(n) {
		return make([]byte, n)
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

// Uint8, Uint16, Uint32 and Uint64 read a number that the [Hash] method of the same name
// added.
func (d *Decoder) Uint8() uint8   { return d.take(1)[0] }
func (d *Decoder) Uint16() uint16 { return binary.LittleEndian.Uint16(d.take(2)) }
func (d *Decoder) Uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *Decoder) Uint64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }

// Count reads a Uint64 and fails if it exceeds limit.
func (d *Decoder) Count(limit int, what string) int {
	n := d.Uint64()
	if n > uint64(limit) {
		d.Fail(fmt.Errorf("%w: %d %s; there can be %d", ErrEncoding, n, what, limit))
		return 0
	}
	return int(n)
}
