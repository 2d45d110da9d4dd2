package store

import (
	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// Emplace records that v is to be created and returns its provisional handle;
// see [Table.Emplace].
func (t *StableTable[T]) Emplace(q Queue, v T) Handle[T] {
	return batch.Emplace(&t.core.recorder, batch.Queue(q), v)
}

// EmplaceItems records a create per item, in order; see [Table.EmplaceItems].
func (t *StableTable[T]) EmplaceItems(q Queue, values []T, dst []Handle[T]) []Handle[T] {
	return handle.Typed[T](t.core.recorder.EmplaceItems(batch.Queue(q), items.From(values), handle.IDs(dst)))
}

// Staged returns the value recorded in q under the provisional handle p, and
// whether q holds it; see [Table.Staged].
func (t *StableTable[T]) Staged(q Queue, p Handle[T]) (*T, bool) {
	v := (*T)(t.core.recorder.Staged(batch.Queue(q), p.ID))
	return v, v != nil
}

// Erase records that the item h names is to be erased; see [Table.Erase].
func (t *StableTable[T]) Erase(q Queue, h Handle[T]) { t.core.recorder.Erase(batch.Queue(q), h.ID) }

// EraseItems records an erase per handle; see [Table.Erase].
func (t *StableTable[T]) EraseItems(q Queue, hs []Handle[T]) {
	t.core.recorder.EraseItems(batch.Queue(q), handle.IDs(hs))
}

// EraseAll records that every item is to be erased which lives when the flush begins; see
// [Table.EraseAll].
func (t *StableTable[T]) EraseAll(q Queue) { t.core.recorder.EraseAll(batch.Queue(q)) }

// Put records that the item h names is to be replaced by v; see [Table.Put].
func (t *StableTable[T]) Put(q Queue, h Handle[T], v T) {
	batch.PutItem(&t.core.recorder, batch.Queue(q), h, v)
}

// Resolve returns the handle of the item that the provisional handle p was
// recorded for, and whether there is one; see [Table.Resolve].
func (t *StableTable[T]) Resolve(p Handle[T]) (Handle[T], bool) {
	id, ok := t.core.resolve(p.ID)
	return Handle[T]{ID: id}, ok
}
