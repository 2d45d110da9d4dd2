package store

import (
	"context"
	"iter"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/paged"
)

// Groups are the items of one table, grouped by the item of another that owns them;
// [GroupBy] fills them. The zero Groups are empty and ready for GroupBy. They keep their
// memory for the next GroupBy, and must not be copied.
//
// They are valid until a flush has commands for one of the two tables, or a Rollback or
// [Writer] changes one. Of and ForEach panic from then on.
//
// See guide/events.md and guide/parents-and-children.md.
type Groups[T, K any] struct {
	_     noCopy
	core  grouping
	visit func(c GroupChunk[T, K])
	task  func(int) error // run, bound once
}

// GroupBy groups the items of t into g by owner, the item of by whose handle key returns:
// children by parent, shots by target. [Groups.Stale] counts keys that name no item of by
// (null and stale handles, handles of other tables). t and by may be one table.
//
//	var hits store.Groups[Hit, Ship] // kept from tick to tick
//	err := store.GroupBy(ctx, &hits, shots, ships, func(h *Hit) store.Handle[Ship] { return h.Target })
//	err = hits.ForEach(ctx, func(c store.GroupChunk[Hit, Ship]) {
//		for i := range c.Owners.Items {
//			m := c.Members(i)
//			for k := range m.Len() {
//				c.Owners.Items[i].Hull -= m.At(k).Damage
//			}
//		}
//	})
//
// It takes O(t.Len() + by.Len()) time, in parallel, and allocates nothing in steady use
// (op=groupby). For one pass over events that records nothing [Fold] is faster. GroupBy
// pays if owners record commands, or members are visited repeatedly.
//
// key may only look at the item; several goroutines call it at once. GroupBy fails with
// the [*PanicError] of the lowest block of rows when key panics, and with the cause of
// ctx when that ends before the end; g is then unusable until another GroupBy. GroupBy
// holds the store alone, or joins the Frame or system of its context, as a ForEach does;
// the system names both tables in Reads.
//
// Both tables may be stable, but [Groups.ForEach] needs owners in a [Table]. Tables of
// different stores panic.
func GroupBy[T, K any](ctx context.Context, g *Groups[T, K], t TableOf[T], by TableOf[K], key func(*T) Handle[K]) error {
	check.Given(g != nil, "store: GroupBy", "Groups")
	members, owners := tableOf("GroupBy", t), tableOf("GroupBy", by)
	check.Given(key != nil, "store: GroupBy", "key function")
	if g.task == nil {
		g.task = g.run
	}
	p, err := g.core.enter(ctx, members, owners)
	if err != nil {
		return err
	}
	defer g.core.leave()
	return g.core.group(p, untypedKey(key))
}

// Len returns the number of items with an owner; Stale counts the others.
func (g *Groups[T, K]) Len() int { return g.core.len() }

// Stale returns the number of items whose key names no item of the other table, null keys
// included.
func (g *Groups[T, K]) Stale() int { return g.core.stale }

// Of returns the items with owner h; none if h names no item. It takes O(1) time. Callers
// are as for [Table.Get].
func (g *Groups[T, K]) Of(h Handle[K]) Members[T] {
	return Members[T]{refs: g.core.refs(h.ID), maps: g.core.maps()}
}

// ForEach runs f for every chunk of owners, in parallel: it is a [Table.ForEach] over the
// owners in which each task also finds their members. A system that calls it names the
// table of the owners in Writes and the table of the members in Reads.
//
// Members are read-only. If both tables are one, members belong to other tasks: read only
// data that no task writes. Owners in a [StableTable] are an error; use
// [StableTable.ForEach] with [Groups.Of].
func (g *Groups[T, K]) ForEach(ctx context.Context, f func(c GroupChunk[T, K])) error {
	check.Given(f != nil, "store: ForEach", "function")
	p, err := g.core.enterForEach(ctx)
	if err != nil {
		return err
	}
	defer func() { g.visit = nil; p.leave() }()
	g.core.good("ForEach")
	g.visit = f
	return p.record(g.task)
}

func (g *Groups[T, K]) run(index int) error {
	p := &g.core.ownerTable.pass
	owners := p.chunk(index)
	g.visit(GroupChunk[T, K]{
		Owners: *(*Chunk[K])(unsafe.Pointer(&owners)), // see untyped
		ends:   g.core.endsOf(index), refs: g.core.members, maps: g.core.maps(),
	})
	return p.endTask(index)
}

// GroupChunk is a run of owners given to one task, valid until the task returns.
type GroupChunk[T, K any] struct {
	Owners Chunk[K] // as in a ForEach over the owners

	ends []int // end of the members of each owner, preceded by their start
	refs []uint64
	maps *lookups
}

// Members returns the items of Owners.Items[i].
func (c *GroupChunk[T, K]) Members(i int) Members[T] {
	if check.Cheap && c.Owners.serial != c.Owners.pass.serial {
		panic(wrongChunk{"Members", c.Owners.Index, c.Owners.pass})
	}
	return Members[T]{refs: c.refs[c.ends[i]:c.ends[i+1]], maps: c.maps}
}

// Members are the items of one owner, read-only, in the order of shards and rows. They
// are valid as long as their [Groups].
type Members[T any] struct {
	refs []uint64
	maps *lookups
}

// Len returns the number of members.
func (m Members[T]) Len() int { return len(m.refs) }

// At returns a pointer to member k, in O(1) time. It fits the inliner's budget exactly.
func (m Members[T]) At(k int) *T {
	ref := m.refs[k]
	tag := ref >> 32 & (MaxShards - 1)
	if m.maps.packed == nil {
		return paged.At[T](m.maps.stable[tag], ID(ref))
	}
	return &(*(*[]T)(dense.Array[dense.Inline](m.maps.packed[tag])))[uint32(ref)]
}

// All iterates over the handles and addresses of the members. Without need of handles, a
// loop over [Members.At] is faster.
func (m Members[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		for k, ref := range m.refs {
			if !yield(Handle[T]{ID: m.maps.idOf(ref)}, m.At(k)) {
				return
			}
		}
	}
}
