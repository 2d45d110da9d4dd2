package runner

import (
	"iter"
	"slices"

	"handloom/proof/model"
	"handloom/shard/handle"
	"handloom/shard/handlemap"
	"handloom/shard/slotmap"
	"handloom/store"
)

// boundMap is the map of a shard, packed or stable.
type boundMap interface {
	Clear()
	Reset()
	Reserve(n int)
	Shrink()
	Digest() uint64
	Verify() error
	Len() int
	insertItems(items []model.Item) ([]uint64, error)
	emplaceItems(n int, fill func(i int, id uint64) model.Item) ([]uint64, error)
	insertFunc(fill func(id uint64) model.Item) (uint64, error)
	erase(id uint64) bool
	take(id uint64) (model.Item, bool)
	eraseItems(ids []uint64) int
	eraseFunc(f func(model.Item) bool) int
	eraseBackward(f func(model.Item) bool)
	set(id, key uint64)
	vary(id uint64, field int) bool // false: there is no such field
	call(id, key uint64) bool
	has(id uint64) bool
	rowOf(id uint64) (int, bool)
	handleAt(row int) uint64
	backward() []uint64
	figures() model.Figures
	copied() (boundMap, uint64, error) // with its digest, which must be that of the map
	rows() []uint64
}

// orderedMap is a boundMap whose rows have an order to change.
type orderedMap interface {
	boundMap
	items() []model.Item
	sortFunc(compare func(a, b model.Item) int)
	sortByKey(key func(model.Item) uint64)
	sortRange(i, j int, compare func(a, b model.Item) int)
	sortAs(ids []uint64)
	partition(f func(model.Item) bool) int
	swap(a, b uint64) bool
	defragment(compare func(a, b model.Item) int, budget int) (moves int, done bool)
}

// commonMap is what maps of both kinds have in common.
type commonMap[T any] interface {
	InsertItems(items []T, dst []store.Handle[T]) ([]store.Handle[T], error)
	EmplaceItems(n int, f func(i int, h store.Handle[T], v *T), dst []store.Handle[T]) ([]store.Handle[T], error)
	InsertFunc(f func(h store.Handle[T], v *T)) (store.Handle[T], error)
	Get(h store.Handle[T]) (*T, bool)
	Has(h store.Handle[T]) bool
	Call(h store.Handle[T], f func(*T)) bool
	RowOf(h store.Handle[T]) (int, bool)
	HandleAt(row int) store.Handle[T]
	Erase(h store.Handle[T]) bool
	Take(h store.Handle[T]) (T, bool)
	EraseItems(hs []store.Handle[T]) int
	EraseFunc(f func(h store.Handle[T], v *T) bool) int
	Backward() iter.Seq2[store.Handle[T], *T]
	Handles() iter.Seq[store.Handle[T]]
	Clear()
	Reset()
	Reserve(n int)
	Shrink()
	Digest() uint64
	Verify() error
	Len() int
	Stats() handle.Stats
}

type mapBinding[T any] struct {
	commonMap[T]
	kind[T]
}

func (b *mapBinding[T]) insertItems(items []model.Item) ([]uint64, error) {
	hs, err := b.InsertItems(b.makeAll(items), make([]store.Handle[T], 1)) // which it appends to
	return idsOf(hs)[1:], err
}

func (b *mapBinding[T]) emplaceItems(n int, fill func(i int, id uint64) model.Item) ([]uint64, error) {
	hs, err := b.EmplaceItems(n, func(i int, h store.Handle[T], v *T) { *v = b.make(fill(i, uint64(h.ID))) }, nil)
	return idsOf(hs), err
}

func (b *mapBinding[T]) insertFunc(fill func(id uint64) model.Item) (uint64, error) {
	h, err := b.InsertFunc(func(h store.Handle[T], v *T) { *v = b.make(fill(uint64(h.ID))) })
	return uint64(h.ID), err
}

func (b *mapBinding[T]) erase(id uint64) bool { return b.Erase(handleOf[T](id)) }

func (b *mapBinding[T]) take(id uint64) (model.Item, bool) {
	v, ok := b.Take(handleOf[T](id))
	if !ok {
		return model.Item{}, false
	}
	return b.read(&v), true
}

