package digest

import (
	"fmt"
	"reflect"
)

// Two limits hold for every item that is not memory. The writer of a snapshot and its
// reader ask the same functions, so that all that is written can be read back.
const (
	// MaxBytes is the largest encoding of one item.
	MaxBytes = 64 << 20

	// mostDepth is how deep slices and maps of an item may nest.
	mostDepth = 1000
)

// tooLong returns an error if an item has an encoding of n bytes and that is too long.
func tooLong(n uint64) error {
	if n <= MaxBytes {
		return nil
	}
	return fmt.Errorf("%w: an item of more than 64 MiB, got %d bytes, want at most %d", ErrEncoding, n, MaxBytes)
}

// errDepth is the error of an item whose slices and maps nest too deep.
var errDepth = fmt.Errorf("%w: slices and maps within each other, want at most %d deep", ErrEncoding, mostDepth)

// unreadable returns why an item of this type cannot be read back, which has an encoding
// of n bytes and nests so deep, or nil.
func unreadable(t reflect.Type, n uint64, depth int) error {
	err := tooLong(n)
	if err == nil && depth > mostDepth {
		err = errDepth
	}
	if err != nil {
		return fmt.Errorf("type %v: %w", t, err)
	}
	return nil
}
