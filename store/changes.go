package store

import (
	"fmt"
	"iter"
	"unsafe"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Created iterates over the items of t that the last frame created, or the current frame
// so far. Items of flushes are in recording order (key, then sequence).
// [Table.Insert] adds items between the flushes, in call order.
//
// Created, [Erased] and [Written] are net over the frame. An item that was created and
// erased is in none, an item that was created and written only in Created, an item that
// was written and erased only in Erased. Insert, Remove and Clear count.
//
// The lists belong to the last frame that flushed, even an empty batch, or that changed a
// table with Changes at once. [Store.Rollback] and [Store.Load] empty them. They are read
// like the items, and panic unless the table was registered with Changes. Created costs a
// few words per flush and 8 bytes per insert, Erased a copy of each erased item. Later
// flushes of a frame, and Remove, also look up whether the frame created the item.
//
// See guide/changes.md.
func Created[T any](t TableOf[T]) iter.Seq2[Handle[T], *T] {
	core := tableOf("Created", t)
	core.mustTrack("Created")
	return func(yield func(Handle[T], *T) bool) {
		if check.Cheap {
			core.lookupChanges("Created", resource{table: core}.String())
		}
		for _, ids := range core.changes.created {
			for _, id := range ids { // null: a cancelled create
				if item := core.item(id); item != nil && !yield(Handle[T]{ID: id}, (*T)(item)) {
					return
				}
			}
		}
	}
}

// Erased iterates over the items of t that the last frame erased, with their handles and
// their values when erased. The order is typeId, then time, then row within one flush or
// Clear. Values include puts of earlier flushes; puts of the same batch were dropped. See
// [Created].
func Erased[T any](t TableOf[T]) iter.Seq2[Handle[T], *T] {
	core := tableOf("Erased", t)
	core.mustTrack("Erased")
	return func(yield func(Handle[T], *T) bool) {
		if check.Cheap {
			core.lookupChanges("Erased", resource{table: core}.String())
		}
		for i := range core.changes.shards {
			gone := &core.changes.shards[i].erased
			values := *items.As[T](&gone.values)
			for i, id := range gone.ids {
				if !yield(Handle[T]{ID: id}, &values[i]) {
					return
				}
			}
		}
	}
}

func (t *table) mustTrack(method string) {
	if !t.tracked {
		panic(fmt.Sprintf("store: %s of table %q, which keeps no changes; register it with TableOptions.Changes", method, t.name))
	}
}

// changes lists the items that a frame created and erased in a table.
type changes struct {
	isListed bool
	touched  batch.Shards
	created  [][]ID // runs; the ids of flushes belong to the batch
	inserts  bool   // the last run belongs to Insert, which appends to it
	spare    []ID
	peak     highwater.Mark
	shards   []shardChanges
}

// shardChanges are the changes of one shard. It is the listener of flushes.
type shardChanges struct {
	table  *table
	index  int
	runs   [][]ID          // ids created by flushes
	marked int             // number of runs in made
	made   slotset.Handles // items created by Insert or in marked runs
	erased keptItems
}

// keptItems are copies of erased items.
type keptItems struct {
	ids    []ID
	values items.Slice
	peak   highwater.Mark
}

func (k *keptItems) reserve(t *items.Type, n int) {
	if n += len(k.ids); n > k.values.Cap() {
		k.ids = append(make([]ID, 0, n), k.ids...)
		k.values = t.Grown(k.values, n).Resize(len(k.ids))
	}
}

func (k *keptItems) add(t *items.Type, id ID, item unsafe.Pointer) {
	n := len(k.ids)
	if n == k.values.Cap() {
		k.reserve(t, max(8, n))
	}
	k.ids, k.values = append(k.ids, id), k.values.Resize(n+1)
	t.Set(k.values.Pointer(n, t.Size), item)
}

const fewChanges = 64 // memory that is always kept

// forget drops the items and keeps memory for as many as recent frames had.
func (k *keptItems) forget(t *items.Type) {
	if cap(k.ids) > k.peak.Note(len(k.ids), fewChanges) {
		k.ids, k.values = nil, items.Slice{}
		return
	}
	t.Clear(k.values)
	k.ids, k.values = k.ids[:0], k.values.Resize(0)
}

func (c *changes) init(t *table) {
	c.shards = make([]shardChanges, len(t.order))
	for i := range c.shards {
		c.shards[i].table, c.shards[i].index = t, i
		t.order[i].Track(&c.shards[i])
	}
}

// Erasing, Erased, Replaced and Created are called by flushes.
func (c *shardChanges) Erasing(n int) { c.erased.reserve(c.table.typ, n) }

func (c *shardChanges) Erased(id ID, item unsafe.Pointer) bool {
	if !c.wasCreated(id) {
		c.erased.add(c.table.typ, id, item)
	}
	return true
}

func (c *shardChanges) Replaced(id ID, _ unsafe.Pointer) bool {
	c.table.written.add(c.index, id)
	return true
}

func (c *shardChanges) Created(ids []ID) { c.runs = append(c.runs, ids) }

func (c *shardChanges) wasCreated(id ID) bool {
	c.mark()
	return c.made.Has(id)
}

// mark adds the runs to made, in order, because a later item may have the slot of an earlier one.
func (c *shardChanges) mark() {
	if c.marked == len(c.runs) {
		return
	}
	c.made.Grow(c.table.order[c.index].Map.Stats().Slots)
	for ; c.marked < len(c.runs); c.marked++ {
		for _, id := range c.runs[c.marked] {
			c.made.Add(id)
		}
	}
}

// all calls add for each item that the frame created.
func (c *shardChanges) all(typeID uint16, add func(ID) bool) {
	c.made.All(typeID, add)
	for _, ids := range c.runs[c.marked:] {
		for _, id := range ids {
			add(id)
		}
	}
}

func (c *shardChanges) forget() {
	clear(c.runs)
	c.runs, c.marked = c.runs[:0], 0
	c.made.Clear()
	c.erased.forget(c.table.typ)
	for _, p := range c.table.sparse {
		if p.tracked {
			p.changes[c.index].forget()
		}
	}
}

// flushed lists the creates of a flush and the shards that it changed.
func (c *changes) flushed(ids []ID, shards batch.Shards) {
	c.touched |= shards
	if len(ids) > 0 {
		c.created, c.inserts = append(c.created, ids), false
	}
}

func (t *table) inserted(w *Writer, shard int, id ID) {
	c := t.listAtOnce(w)
	if !c.inserts {
		c.created, c.inserts, c.spare = append(c.created, c.spare), true, nil
	}
	last := &c.created[len(c.created)-1]
	*last = append(*last, id)
	c.touched.Add(shard)
	c.shards[shard].mark()
	c.shards[shard].made.Add(id)
}

// removing lists an item before Remove erases it.
func (t *table) removing(w *Writer, id ID) {
	if item := t.item(id); item != nil {
		shard := int(id.TypeID() - t.first)
		c := t.listAtOnce(w)
		c.touched.Add(shard)
		c.shards[shard].Erased(id, item)
	}
}

// clearing lists all items before Clear erases them.
func (t *table) clearing(w *Writer) {
	c := t.listAtOnce(w)
	for i, sh := range t.order {
		if n := sh.Map.Len(); n > 0 {
			c.touched.Add(i)
			c.shards[i].Erasing(n)
			sh.Map.All(c.shards[i].Erased)
		}
	}
}

// listAtOnce returns the lists of the table for a change of a Write.
func (t *table) listAtOnce(w *Writer) *changes {
	f := &t.store.flush
	f.beginLists(w.phase.frame.number)
	f.list(t)
	return &t.changes
}

// beginLists empties the lists unless they belong to the frame with this number.
func (f *flush) beginLists(number uint64) {
	if f.lists != number {
		f.lists = number
		f.frames++
		f.forgetLists()
	}
}

// list adds the table to the tables with entries.
func (f *flush) list(t *table) {
	if !t.changes.isListed {
		t.changes.isListed = true
		f.listed = append(f.listed, t)
		f.active.add(t)
	}
}

func (f *flush) forgetLists() {
	for _, t := range f.listed {
		t.changes.forget()
	}
	clear(f.listed)
	f.listed = f.listed[:0]
}

func (c *changes) forget() {
	if c.inserts {
		c.spare = highwater.Trim(&c.peak, c.created[len(c.created)-1])
	}
	clear(c.created)
	c.created, c.inserts, c.isListed = c.created[:0], false, false
	for i := range c.touched.All {
		c.shards[i].forget()
	}
	c.touched = 0
}

// trim releases the list memory of shards without entries.
func (c *changes) trim(shards batch.Shards) {
	if c.shards == nil {
		return
	}
	for i := range (shards &^ c.touched).All {
		t := c.shards[i].table
		c.shards[i] = shardChanges{table: t, index: i}
		for _, p := range t.sparse {
			if p.tracked {
				p.changes[i] = sparseChanges{data: p, index: i}
			}
		}
	}
	if !c.isListed {
		c.created, c.spare = nil, nil
	}
}
