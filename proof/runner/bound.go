package runner

import (
	"context"
	"iter"

	"handloom/proof/model"
	"handloom/store"
)

// bound is a table of any kind and item type, with the items of the models and
// handles as numbers.
type bound interface {
	// keeps returns the item as the type stores it: fields that it cannot hold are 0.
	keeps(i model.Item) model.Item

	// Commands of a task.
	emplace(q store.Queue, i model.Item) uint64
	emplaceItems(q store.Queue, items []model.Item, share bool) []uint64
	staged(q store.Queue, id uint64, i model.Item) bool
	erase(q store.Queue, id uint64)
	eraseItems(q store.Queue, ids []uint64)
	EraseAll(q store.Queue)
	put(q store.Queue, id uint64, i model.Item)
	resolve(id uint64) (uint64, bool)

	// Reads. The store allows them to any goroutine while nothing changes.
	get(id uint64) (model.Item, bool)
	has(id uint64) bool
	Len() int
	all() iter.Seq2[uint64, model.Item]
	changes() model.Changes
	written() []uint64

	// Passes. f runs on the goroutine of its task.
	forEach(ctx context.Context, f func(c chunk)) error
	reduce(ctx context.Context, f func()) (model.Sum, error) // f is called for each chunk, unless nil

	// Changes at once, inside a Frame.
	insert(w *store.Writer, i model.Item) uint64
	remove(w *store.Writer, id uint64) bool
	Clear(w *store.Writer)

	// Columns and sparse data. addPart is called between phases.
	addPart(optional bool, kind, name string, changes bool) error
	parts() []boundPart

	Name() string
}

// orderedTable is a packed table, which has an order of rows and chunks of rows.
type orderedTable interface {
	bound
	sortTable(ctx context.Context, w *store.Writer, compare func(a, b model.Item) int) error
	sortTableByKey(ctx context.Context, w *store.Writer, key func(model.Item) uint64) error
	defragmentTable(ctx context.Context, w *store.Writer, compare func(a, b model.Item) int, budget int) (moves int, done bool, err error)
	forEachRows(ctx context.Context, f func(c chunk)) error
}

// chunk is a chunk of any table or sparse data, valid inside its task.
type chunk struct {
	queue    store.Queue
	index    int
	handles  []uint64
	change   func(f func(*uint64) bool, note bool)
	erase    func(i int)         // nil: by handle
	wrote    func(column, i int) // notes a write; column items for the item
	wroteAll func()
	elements func(column int, write bool) elements // by row of the chunk
}

// common are the methods that both kinds of tables share.
type common[T any] interface {
	store.TableOf[T]
	Emplace(q store.Queue, v T) store.Handle[T]
	EmplaceItems(q store.Queue, items []T, dst []store.Handle[T]) []store.Handle[T]
	Staged(q store.Queue, p store.Handle[T]) (*T, bool)
	Erase(q store.Queue, h store.Handle[T])
	EraseItems(q store.Queue, hs []store.Handle[T])
	EraseAll(q store.Queue)
	Put(q store.Queue, h store.Handle[T], v T)
	Resolve(p store.Handle[T]) (store.Handle[T], bool)
	Has(h store.Handle[T]) bool
	Get(h store.Handle[T]) (*T, bool)
	Len() int
	All() iter.Seq2[store.Handle[T], *T]
	Insert(w *store.Writer, v T) store.Handle[T]
	Remove(w *store.Writer, h store.Handle[T]) bool
	Clear(w *store.Writer)
}

// binding embeds nothing: each promoted method is compiled once more for each item type.
type binding[T any] struct {
	common     common[T]
	kind       kind[T]
	components []boundPart
}

func (b *binding[T]) EraseAll(q store.Queue) { b.common.EraseAll(q) }
func (b *binding[T]) Len() int               { return b.common.Len() }
func (b *binding[T]) Clear(w *store.Writer)  { b.common.Clear(w) }
func (b *binding[T]) Name() string           { return b.common.Name() }

// handleOf returns a typed handle of any bits: programs use forged handles.
func handleOf[T any](id uint64) store.Handle[T] { return store.Handle[T]{ID: store.ID(id)} }