func (b *mapBinding[T]) eraseItems(ids []uint64) int { return b.EraseItems(handlesOf[T](ids)) }

func (b *mapBinding[T]) eraseFunc(f func(model.Item) bool) int {
	return b.EraseFunc(func(_ store.Handle[T], v *T) bool { return f(b.read(v)) })
}

func (b *mapBinding[T]) eraseBackward(f func(model.Item) bool) {
	for h, v := range b.Backward() {
		if f(b.read(v)) {
			b.Erase(h)
		}
	}
}

func (b *mapBinding[T]) set(id, key uint64) {
	if v, ok := b.Get(handleOf[T](id)); ok && b.key != nil {
		*b.key(v) = key
	}
}

func (b *mapBinding[T]) vary(id uint64, field int) bool {
	v, ok := b.Get(handleOf[T](id))
	if ok = ok && field < len(b.fields); ok {
		b.fields[field](v)
	}
	return ok
}

func (b *mapBinding[T]) call(id, key uint64) bool {
	return b.Call(handleOf[T](id), func(v *T) {
		if b.key != nil {
			*b.key(v) = key
		}
	})
}

func (b *mapBinding[T]) has(id uint64) bool          { return b.Has(handleOf[T](id)) }
func (b *mapBinding[T]) rowOf(id uint64) (int, bool) { return b.RowOf(handleOf[T](id)) }
func (b *mapBinding[T]) handleAt(row int) uint64     { return uint64(b.HandleAt(row).ID) }

func (b *mapBinding[T]) backward() []uint64 {
	var ids []uint64
	for h := range b.Backward() {
		ids = append(ids, uint64(h.ID))
	}
	return ids
}

func (b *mapBinding[T]) figures() model.Figures {
	s := b.Stats()
	return model.Figures{Live: s.Live, Vacant: s.Vacant, Depleted: s.Depleted, Slots: s.Slots}
}

func (b *mapBinding[T]) rows() []uint64 { return idsOf(slices.Collect(b.Handles())) }

type packedMap[T any] struct {
	mapBinding[T]
	m *handlemap.Map[T]
}

func (b *packedMap[T]) set(id, key uint64) {
	b.mapBinding.set(id, key)
	b.m.Touch(handleOf[T](id))
}

func (b *packedMap[T]) call(id, key uint64) bool {
	defer b.m.Touch(handleOf[T](id))
	return b.mapBinding.call(id, key)
}

func (b *packedMap[T]) items() []model.Item {
	var all []model.Item
	for i := range b.m.Items() {
		all = append(all, b.read(&b.m.Items()[i]))
	}
	return all
}

func (b *packedMap[T]) copied() (boundMap, uint64, error) {
	c := b.m.Clone()
	return &packedMap[T]{mapBinding[T]{c, b.kind}, c}, c.Digest(), c.Verify()
}

func (b *packedMap[T]) sortFunc(compare func(a, b model.Item) int) { b.m.SortFunc(b.compares(compare)) }

func (b *packedMap[T]) sortByKey(key func(model.Item) uint64) {
	b.m.SortByKey(func(v *T) uint64 { return key(b.read(v)) })
}

func (b *packedMap[T]) sortRange(i, j int, compare func(a, b model.Item) int) {
	b.m.SortRange(i, j, b.compares(compare))
}

func (b *packedMap[T]) sortAs(ids []uint64) { b.m.SortAs(handlesOf[T](ids)) }

func (b *packedMap[T]) partition(f func(model.Item) bool) int {
	return b.m.Partition(func(v *T) bool { return f(b.read(v)) })
}

func (b *packedMap[T]) swap(x, y uint64) bool { return b.m.Swap(handleOf[T](x), handleOf[T](y)) }

func (b *packedMap[T]) defragment(compare func(a, b model.Item) int, budget int) (moves int, done bool) {
	return b.m.Defragment(b.compares(compare), budget)
}

type stableMap[T any] struct {
	mapBinding[T]
	m *slotmap.Map[T]
}

func (b *stableMap[T]) copied() (boundMap, uint64, error) {
	c := b.m.Clone()
	return &stableMap[T]{mapBinding[T]{c, b.kind}, c}, c.Digest(), c.Verify()
}
