package runner

import (
	"iter"

	"handloom/proof/model"
	"handloom/shard/handlemap"
	"handloom/store"
)

type boundMap interface {
	Clear()
	Reset()
	Len() int
	insertItems(items []model.Item) ([]uint64, error)
	emplaceItems(n int, fill func(i int, id uint64) model.Item) ([]uint64, error)
	erase(id uint64) bool
	eraseItems(ids []uint64) int
	eraseFunc(f func(model.Item) bool) int
	set(id, key uint64)
	has(id uint64) bool
	rows() []uint64
}

type commonMap[T any] interface {
	InsertItems(items []T, dst []store.Handle[T]) ([]store.Handle[T], error)
	EmplaceItems(n int, f func(i int, h store.Handle[T], v *T), dst []store.Handle[T]) ([]store.Handle[T], error)
	Get(h store.Handle[T]) (*T, bool)
	Has(h store.Handle[T]) bool
	Erase(h store.Handle[T]) bool
	EraseItems(hs []store.Handle[T]) int
	EraseFunc(f func(h store.Handle[T], v *T) bool) int
	All() iter.Seq2[store.Handle[T], *T]
	Clear()
	Reset()
	Len() int
}

type mapBinding[T any] struct {
	m    commonMap[T]
	kind kind[T]
}

func (b *mapBinding[T]) Clear()   { b.m.Clear() }
func (b *mapBinding[T]) Reset()   { b.m.Reset() }
func (b *mapBinding[T]) Len() int { return b.m.Len() }

func (b *mapBinding[T]) insertItems(items []model.Item) ([]uint64, error) {
	hs, err := b.m.InsertItems(b.kind.makeAll(items), make([]store.Handle[T], 1)) // InsertItems appends to it
	return idsOf(hs)[1:], err
}

func (b *mapBinding[T]) emplaceItems(n int, fill func(i int, id uint64) model.Item) ([]uint64, error) {
	hs, err := b.m.EmplaceItems(n, func(i int, h store.Handle[T], v *T) { *v = b.kind.make(fill(i, uint64(h.ID))) }, nil)
	return idsOf(hs), err
}

func (b *mapBinding[T]) erase(id uint64) bool { return b.m.Erase(handleOf[T](id)) }

func (b *mapBinding[T]) eraseItems(ids []uint64) int { return b.m.EraseItems(handlesOf[T](ids)) }

func (b *mapBinding[T]) eraseFunc(f func(model.Item) bool) int {
	return b.m.EraseFunc(func(_ store.Handle[T], v *T) bool { return f(b.kind.read(v)) })
}

func (b *mapBinding[T]) set(id, key uint64) {
	if v, ok := b.m.Get(handleOf[T](id)); ok && b.kind.key != nil {
		*b.kind.key(v) = key
	}
}

func (b *mapBinding[T]) has(id uint64) bool { return b.m.Has(handleOf[T](id)) }

func (b *mapBinding[T]) rows() (ids []uint64) {
	for h := range b.m.All() {
		ids = append(ids, uint64(h.ID))
	}
	return ids
}

type packedMap[T any] struct {
	mapBinding[T]
	packed *handlemap.Map[T]
}

func (b *packedMap[T]) set(id, key uint64) {
	b.mapBinding.set(id, key)
	b.packed.Touch(handleOf[T](id))
}
