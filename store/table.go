package store

import (
	"iter"

	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Table holds all items of one type T in a store, packed: the last item fills the gap of
// an erased one, so that passes read slices without gaps. [Register] makes one.
//
// See guide/quick-start.md and guide/size-a-table.md.
type Table[T any] struct {
	maps [MaxShards]*dense.Set // by typeId & 63; see lookups
	core table
}

// Register adds a table of items of type T to s. Failures are mistakes of the program, so
// Register panics with an error, and s is unchanged. The error wraps [ErrPhase] (a phase
// is open) or [ErrClosed], or names every fault: a duplicate name, conflicting or invalid
// typeIds, more than 64 shards, negative or too large sizes, handles in T that a flush
// cannot reach.
func Register[T any](s *Store, o TableOptions[T]) *Table[T] {
	t := new(Table[T])
	t.core.lookups.packed = &t.maps
	t.core.registerAs(s, untypedOptions(&o), items.For[T](), nil)
	t.core.pass.init(domain{table: &t.core})
	return t
}

func (t *Table[T]) resource() resource {
	if t == nil {
		return resource{}
	}
	return resource{table: &t.core}
}

// Name returns the name of the table.
func (t *Table[T]) Name() string { return t.core.name }

// Len returns the number of items, in O(shards) time.
func (t *Table[T]) Len() int {
	if check.Cheap {
		t.core.lookup("Len")
	}
	return t.core.len()
}

// Handle returns id as a handle of the table, and whether its typeId belongs to the
// table. It does not check whether the item lives.
func (t *Table[T]) Handle(id ID) (Handle[T], bool) {
	if t.core.owns(id) {
		return Handle[T]{ID: id}, true
	}
	return Handle[T]{}, false
}

// Get returns a pointer to the item h, and whether it exists. It takes O(1) time and
// inlines (op=get/impl=table).
//
// Any goroutine inside a phase that changes nothing may call it, and between phases the
// goroutine that flushes. The pointer is valid until the phase ends.
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

// At returns the pointer of [Table.Get]. It panics with a [*StaleError] if the item does
// not exist.
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
//
// Meanwhile a [Writer] may remove the current item and insert others, which may or may not
// be visited. After any other removal or change of order, also by a flush, the next step
// panics, or the end of the loop if another shard changed: remove other items after it.
func (t *Table[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		if check.Cheap {
			t.core.lookup("All")
		}
		sum := t.core.rowChanges()
		for i := range t.core.order {
			m := t.core.packed(i)
			sum -= m.Changes()
			for h, v := range dense.All[T](m) {
				if !yield(h, v) {
					return
				}
			}
			sum += m.Changes()
		}
		slotset.MustEqual(sum, t.core.rowChanges())
	}
}

// rowChanges returns the sum over the shards, which shows changes of other shards than the
// one of an iteration.
func (t *table) rowChanges() (sum uint64) {
	for i := range t.order {
		sum += t.packed(i).Changes()
	}
	return sum
}
