package shard

import (
	"iter"

	"handloom/shard/handle"
	"handloom/shard/handlemap"
)

// Container is what a shard needs of its map: bulk steps, and single ones whose
// work outweighs a call through an interface. Lookups of users do not go through
// it. See the methods of [handlemap.Map].
type Container[T any] interface {
	TypeID() uint16
	Len() int
	Rows() int // positions that a pass has to visit
	Get(h handle.Of[T]) (*T, bool)
	Has(h handle.Of[T]) bool
	Put(id handle.ID, v *T) // replaces the item that id names, if there is one
	All() iter.Seq2[handle.Of[T], *T]

	Insert(v T) (handle.Of[T], error)
	InsertItems(items []T, dst []handle.Of[T]) ([]handle.Of[T], error)
	CanInsert(n, erased, depleting int) error
	HasRoom(n int) bool
	ReserveMore(n int)

	Mark(marks *handlemap.Marks, id handle.ID) handlemap.Marking
	MarkItems(marks *handlemap.Marks, ids []handle.ID, odd []handlemap.Odd) []handlemap.Odd
	VisitMarked(marks *handlemap.Marks, f func(h handle.Of[T], v *T))
	IsMarked(marks *handlemap.Marks, id handle.ID) bool
	EraseMarked(marks *handlemap.Marks) int
	Clear()

	CopyTo(dst Container[T], clone func(dst, src *T)) Container[T]

	Stats() handlemap.Stats
	Verify() error
	Digest() uint64
}

// Packed is a packed map as a [Container].
type Packed[T any] struct{ handlemap.Map[T] }

// NewPacked returns an empty one, or the error of [handlemap.New].
func NewPacked[T any](o handlemap.Options) (*Packed[T], error) {
	p := new(Packed[T])
	if err := p.Init(o); err != nil {
		return nil, err
	}
	return p, nil
}

// Rows returns the number of items: rows have no gaps.
func (p *Packed[T]) Rows() int { return p.Len() }

// Put replaces the item that id names, if there is one, and notes the change for
// Defragment.
func (p *Packed[T]) Put(id handle.ID, v *T) {
	if row, ok := p.RowOf(handle.Of[T]{ID: id}); ok {
		p.Items()[row] = *v
		p.TouchRows(row, row+1)
	}
}
