package digest

import (
	"fmt"
	"reflect"
)

// Writers and readers of snapshots apply the same limits to every item that is not a memory
// type, so that everything written can be read.
const (
	MaxBytes = 64 << 20

	// maxDepth limits nested slices and maps of an item.
	maxDepth = 1000
)

// tooLong returns an error for an item of more than MaxBytes.
func tooLong(n uint64) error {
	if n <= MaxBytes {
		return nil
	}
	return fmt.Errorf("%w: an item of more than 64 MiB, got %d bytes, want at most %d", ErrEncoding, n, MaxBytes)
}

// isFixed reports whether all values take the same number of bytes.
func (n *node) isFixed() bool {
	for i := range n.ops {
		if o := &n.ops[i]; o.kind > opMemory && (o.kind != opArray || !o.elem.isFixed()) {
			return false
		}
	}
	return true
}

var errDepth = fmt.Errorf("%w: slices and maps within each other, want at most %d deep", ErrEncoding, maxDepth)

// unreadable returns the error of an item that no reader would accept, or nil.
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
