package cells

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"handloom/store"
)

// ID names a cell: a store with a log of its own. It is drawn for each log that begins,
// and never used again, so that no cell takes another one's messages for those of the one
// that it knew. 0 is no cell.
type ID uint64

// NewID draws an ID.
func NewID() ID {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return max(1, ID(binary.LittleEndian.Uint64(b[:])))
}

const idDigits = 16

// String returns the ID as 16 hexadecimal digits.
func (id ID) String() string { return fmt.Sprintf("%0*x", idDigits, uint64(id)) }

// Stream returns the name by which servers know the log of the cell.
func (id ID) Stream() string { return "HANDLOOM-" + id.String() }

// Subject returns the subject of the log: who may publish on it owns the cell.
func (id ID) Subject() string { return "handloom.cell." + id.String() }

var errID = errors.New("an ID of a cell is 16 hexadecimal digits, not all 0")

// ParseID is the inverse of [ID.String].
func ParseID(s string) (ID, error) {
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil || n == 0 || ID(n).String() != s {
		return 0, fmt.Errorf("cells: %q: %w", s, errID)
	}
	return ID(n), nil
}

// Ref names an item among all cells, for ever: along a log no handle is issued twice,
// and a cell has one log. The handles of two cells are equal numbers for different items,
// so that no table takes a Ref; see [Ref.In].
//
// It has no pointers and 16 bytes. A provisional handle in a Ref is made real by the
// flush like any other.
type Ref[T any] struct {
	Cell   ID
	Handle store.Handle[T]
}

// In returns the handle, for a look-up in the cell own, and whether the item is of that
// cell at all.
func (r Ref[T]) In(self ID) (store.Handle[T], bool) {
	if r.Cell != self || self == 0 {
		return store.Handle[T]{}, false
	}
	return r.Handle, true
}

// String returns both parts, as cell/handle.
func (r Ref[T]) String() string { return r.Cell.String() + "/" + r.Handle.String() }
