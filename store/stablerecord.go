package store

import (
	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// Emplace records the creation of v and returns its provisional handle; see
// [Table.Emplace].
func (t *StableTable[T]) Emplace(q Queue, v T) Handle[T] {
	return batch.Emplace(&t.core.recorder, batch.Queue(q), v)
}

// EmplaceItems records a create per value, in order; see [Table.EmplaceItems].
func (t *StableTable[T]) EmplaceItems(q Queue, values []T, dst []Handle[T]) []Handle[T] {
	return handle.Typed[T](t.core.recorder.EmplaceItems(batch.Queue(q), items.From(values), handle.IDs(dst)))
}

// Staged returns the value recorded in q under the provisional handle p, and whether q
// holds it; see [Table.Staged].
func (t *StableTable[T]) Staged(q Queue, p Handle[T]) (*T, bool) {
	v := (*T)(t.core.recorder.Staged(batch.Queue(q), p.ID))
	return v, v != nil
}

// Erase records the erase of the item h; see [Table.Erase].
func (t *StableTable[T]) Erase(q Queue, h Handle[T]) { t.core.recorder.Erase(batch.Queue(q), h.ID) }

// EraseItems records an erase per handle; see [Table.Erase].
func (t *StableTable[T]) EraseItems(q Queue, hs []Handle[T]) {
	t.core.recorder.EraseItems(batch.Queue(q), handle.IDs(hs))
}

// EraseAll records the erase of every item that lives when the flush begins; see
// [Table.EraseAll].
func (t *StableTable[T]) EraseAll(q Queue) { t.core.recorder.EraseAll(batch.Queue(q)) }

// Put records the replacement of the item h by v; see [Table.Put].
func (t *StableTable[T]) Put(q Queue, h Handle[T], v T) {
	batch.PutItem(&t.core.recorder, batch.Queue(q), h, v)
}

// Resolve returns the handle of the item for the provisional handle p, and whether it
// exists; see [Table.Resolve].
func (t *StableTable[T]) Resolve(p Handle[T]) (Handle[T], bool) {
	if check.Cheap {
		t.core.lookup("Resolve")
	}
	id, ok := t.core.resolve(p.ID)
	return Handle[T]{ID: id}, ok
}
