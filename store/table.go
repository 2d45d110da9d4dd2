package store

import (
	"iter"

	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/items"
)

// Table holds all items of one type T in a store, packed: items move when others
// are erased, so that passes run over slices without gaps. [Register] makes one.
//
// The guide's pages are guide/quick-start.md and guide/size-a-table.md.
type Table[T any] struct {
	maps  [MaxShards]*dense.Set // by typeId & 63; unused entries point at an empty map
	core  table
	visit func(c Chunk[T]) // of the ForEach that runs
}

// Register adds a table of items of type T to s. What keeps it from that is a mistake of
// the program: Register panics with an error, of which [errors.Is] tells [ErrPhase] (a phase
// is open) and [ErrClosed], and which names every other fault: a duplicate name, typeIds
// that clash or do not fit, more than 64 shards, sizes that are negative or too large,
// handles in T where a flush cannot make them real. The store is unchanged then.
func Register[T any](s *Store, o TableOptions[T]) *Table[T] {
	t := new(Table[T])
	t.core.lookups.packed = &t.maps
	if err := t.core.register(s, "Register", untypedOptions(o), items.For[T](), nil); err != nil {
		panic(err)
	}
	t.core.pass.init(&t.core, t.task)
	return t
}

func (t *Table[T]) resource() resource { return resource{table: &t.core} }
func (t *Table[T]) isNil() bool        { return t == nil }

// Name returns the name of the table.
func (t *Table[T]) Name() string { return t.core.name }

// Len returns the number of items, in O(shards) time.
func (t *Table[T]) Len() int {
	if check.Cheap {
		t.core.lookup("Len")
	}
	return t.core.len()
}

// Handle returns id as a handle of the table, and whether its typeId is one of
// the table's. It does not look whether the item lives.
func (t *Table[T]) Handle(id ID) (Handle[T], bool) {
	if t.core.owns(id) {
		return Handle[T]{ID: id}, true
	}
	return Handle[T]{}, false
}

// Get returns a pointer to the item that h names, and whether there is one. It
// takes O(1) time and inlines (op=get/impl=table).
//
// It may be called from any goroutine inside a phase that changes nothing, and
// between phases by the goroutine that flushes. The pointer is good until the
// phase ends.
func (t *Table[T]) Get(h Handle[T]) (*T, bool) {
	if check.Cheap {
		t.core.lookup("Get")
	}
	return dense.Find[T](t.maps[h.ID>>48&(MaxShards-1)], h.ID)
}

// Has reports whether h names an item; see [Table.Get].
func (t *Table[T]) Has(h Handle[T]) bool {
	if check.Cheap {
		t.core.lookup("Has")
	}
	_, ok := dense.Find[T](t.maps[h.ID>>48&(MaxShards-1)], h.ID)
	return ok
}

// At returns a pointer to the item that h names, as [Table.Get] does, and
// panics with a [*StaleError] if there is none.
func (t *Table[T]) At(h Handle[T]) *T {
	if check.Cheap {
		t.core.lookup("At")
	}
	m := t.maps[h.ID>>48&(MaxShards-1)]
	v, ok := dense.Find[T](m, h.ID)
	if !ok {
		panic(m.NewStaleError(h.ID))
	}
	return v
}

// All iterates over handles and items: shards by typeId, each in dense order.
// Nothing structural may change meanwhile.
func (t *Table[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		if check.Cheap {
			t.core.lookup("All")
		}
		for i := range t.core.order {
			for h, v := range dense.All[T](t.mapOf(i)) {
				if !yield(h, v) {
					return
				}
			}
		}
	}
}

// mapOf returns the map of a shard.
func (t *Table[T]) mapOf(shard int) *dense.Set { return t.maps[(int(t.core.first)+shard)%MaxShards] }