// handlesOf is [handleOf] for several handles.
func handlesOf[T any](ids []uint64) []store.Handle[T] {
	hs := make([]store.Handle[T], len(ids))
	for i, id := range ids {
		hs[i] = handleOf[T](id)
	}
	return hs
}

// idsOf returns the bits of handles.
func idsOf[T any](hs []store.Handle[T]) []uint64 {
	ids := make([]uint64, len(hs))
	for i, h := range hs {
		ids[i] = uint64(h.ID)
	}
	return ids
}

func (b *binding[T]) keeps(i model.Item) model.Item { return b.kind.keeps(i) }

func (b *binding[T]) emplace(q store.Queue, i model.Item) uint64 {
	return uint64(b.common.Emplace(q, b.kind.make(i)).ID)
}

func (b *binding[T]) emplaceItems(q store.Queue, items []model.Item, share bool) []uint64 {
	made := b.kind.makeAll(items)
	for i := range made {
		// All items share the links of the first, in one slice.
		if share {
			b.kind.share(&made[i], &made[0])
		}
	}
	return idsOf(b.common.EmplaceItems(q, made, nil))
}

func (b *binding[T]) staged(q store.Queue, id uint64, i model.Item) bool {
	v, ok := b.common.Staged(q, handleOf[T](id))
	if ok {
		*v = b.kind.make(i)
	}
	return ok
}

func (b *binding[T]) erase(q store.Queue, id uint64) { b.common.Erase(q, handleOf[T](id)) }

func (b *binding[T]) eraseItems(q store.Queue, ids []uint64) {
	b.common.EraseItems(q, handlesOf[T](ids))
}

func (b *binding[T]) put(q store.Queue, id uint64, i model.Item) {
	b.common.Put(q, handleOf[T](id), b.kind.make(i))
}

func (b *binding[T]) resolve(id uint64) (uint64, bool) {
	h, ok := b.common.Resolve(handleOf[T](id))
	return uint64(h.ID), ok
}

func (b *binding[T]) get(id uint64) (model.Item, bool) {
	v, ok := b.common.Get(handleOf[T](id))
	if !ok {
		return model.Item{}, false
	}
	// A copy: the pointer is invalid after the next change.
	return b.kind.read(v), true
}

func (b *binding[T]) has(id uint64) bool { return b.common.Has(handleOf[T](id)) }

func (b *binding[T]) all() iter.Seq2[uint64, model.Item] {
	return func(yield func(uint64, model.Item) bool) {
		for h, v := range b.common.All() {
			if !yield(uint64(h.ID), b.kind.read(v)) {
				return
			}
		}
	}
}

func (b *binding[T]) changes() (c model.Changes) {
	// The lists are compared in their order, which is part of the promise.
	for h := range store.Created(b.common) {
		c.Created = append(c.Created, uint64(h.ID))
	}
	for h, v := range store.Erased(b.common) {
		c.Erased, c.Values = append(c.Erased, uint64(h.ID)), append(c.Values, b.kind.read(v))
	}
	return c
}

func (b *binding[T]) written() []uint64 { return listed(store.Written(b.common), b.common.Get) }

// listed returns the handles of a list, with null for each entry whose pointer is not the
// item of its handle. The list of a store must have the addresses that lookups return.
func listed[T, C any](list iter.Seq2[store.Handle[T], *C], get func(store.Handle[T]) (*C, bool)) (ids []uint64) {
	for h, v := range list {
		if at, _ := get(h); at != v {
			h.ID = 0
		}
		ids = append(ids, uint64(h.ID))
	}
	return ids
}

func (b *binding[T]) insert(w *store.Writer, i model.Item) uint64 {
	return uint64(b.common.Insert(w, b.kind.make(i)).ID)
}

func (b *binding[T]) remove(w *store.Writer, id uint64) bool {
	return b.common.Remove(w, handleOf[T](id))
}

// fold returns the sum of a chunk. Only the order of items decides the result.
func (b *binding[T]) fold(f func(), items iter.Seq[*T]) (s model.Sum) {
	if f != nil {
		f()
	}
	for v := range items {
		s = model.FoldItem(s, b.kind.read(v).Key)
	}
	return s
}

// changeKey changes the key of an item in place and reports whether it has one and f
// changed it.
func (b *binding[T]) changeKey(v *T, f func(*uint64) bool) bool {
	return b.kind.key != nil && f(b.kind.key(v))
}
