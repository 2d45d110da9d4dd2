package view

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"handloom/internal/check"
	"handloom/internal/entrance"
	"handloom/store"
)

// A View finds changes for any number of Clients: of the items of one table, or of one of its columns,
// or of its sparse data. V is the item, the element or the value.
type View[T, V any] struct {
	source source[T, V]
	name   string
	lists  entrance.Lists
	part   string // "": the table's items
	first  uint16 // typeId
	keep   uint64

	seen   entrance.Counts
	number uint64    // number of Advances
	shards [][]slot  // by typeId, then by slot
	pool   sync.Pool // of *scratch[T]
}

// A slot has the item that has data, and the last Advance that found it new or changed.
type slot struct {
	id      store.ID
	changed uint64
}

// source has the lists of a table, column or sparse data. at returns nil for an item without data.
type source[T, V any] struct {
	all, created, written, erased iter.Seq[store.Handle[T]]
	at                            func(h store.Handle[T]) *V
}

// New makes a View of the items of t. A client that does not acknowledge gets a Reset after keep
// Deltas. New panics unless t was registered with Changes.
func New[T any](t store.TableOf[T], keep int) *View[T, T] {
	get := items(t)
	at := func(h store.Handle[T]) *T {
		v, _ := get.Get(h)
		return v
	}
	return newView(t, "", keep, source[T, T]{handles(get.All()), handles(store.Created(t)), handles(store.Written(t)), handles(store.Erased(t)), at})
}

// A part is a [*store.Column] or a [*store.Sparse].
type part[T, V any] interface {
	store.Resource
	Get(h store.Handle[T]) (*V, bool)
	Written() iter.Seq2[store.Handle[T], *V]
}

// sparse is a [*store.Sparse], which not every item has.
type sparse[T, V any] interface {
	All() iter.Seq2[store.Handle[T], *V]
	Created() iter.Seq2[store.Handle[T], *V]
	Erased() iter.Seq2[store.Handle[T], *V]
}

// Of makes a View of a column or of sparse data of t: a client gets the element of each item in view,
// and again when it was written. An item without sparse data is not in view. See [New].
func Of[T, V any](t store.TableOf[T], p part[T, V], keep int) *View[T, V] {
	at := func(h store.Handle[T]) *V {
		v, _ := p.Get(h)
		return v
	}
	from := source[T, V]{handles(items(t).All()), handles(store.Created(t)), handles(p.Written()), handles(store.Erased(t)), at}
	if s, is := p.(sparse[T, V]); is {
		from.all, from.created = handles(s.All()), handles(s.Created())
		from.erased = func(yield func(store.Handle[T]) bool) {
			handles(store.Erased(t))(yield)
			handles(s.Erased())(yield) // only Advance iterates, and it never stops
		}
	}
	return newView(t, p.Name(), keep, from)
}

// getter is a table of either kind.
type getter[T any] interface {
	Get(h store.Handle[T]) (*T, bool)
	All() iter.Seq2[store.Handle[T], *T]
}

func items[T any](t store.TableOf[T]) getter[T] { return t.(getter[T]) }

func handles[T, V any](seq iter.Seq2[store.Handle[T], *V]) iter.Seq[store.Handle[T]] {
	return func(yield func(store.Handle[T]) bool) {
		for h := range seq {
			if !yield(h) {
				return
			}
		}
	}
}

func newView[T, V any](t store.TableOf[T], part string, keep int, from source[T, V]) *View[T, V] {
	if keep < 1 {
		panic(fmt.Sprintf("view: keep=%d Deltas, want at least 1, such as 32", keep))
	}
	lists := store.ChangesOf(t).(interface {
		Entrance(entrance.Key) entrance.Lists
	}).Entrance(entrance.Key{})
	first, n := lists.TypeIDs()
	v := &View[T, V]{source: from, name: t.Name(), lists: lists, part: part, first: first, keep: uint64(keep), shards: make([][]slot, n)}
	v.pool.New = func() any { return newScratch[T]() }
	return v
}

// Advance notes what changed since the last Advance. Call it in a Read after each frame, before the
// Updates, and not during one. It takes O(changes) time; the first one, and one after a Rollback, a
// Load or a frame without Advance, takes O(items), and then every item counts as changed. It
// allocates when the table has grown. A View needs 16 bytes for each slot of the table.
func (v *View[T, V]) Advance(ctx context.Context) {
	v.inRead(ctx, "view: Advance")
	now := v.lists.Counts(v.part)
	// The lists of one frame may be missing only if this View has seen them.
	missed := now.Frames > v.seen.Frames+1 || now.Gone > v.seen.Passes
	v.number++
	if v.number == 1 || missed {
		for _, slots := range v.shards {
			clear(slots)
		}
		v.note(v.source.all)
	}
	if now.Frames == v.seen.Frames+1 {
		// An item with the slot of an erased one is created, so erases come first.
		for h := range v.source.erased {
			if s := v.slot(h.ID); s != nil {
				*s = slot{}
			}
		}
		v.note(v.source.created)
	}
	if now.Passes != v.seen.Passes {
		v.note(v.source.written)
	}
	v.seen = now
}

func (v *View[T, V]) note(changed iter.Seq[store.Handle[T]]) {
	for h := range changed {
		slots := &v.shards[h.ID.TypeID()-v.first]
		if n := int(h.ID.Slot()) + 1 - len(*slots); n > 0 {
			*slots = append(*slots, make([]slot, n)...)
		}
		(*slots)[h.ID.Slot()] = slot{h.ID, v.number}
	}
}

// slot returns the slot of an item with data, or nil. It panics for an item of another table.
func (v *View[T, V]) slot(id store.ID) *slot {
	shard := int(id.TypeID()) - int(v.first)
	switch {
	case id.IsZero(), id.IsProvisional():
		return nil
	case shard < 0 || shard >= len(v.shards):
		panic(fmt.Sprintf("view: %v is not of table %q; give Update handles of the table of the View", id, v.name))
	}
	if slots := v.shards[shard]; int(id.Slot()) < len(slots) && slots[id.Slot()].id == id {
		return &slots[id.Slot()]
	}
	return nil
}

func (v *View[T, V]) inRead(ctx context.Context, call string) {
	check.Given(ctx != nil, call, "context")
	if !v.lists.Reads(ctx) {
		panic(fmt.Sprintf("%s outside a Read; call it with the context of a Read of the store, after the frame", call))
	}
}
