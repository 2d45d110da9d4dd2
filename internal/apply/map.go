package apply

import (
	"fmt"
	"unsafe"

	"handloom/internal/digest"
	"handloom/internal/items"
	"handloom/internal/pages"
	"handloom/internal/rows"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Map is what a shard needs of its map: bulk steps, told by handles and values
// without their type. Lookups of users do not go through it.
type Map interface {
	TypeID() uint16
	Len() int
	Rows() int // positions that a pass has to visit
	Has(id handle.ID) bool
	Item(id handle.ID) unsafe.Pointer // nil: there is none
	RowOf(id handle.ID) (row int, ok bool)
	IDAt(row int) handle.ID // null: there is none
	All(yield func(id handle.ID, item unsafe.Pointer) bool)
	From(n int, yield func(id handle.ID, item unsafe.Pointer) bool) // All, without the first n

	PutItems(ids []handle.ID, values items.Slice)
	InsertItems(values items.Slice, dst []handle.ID) ([]handle.ID, error)
	CanInsert(n, erased, depleting int) error
	HasRoom(n int) bool
	ReserveMore(n int)

	Mark(marks *sparse.Marks, id handle.ID) sparse.Marking
	MarkItems(marks *sparse.Marks, ids []handle.ID, unmarked []sparse.Unmarked) []sparse.Unmarked
	MarkEvery(marks *sparse.Marks)
	Marked(marks *sparse.Marks, yield func(id handle.ID, item unsafe.Pointer) bool)
	IsMarked(marks *sparse.Marks, id handle.ID) bool
	EraseMarked(marks *sparse.Marks) int
	Clear()

	Stats() sparse.Stats
	Verify() error
	Digest() uint64
	DigestTo(h *digest.Hash)
	Load(in *digest.Decoder) // the inverse of DigestTo, for a map never used
}

// Copy copies the whole state of a map into to, which is another of its kind or
// nil for a new one, and returns it; see handlemap.Map.CopyTo and slotmap.Map.CopyTo.
func Copy(from, to Map, clones rows.Clones) Map {
	if to == nil {
		to = EmptyLike(from)
	}
	switch from := from.(type) {
	case *rows.Dense:
		from.CopyTo(to.(*rows.Dense), clones)
	case *pages.Stable:
		from.CopyTo(to.(*pages.Stable), clones.Items)
	default:
		panic(fmt.Sprintf("shard: a map of type %T", from))
	}
	return to
}

// EmptyLike returns a map of the same kind and item type that was never used.
func EmptyLike(m Map) Map {
	switch m := m.(type) {
	case *rows.Dense:
		return m.EmptyLike()
	case *pages.Stable:
		return m.EmptyLike()
	}
	panic(fmt.Sprintf("shard: a map of type %T", m))
}

// Become takes the state of a map of the same kind out of it.
func Become(m, from Map) {
	switch m := m.(type) {
	case *rows.Dense:
		m.Become(from.(*rows.Dense))
	case *pages.Stable:
		m.Become(from.(*pages.Stable))
	default:
		panic(fmt.Sprintf("shard: a map of type %T", m))
	}
}
