package digest

import (
	"errors"
	"reflect"
	"unsafe"
)

// Skip skips n values.
func (s *Schema) Skip(d *Decoder, n int) {
	for range n {
		if !d.have(int(min(s.least, 1))) || !d.skip(s) {
			return
		}
	}
}

// skip skips one value. It begins again with more adjacent bytes if they end too early.
func (d *Decoder) skip(s *Schema) bool {
	for {
		// A longer value is refused, however many bytes are at hand.
		r := reading{b: d.b[:min(len(d.b), MaxBytes)]}
		have := len(r.b)
		err := r.skip(s)
		if err == nil {
			d.b = d.b[have-len(r.b):]
			return true
		}
		if !errors.Is(err, errShort) {
			d.Fail(err)
			return false
		}
		if !d.more() {
			return false
		}
	}
}

// skip skips one value without memory, under the limits of decoding.
func (r *reading) skip(s *Schema) error {
	// Most parts: one step instead of one per field.
	if s.fixed {
		_, err := r.cut(int(s.least))
		return err
	}
	switch s.kind() {
	case reflect.Struct:
		for _, field := range s.fields() {
			if err := r.skip(field.schema); err != nil {
				return err
			}
		}
		return nil
	case reflect.Array:
		return r.skipAll(int(s.count), s.elem)
	case reflect.String:
		n, err := r.length(1)
		if err == nil {
			_, err = r.cut(n)
		}
		return err
	}
	if r.depth++; r.depth > maxDepth {
		return errDepth
	}
	defer func() { r.depth-- }()
	switch s.kind() {
	case reflect.Slice:
		n, err := r.length(int(max(s.elem.least, 1)))
		if err != nil {
			return err
		}
		return r.skipAll(n, s.elem)
	default: // a map
		n, err := r.length(int(max(s.parts.key.least+s.elem.least, 1)))
		if err != nil {
			return err
		}
		return r.skipAll(n, s.parts.key, s.elem)
	}
}

// skipAll skips n groups of values.
func (r *reading) skipAll(n int, parts ...*Schema) error {
	if len(parts) == 1 && parts[0].fixed {
		_, err := r.cut(n * int(parts[0].least))
		return err
	}
	for range n {
		for _, part := range parts {
			if err := r.skip(part); err != nil {
				return err
			}
		}
	}
	return nil
}

// widen reads a narrower integer of an older type.
func (r *reading) widen(o *op, at unsafe.Pointer) error {
	v, err := r.number(int(o.old.least))
	if err != nil {
		return err
	}
	bits, signed := integer(o.old.kind())
	if signed {
		// The sign extends to 64 bits.
		v = uint64(int64(v<<(64-bits)) >> (64 - bits))
	}
	number := reflect.NewAt(o.typ, at).Elem()
	switch {
	case !number.CanInt():
		number.SetUint(v)
	case number.OverflowInt(int64(v)): // an int of 32 bits
		return errNumber
	default:
		number.SetInt(int64(v))
	}
	return nil
}
