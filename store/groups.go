package store

import (
	"context"
	"iter"

	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/paged"
)

// Groups are the items of a table by the item of another that owns each, as
// [GroupBy] sorted them: a join the other way round. The zero Groups are empty and
// ready for GroupBy. They keep their memory from one GroupBy to the next, and must
// not be copied.
//
// They are good until the next flush or reorder: until a flush has commands for one
// of the two tables, or a Rollback or a [Writer] changes one. Of and ForEach panic
// from then on. Changes through [Maps] count when Maps is called.
//
// The guide's pages are guide/events.md and guide/parents-and-children.md.
type Groups[T, K any] struct {
	_     noCopy
	core  grouping
	visit func(c GroupChunk[T, K]) // of the ForEach that runs
	task  func(int) error          // run, bound once
}

// GroupBy sorts the items of t by the item of another table that key names, into
// g: children by parent, shots by whom they hit. Keys that name no item of `of`
// (null handles, stale ones, those of another table) are counted by
// [Groups.Stale]; t and of may be one table.
//
//	var hits store.Groups[Hit, Ship] // kept from tick to tick
//	err := store.GroupBy(ctx, &hits, shots, ships, func(h *Hit) store.Handle[Ship] { return h.Target })
//	err = hits.ForEach(ctx, func(c store.GroupChunk[Hit, Ship]) {
//		for i := range c.Owners {
//			m := c.Members(i)
//			for k := range m.Len() {
//				c.Owners[i].Hull -= m.At(k).Damage
//			}
//		}
//	})
//
// It counts instead of comparing, in O(t.Len() + of.Len()) time, in parallel, into
// memory of g that is used again: in the steady state it allocates nothing
// (op=groupby). For one pass over events that records nothing [Fold] costs less. GroupBy
// pays where owners record something, or members are visited more than once.
//
// key may look at the item alone, and is called by several goroutines at once. When
// it panics, GroupBy returns the [*PanicError] of the lowest block of rows, and when
// ctx ends before all is sorted, its cause; g is of no use then until another
// GroupBy. GroupBy holds the store alone, or joins the Write or system whose context
// it is given, as a ForEach does; the system names both tables in its Reads.
//
// Both tables may be stable; [Groups.ForEach] needs owners in a [Table]. Two tables of
// different stores panic.
func GroupBy[T, K any](ctx context.Context, g *Groups[T, K], t TableOf[T], of TableOf[K], key func(*T) Handle[K]) error {
	check.Given(g != nil, "store: GroupBy", "Groups")
	members, owners := tableOf("GroupBy", t), tableOf("GroupBy", of)
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

// Len returns how many items have an owner, and Stale how many have none.
func (g *Groups[T, K]) Len() int { return g.core.len() }

// Stale returns how many items have a key that names no item of the other table,
// null ones included.
func (g *Groups[T, K]) Stale() int { return g.core.stale }

// Of returns the items whose owner is h; none if h names no item. It takes O(1)
// time. Who may call it is as for [Table.Get].
func (g *Groups[T, K]) Of(h Handle[K]) Members[T] {
	return Members[T]{refs: g.core.refs(h.ID), maps: g.core.maps()}
}

// ForEach runs f for every chunk of owners, in parallel: it is a [Table.ForEach]
// over their table, with what was said of it there, in which each task finds the
// members of its own owners. A system that calls it names that table in its Writes
// and the table of the members in its Reads.
//
// Members are read, no more. Where both tables are one they are items that other
// tasks own: of those, read what no task writes. Owners in a [StableTable] are an error:
// a [StableTable.ForEach] with [Groups.Of] does the same.
func (g *Groups[T, K]) ForEach(ctx context.Context, f func(c GroupChunk[T, K])) error {
	check.Given(f != nil, "store: ForEach", "function")
	p, err := g.core.enterForEach(ctx)
	if err != nil {
		return err
	}
	g.visit = f
	defer func() { g.visit = nil; g.core.of.leaveForEach(p) }()
	return g.core.of.forEach(p, g.task)
}

func (g *Groups[T, K]) run(index int) error {
	p := &g.core.of.pass
	owners := chunkOf[K](g.core.of, index)
	g.visit(GroupChunk[T, K]{
		Owners: owners.Items, Queue: owners.Queue, Index: index,
		owners: owners, ends: g.core.endsOf(index), refs: g.core.members, maps: g.core.maps(),
	})
	return p.endTask(index)
}

// GroupChunk is a run of owners given to one task, and good until that returns.
type GroupChunk[T, K any] struct {
	Owners []K   // the task may write them; capacity equals length
	Queue  Queue // the task's own
	Index  int   // of the chunk, as in a ForEach over the table of the owners

	owners Chunk[K]
	ends   []int // of the members of the owner before, and of each
	refs   []uint64
	maps   *lookups
}

// Members returns the items of Owners[i].
func (c *GroupChunk[T, K]) Members(i int) Members[T] {
	if check.Cheap && c.owners.serial != c.owners.table.pass.serial {
		panic(savedChunk{"Members", c.Index, c.owners.table.name})
	}
	return Members[T]{refs: c.refs[c.ends[i]:c.ends[i+1]], maps: c.maps}
}

// Chunk returns the owners as a ForEach over their table has them, for its methods:
// Handle, Erase, Touch, Wrote.
func (c *GroupChunk[T, K]) Chunk() *Chunk[K] { return &c.owners }

// Members are the items that have one owner, to be read, in the order of shards and rows.
// They are good as long as their [Groups].
type Members[T any] struct {
	refs []uint64
	maps *lookups
}

// Len returns the number of members.
func (m Members[T]) Len() int { return len(m.refs) }

// At returns a pointer to the member k, in O(1) time. It is cut to the inliner's budget.
func (m Members[T]) At(k int) *T {
	ref := m.refs[k]
	tag := ref >> 32 & (MaxShards - 1)
	if m.maps.packed == nil {
		return paged.At[T](m.maps.stable[tag], ID(ref))
	}
	return &(*(*[]T)(dense.Array[dense.Inline](m.maps.packed[tag])))[uint32(ref)]
}

// All iterates over the handles and the addresses of the members. Where handles are not
// needed, a loop over [Members.At] is faster.
func (m Members[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		for k, ref := range m.refs {
			if !yield(Handle[T]{ID: m.maps.idOf(ref)}, m.At(k)) {
				return
			}
		}
	}
}
