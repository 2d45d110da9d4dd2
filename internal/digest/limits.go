package digest

import (
	"fmt"
	"reflect"
)

// Writers and readers of snapshots apply the same limits to every item that is not a memory
// type, so that everything written can be read.
const (
	// MaxBytes is the largest encoding of one item.
	MaxBytes = 64 << 20

	// maxDepth is the maximum depth of nested slices and maps of an item.
	maxDepth = 1000
)

// tooLong returns an error if n bytes are too many for an item.
func tooLong(n uint64) error {
	if n <= MaxBytes {
		return nil
	}
	return fmt.Errorf("%w: an item of more than 64 MiB, got %d bytes, want at most %d", ErrEncoding, n, MaxBytes)
}

var errDepth = fmt.Errorf("%w: slices and maps within each other, want at most %d deep", ErrEncoding, maxDepth)

// unreadable returns an error if an item of n bytes and this depth cannot be decoded, else
// nil.
func unreadable(t reflect.Type, n uint64, depth int) error {
	err := tooLong(n)
	if err == nil && depth > maxDepth {
		err = errDepth
	}
	if err != nil {
		return fmt.Errorf("type %v: %w", t, err)
	}
	return nil
}
