package store

import (
	"context"
	"iter"

	"handloom/internal/check"
	"handloom/shard"
	"handloom/shard/handlemap"
	"handloom/shard/slotmap"
)

// StableTable holds all items of one type T in a store at addresses that do not
// change while they live. It does what a [Table] does, but for ordering, and
// passes step over the gaps that erases leave; take it where a *T has to stay
// good across flushes.
type StableTable[T any] struct {
	maps [MaxShards]*slotmap.Map[T] // by typeId & 63; unused entries point at an empty map
	tableBase[T]
	pass pass[T, StableChunk[T]]
	view func(shard, lo, hi, index int) StableRows[T] // rows, bound once
}

// RegisterStable adds a table whose items never move to s; see [Register].
func RegisterStable[T any](s *Store, o TableOptions[T]) (*StableTable[T], error) {
	t := new(StableTable[T])
	t.forget = func() {
		none := new(slotmap.Map[T])
		_ = none.Init(slotmap.Options{TypeID: int(t.first)}) // which is a typeId
		fill(t.maps[:], none)
	}
	err := t.register(s, o, func(o handlemap.Options) (shard.Container[T], error) {
		m, err := shard.NewStable[T](o)
		if err == nil {
			t.maps[o.TypeID%MaxShards] = &m.Map
		}
		return m, err
	})
	if err != nil {
		return nil, err
	}
	t.pass.init(&t.tableBase, t.chunkOf)
	t.view = t.rows
	return t, nil
}

// Get returns a pointer to the item that h names, and whether there is one. It
// takes O(1) time (op=get/impl=stabletable). Who may call it is as for
// [Table.Get]; the pointer is good until the item is erased.
func (t *StableTable[T]) Get(h Handle[T]) (*T, bool) {
	if check.Cheap {
		t.lookup("Get")
	}
	return t.maps[h.ID>>48&(MaxShards-1)].Get(h)
}

// Has reports whether h names an item; see [StableTable.Get].
func (t *StableTable[T]) Has(h Handle[T]) bool {
	if check.Cheap {
		t.lookup("Has")
	}
	return t.maps[h.ID>>48&(MaxShards-1)].Has(h)
}

// At returns a pointer to the item that h names, as [StableTable.Get] does, and
// panics with a [*StaleError] if there is none.
func (t *StableTable[T]) At(h Handle[T]) *T {
	if check.Cheap {
		t.lookup("At")
	}
	return t.maps[h.ID>>48&(MaxShards-1)].At(h)
}

// All iterates over handles and items: shards by typeId, each in the order of
// slots. Nothing structural may change meanwhile. It takes O(live + rows/64)
// time.
func (t *StableTable[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		for i := range t.order {
			for h, v := range t.mapOf(i).All() {
				if !yield(h, v) {
					return
				}
			}
		}
	}
}

// Remove erases the item that h names and reports whether there was one; see
// [Table.Remove]. It takes O(1) time and moves no item.
func (t *StableTable[T]) Remove(w *Writer, h Handle[T]) bool {
	w.use(t.store, &t.tableBase, "Remove")
	return t.maps[h.ID>>48&(MaxShards-1)].Erase(h)
}

// Maps returns the maps of the shards, by typeId, with their whole vocabulary;
// see [Table.Maps].
func (t *StableTable[T]) Maps(w *Writer) []*slotmap.Map[T] {
	w.use(t.store, &t.tableBase, "Maps")
	maps := make([]*slotmap.Map[T], len(t.order))
	for i := range maps {
		maps[i] = t.mapOf(i)
	}
	return maps
}

// mapOf returns the map of a shard.
func (t *StableTable[T]) mapOf(shard int) *slotmap.Map[T] {
	return t.maps[(int(t.first)+shard)%MaxShards]
}

// StableRows is a run of rows of a stable table given to one task that only
// reads. Rows without an item are stepped over.
type StableRows[T any] struct {
	Index int // of the run; depends on row counts alone

	items  *slotmap.Map[T]
	lo, hi int
}

// All iterates over the handles and items of the run, in the order of slots.
func (r StableRows[T]) All() iter.Seq2[Handle[T], *T] { return r.items.Range(r.lo, r.hi) }

// StableChunk is a run of rows of a stable table given to one task, which may
// write the items. Rows without an item are stepped over.
type StableChunk[T any] struct {
	Queue Queue // the task's own
	StableRows[T]

	table  *StableTable[T]
	serial uint32 // of the pass
}

// All iterates over the handles and items of the chunk, in the order of slots. It
// panics when the pass has ended.
func (c StableChunk[T]) All() iter.Seq2[Handle[T], *T] {
	if c.serial != c.table.pass.serial {
		panic(keptChunk{"All", c.Index, c.table.name})
	}
	return c.StableRows.All()
}

// ForEach runs f for every chunk of the table, in parallel; see [Table.ForEach].
// Chunks are cut by rows, the empty ones included.
func (t *StableTable[T]) ForEach(ctx context.Context, f func(ctx context.Context, c StableChunk[T]) error) error {
	return t.pass.forEach(ctx, f)
}

func (t *StableTable[T]) chunkOf(shard, lo, hi, index int, q Queue) StableChunk[T] {
	return StableChunk[T]{Queue: q, StableRows: t.rows(shard, lo, hi, index), table: t, serial: t.pass.serial}
}

// ReduceStable computes one partial result per chunk of t with f, in parallel,
// and combines them in chunk order; see [Reduce].
func ReduceStable[T, R any](ctx context.Context, t *StableTable[T], f func(ctx context.Context, r StableRows[T]) (R, error), combine func(a, b R) R) (R, error) {
	return reduce(ctx, &t.tableBase, t.view, f, combine)
}

func (t *StableTable[T]) rows(shard, lo, hi, index int) StableRows[T] {
	return StableRows[T]{Index: index, items: t.mapOf(shard), lo: lo, hi: hi}
}
