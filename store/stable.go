package store

import (
	"context"
	"iter"
	"unsafe"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/paged"
)

// StableTable holds all items of one type T at addresses that do not change while the
// items live. It has all features of a [Table] except sorting, and its passes skip the
// gaps of erased items. Use it if a *T must stay valid across flushes.
//
// See guide/size-a-table.md.
type StableTable[T any] struct {
	maps [MaxShards]*paged.Set // by typeId & 63; see lookups
	anyTable
}

// RegisterStable adds a table whose items never move to s; see [Register].
func RegisterStable[T any](s *Store, o TableOptions[T]) *StableTable[T] {
	t := new(StableTable[T])
	t.core.lookups.stable = &t.maps
	t.core.registerAs(s, untypedOptions(&o), items.For[T](), paged.TypeFor[T]())
	t.core.pass.init(domain{table: &t.core})
	return t
}

func (t *StableTable[T]) resource() resource {
	if t == nil {
		return resource{}
	}
	return resource{table: &t.core}
}

// Emplace is as [Table.Emplace].
func (t *StableTable[T]) Emplace(q Queue, v T) Handle[T] {
	return batch.Emplace(&t.core.recorder, batch.Queue(q), v)
}

// EmplaceItems is as [Table.EmplaceItems].
func (t *StableTable[T]) EmplaceItems(q Queue, values []T, dst []Handle[T]) []Handle[T] {
	return handle.Typed[T](t.core.recorder.EmplaceItems(batch.Queue(q), items.From(values), handle.IDs(dst)))
}

// Staged is as [Table.Staged].
func (t *StableTable[T]) Staged(q Queue, p Handle[T]) (*T, bool) {
	v := (*T)(t.core.recorder.Staged(batch.Queue(q), p.ID))
	return v, v != nil
}

// Erase is as [Table.Erase].
func (t *StableTable[T]) Erase(q Queue, h Handle[T]) { t.core.recorder.Erase(batch.Queue(q), h.ID) }

// EraseItems is as [Table.EraseItems].
func (t *StableTable[T]) EraseItems(q Queue, hs []Handle[T]) {
	t.core.recorder.EraseItems(batch.Queue(q), handle.IDs(hs))
}

// Put is as [Table.Put].
func (t *StableTable[T]) Put(q Queue, h Handle[T], v T) {
	batch.PutItem(&t.core.recorder, batch.Queue(q), h, v)
}

// Resolve is as [Table.Resolve].
func (t *StableTable[T]) Resolve(p Handle[T]) (Handle[T], bool) {
	id, ok := t.core.resolve(p.ID)
	return Handle[T]{ID: id}, ok
}

// Get returns a pointer to the item h, and whether it exists. It takes O(1) time and
// inlines (op=get/impl=stabletable). Callers are as for [Table.Get]; the pointer is valid
// until the item is erased, or a Load.
func (t *StableTable[T]) Get(h Handle[T]) (*T, bool) {
	if check.Cheap {
		t.core.lookup("Get")
	}
	return paged.Find[T](t.maps[h.ID>>48&(MaxShards-1)], h.ID)
}

// Has reports whether h names an item; see [StableTable.Get].
func (t *StableTable[T]) Has(h Handle[T]) bool {
	if check.Cheap {
		t.core.lookup("Has")
	}
	_, ok := paged.Find[T](t.maps[h.ID>>48&(MaxShards-1)], h.ID)
	return ok
}

// At returns the pointer of [StableTable.Get]. It panics with a [*StaleError] if the item
// does not exist.
func (t *StableTable[T]) At(h Handle[T]) *T {
	if check.Cheap {
		t.core.lookup("At")
	}
	m := t.maps[h.ID>>48&(MaxShards-1)]
	v, ok := paged.Find[T](m, h.ID)
	if !ok {
		panic(m.NewStaleError(h.ID))
	}
	return v
}

// All iterates over handles and items: shards by typeId, each in the order of slots. It
// takes O(live + rows/64) time. Any item may be removed meanwhile, and others inserted,
// which may or may not be visited.
func (t *StableTable[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		if check.Cheap {
			t.core.lookup("All")
		}
		for i := range t.core.order {
			for h, v := range paged.All[T](t.core.pages(i)) {
				if !yield(h, v) {
					return
				}
			}
		}
	}
}

// pages returns the map of a shard of a stable table.
func (t *table) pages(shard int) *paged.Set { return t.lookups.stable[(int(t.first)+shard)%MaxShards] }

// StableChunk is a run of rows of a stable table given to one task, valid until the task
// returns. In a ForEach the task may write the items; in a [Reduce] it reads them, and
// Wrote panics. Empty rows are skipped.
type StableChunk[T any] struct {
	Queue Queue // queue of the task; in a Reduce the zero Queue
	Index int   // index of the chunk; depends only on row counts

	items  *paged.Set
	lo, hi int
	pass   *pass
	wrote  *notes // nil: the table has no Changes
	serial uint32
}

// All iterates over the handles and items of the chunk, in the order of slots. It panics
// after the pass.
func (c *StableChunk[T]) All() iter.Seq2[Handle[T], *T] {
	if c.serial != c.pass.serial && c.pass != &reducing {
		panic(wrongChunk{"All", c.Index, c.pass})
	}
	return paged.Range[T](c.items, c.lo, c.hi)
}

// Wrote notes that the task has written the item h of the chunk; see [Chunk.Wrote].
func (c *StableChunk[T]) Wrote(h Handle[T]) {
	if c.serial != c.pass.serial {
		panic(wrongChunk{"Wrote", c.Index, c.pass})
	}
	if row := int(h.ID.Slot()); row < c.lo || row >= c.hi || !c.items.Has(h.ID) {
		panic(notInChunk{h.ID, c.Index, c.pass.table.name})
	}
	if c.wrote != nil {
		c.wrote.rows = append(c.wrote.rows, int(h.ID.Slot()))
	}
}

// ForEach runs f for every chunk of the table, in parallel; see [Table.ForEach]. Chunks
// count empty rows, too.
func (t *StableTable[T]) ForEach(ctx context.Context, f func(c StableChunk[T])) error {
	check.Given(t != nil, "store: ForEach", "table")
	check.Given(f != nil, "store: ForEach", "function")
	return domain{table: &t.core}.forEach(ctx, opForEach, *(*func(untyped))(unsafe.Pointer(&f))) // see untyped
}

func (p *pass) stableChunk(index int) StableChunk[untyped] {
	shard, lo, hi := p.chunks.find(index)
	c := p.table.stableRows(shard, lo, hi, index)
	c.Queue, c.pass, c.serial = Queue(p.queues.Queue(index)), p, p.serial
	c.wrote = p.table.written.notesOf(index)
	return c
}
