package cells

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"handloom/store"
)

// ID names a cell: a store with its own log. Each new log needs a new ID, because peers
// remember the messages of the old log. 0 is invalid.
type ID uint64

// NewID returns a random ID.
func NewID() ID {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return max(1, ID(binary.LittleEndian.Uint64(b[:])))
}

const idDigits = 16

// String returns the ID as 16 hexadecimal digits.
func (id ID) String() string { return fmt.Sprintf("%0*x", idDigits, uint64(id)) }

// Stream returns the stream name of the cell's log.
func (id ID) Stream() string { return "HANDLOOM-" + id.String() }

var errID = errors.New("want 16 lower-case hexadecimal digits, not all 0")

// ParseID is the inverse of [ID.String].
func ParseID(s string) (ID, error) {
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil || n == 0 || ID(n).String() != s {
		return 0, fmt.Errorf("cells: ID: got %q, %w", s, errID)
	}
	return ID(n), nil
}

// Ref names an item among all cells, forever: a log issues each handle once. Handles of
// different cells may be equal, so tables take no Ref; see [Ref.In]. It has 16 bytes and no
// pointers. The flush resolves a provisional handle in a Ref.
type Ref[T any] struct {
	Cell   ID
	Handle store.Handle[T]
}

// In returns the handle and whether the item belongs to the cell self.
func (r Ref[T]) In(self ID) (store.Handle[T], bool) {
	if r.Cell != self || self == 0 {
		return store.Handle[T]{}, false
	}
	return r.Handle, true
}

// String returns cell/handle.
func (r Ref[T]) String() string { return r.Cell.String() + "/" + r.Handle.String() }
