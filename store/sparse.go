package store

import (
	"context"
	"iter"
	"unsafe"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/internal/sparse"
)

// Sparse is data of type C that few items of a table have: packed rows of its own, each
// found by the handle of its item and erased with it. A pass visits only items that have
// it. [AddSparse] adds it to a table of either kind. A C of size 0 is a tag.
//
// Rows and their owners are part of digests, checkpoints and snapshots. From the first
// Set on they cost 4 bytes per slot of the table, up to 8 while it grows, and a handle
// per row. They do not move when the table is sorted.
type Sparse[T, C any] struct {
	core sparseData
}

// AddSparse adds data of type C that few items of t have. No item has it before
// [Sparse.Set] or [Sparse.Put].
//
//	shields := store.AddSparse(ships, store.ColumnOptions[Shield]{Name: "shield"})
//
// It takes O(shards) time. Callers, panics and effects on checkpoints are as for
// [AddColumn]; columns and sparse data of a table share one set of names.
func AddSparse[C, T any](t TableOf[T], o ColumnOptions[C]) *Sparse[T, C] {
	c := new(Sparse[T, C])
	if err := c.core.add(tableOf("AddSparse", t), untypedColumn(o), items.For[C]()); err != nil {
		panic(err)
	}
	return c
}

func (s *Sparse[T, C]) resource() resource {
	if s == nil {
		return resource{}
	}
	return s.core.component.resource()
}

// Name returns the name of the data.
func (s *Sparse[T, C]) Name() string { return s.core.name }

// Len returns the number of items with the data, in O(shards) time.
func (s *Sparse[T, C]) Len() int {
	if check.Cheap {
		s.core.lookup("Len")
	}
	return s.core.len()
}

// Has reports whether the item h has the data. It takes O(1) time.
func (s *Sparse[T, C]) Has(h Handle[T]) bool {
	if check.Cheap {
		s.core.lookup("Has")
	}
	_, ok := sparse.Find[C](s.core.shards[h.ID>>48&(MaxShards-1)], h.ID)
	return ok
}

// Get returns a pointer to the data of the item h, and whether it has any. It takes O(1)
// time. Callers and lifetime are as for [Table.Get], also in a stable table, because rows
// move.
func (s *Sparse[T, C]) Get(h Handle[T]) (*C, bool) {
	if check.Cheap {
		s.core.lookup("Get")
	}
	return sparse.Find[C](s.core.shards[h.ID>>48&(MaxShards-1)], h.ID)
}

// All iterates over the items with the data and their data, by typeId and row. The data of
// the current item may be removed meanwhile; everything else is as for [Table.All].
func (s *Sparse[T, C]) All() iter.Seq2[Handle[T], *C] {
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			s.core.lookup("All")
		}
		sum := s.core.rowChanges()
		for shard := range s.core.table.order {
			data := s.core.shard(shard)
			sum -= data.Changes()
			for id, v := range sparse.All[C](data) {
				if !yield(Handle[T]{ID: id}, v) {
					return
				}
			}
			sum += data.Changes()
		}
		slotset.MustEqual(sum, s.core.rowChanges())
	}
}

// Put sets the data of the item h at once, and reports whether the item exists. It takes
// O(1) time and invalidates pointers to the data. It panics when w is used outside its
// Write or Frame.
func (s *Sparse[T, C]) Put(w *Writer, h Handle[T], v C) bool {
	place := (*C)(s.core.put(w, h.ID))
	if place != nil {
		*place = v
	}
	return place != nil
}

// Remove removes the data of the item h at once, and reports whether it had any. The last
// row of the shard takes its place. Everything else is as for [Sparse.Put].
func (s *Sparse[T, C]) Remove(w *Writer, h Handle[T]) bool { return s.core.remove(w, h.ID) }

// Set records v as the data of the item h, which may be provisional in the same batch. The
// last Set or Unset of an item by (key, sequence) wins. A flush applies it
// after puts, which do not change the data, and before erases: commands for an item
// erased in the same batch are dropped. A system that calls Set emits to the data, not to
// the table. A [Report] has a line for it.
//
// It takes O(1) time and allocates nothing in steady use. It is fastest for items that
// the same queue created, as [Column.Set] is. Queues panic and fail as for
// [Table.Emplace].
func (s *Sparse[T, C]) Set(q Queue, h Handle[T], v C) {
	if place := (*C)(s.core.recorder.Set(batch.Queue(q), h.ID)); place != nil {
		*place = v
	}
}

// Unset records the removal of the data of the item h. It is redundant for an item
// without data. Everything else is as for [Sparse.Set].
func (s *Sparse[T, C]) Unset(q Queue, h Handle[T]) {
	s.core.recorder.Unset(batch.Queue(q), h.ID)
}

// SortAsTable sorts the rows of each shard in the order of their items in the table, so
// that a pass over both reads memory in one direction. Later changes do not keep the
// order. It takes O(rows) time and invalidates pointers. It panics when w is used outside
// its Write or Frame.
func (s *Sparse[T, C]) SortAsTable(w *Writer) { s.core.sortAsTable(w) }

// SparseChunk is a run of rows of a [Sparse] given to one task, valid until the task
// returns.
type SparseChunk[T, C any] struct {
	Items  []C         // the task may write them; capacity equals length
	Owners []Handle[T] // owner of Items[i]; read-only
	Queue  Queue       // queue of the task
	Index  int         // index of the chunk in the pass; depends only on row counts

	pass   *pass
	wrote  *notes // nil: the data has no Changes
	row    int
	serial uint32
}

// Wrote notes that the task has written Items[i], for [Sparse.Written]. It costs a branch
// for data without Changes. It panics after the pass.
func (c *SparseChunk[T, C]) Wrote(i int) {
	if c.serial != c.pass.serial {
		panic(wrongChunk{"Wrote", c.Index, c.pass})
	}
	_ = c.Items[i]
	if c.wrote != nil {
		c.wrote.rows = append(c.wrote.rows, c.row+i)
	}
}

// ForEach runs f for every chunk of the rows, in parallel, as [Table.ForEach] does for
// items. A task may write the rows of its chunk and read the items of the table, so its
// system names the data in Writes, and not the table. Rows are in the order of creation,
// except that later rows fill gaps: see [Sparse.SortAsTable].
//
//	err := burning.ForEach(ctx, func(c store.SparseChunk[Unit, Burning]) {
//		for i := range c.Items {
//			if c.Items[i].Left--; c.Items[i].Left == 0 {
//				burning.Unset(c.Queue, c.Owners[i])
//			}
//		}
//	})
func (s *Sparse[T, C]) ForEach(ctx context.Context, f func(c SparseChunk[T, C])) error {
	check.Given(s != nil, "store: ForEach", "Sparse")
	check.Given(f != nil, "store: ForEach", "function")
	return domain{s.core.table, &s.core}.forEach(ctx, opForEach, *(*func(untyped))(unsafe.Pointer(&f))) // see untyped
}

// sparseData is the untyped core of a [Sparse].
type sparseData struct {
	component
	shards  [MaxShards]*sparse.Map // by typeId & 63; unused entries are empty
	chunk   int                    // rows of a chunk
	pass    pass
	changes []sparseChanges // by shard; nil without Changes
}

// add adds the data to the table; on failure neither has changed.
func (c *sparseData) add(t *table, o columnOptions, typ *items.Type) error {
	c.what, c.element = isSparse, c.item
	return c.component.add(t, "AddSparse", o, typ, func() {
		c.forget()
		c.changes = c.newChanges()
		for i, sh := range t.order {
			data := sparse.New(typ)
			c.shards[(int(t.first)+i)%MaxShards] = data
			sh.AddSparse(data, c.name, c.number, c.fields, c.visitor, c.onChange(i))
		}
		c.chunk = options{}.chunkRows(typ.Size + unsafe.Sizeof(ID(0)))
		c.pass.init(domain{t, c})
		t.sparse = append(t.sparse, c)
		t.copying.addSparse(t.name, c.name, typ, o.clone)
	})
}

// newChanges returns empty lists, or nil without Changes.
func (c *sparseData) newChanges() (all []sparseChanges) {
	if c.tracked {
		c.written.sparse = c
		for i := range c.table.order {
			all = append(all, sparseChanges{data: c, index: i})
		}
	}
	return all
}

// forget makes the lookups find nothing.
func (c *sparseData) forget() { fill(c.shards[:], sparse.New(c.typ)) }

func (c *sparseData) shard(shard int) *sparse.Map {
	return c.shards[(int(c.table.first)+shard)%MaxShards]
}

// rowChanges is table.rowChanges of the rows of the data.
func (c *sparseData) rowChanges() (sum uint64) {
	for i := range c.table.order {
		sum += c.shard(i).Changes()
	}
	return sum
}

func (c *sparseData) len() int {
	n := 0
	for i := range c.table.order {
		n += c.shard(i).Len()
	}
	return n
}

// item returns the address of the data of the item id, or nil.
func (c *sparseData) item(id ID) unsafe.Pointer {
	if !c.table.owns(id) {
		return nil
	}
	data := c.shard(int(id.TypeID() - c.table.first))
	if !data.Has(id) {
		return nil
	}
	row, _ := data.Row(id)
	return data.At(row)
}

// put returns the address for the new value of the item id, or nil without such an item.
func (c *sparseData) put(w *Writer, id ID) unsafe.Pointer {
	if check.Full {
		defer w.alone("Put")()
	}
	t := c.table
	w.useComponent(t, "Put")
	if t.store.probe != nil {
		t.store.probe.writesItem(c, id)
	}
	if !t.has(id) {
		return nil
	}
	shard := int(id.TypeID() - t.first)
	data := c.shard(shard)
	var place unsafe.Pointer
	if row, ok := data.Row(id); ok {
		place = data.At(row)
	}
	if c.tracked {
		c.changeAtOnce(w, shard, id, place, true)
	}
	if place == nil {
		data.Reserve(1, t.order[shard].Map.Stats().Slots)
		place = data.Append(id)
	}
	return place
}

func (c *sparseData) remove(w *Writer, id ID) bool {
	if check.Full {
		defer w.alone("Remove")()
	}
	t := c.table
	w.useComponent(t, "Remove")
	if t.store.probe != nil {
		t.store.probe.writesItem(c, id)
	}
	if !t.has(id) {
		return false
	}
	shard := int(id.TypeID() - t.first)
	data := c.shard(shard)
	row, ok := data.Row(id)
	if !ok {
		return false
	}
	if c.tracked {
		c.changeAtOnce(w, shard, id, data.At(row), false)
	}
	data.Remove(id)
	return true
}

func (c *sparseData) sortAsTable(w *Writer) {
	if check.Full {
		defer w.alone("SortAsTable")()
	}
	w.use(c.table, "SortAsTable")
	for i, sh := range c.table.order {
		data := c.shard(i)
		data.SortAs(sh.Map)
	}
}

// drop removes all sparse data of the item id, which is erased at once.
func (t *table) drop(id ID) {
	if !t.owns(id) {
		return
	}
	for _, c := range t.sparse {
		c.shard(int(id.TypeID() - t.first)).Remove(id)
	}
}

func (p *pass) sparseChunk(index int) SparseChunk[untyped, untyped] {
	shard, lo, hi := p.chunks.find(index)
	c := p.sparse.rows(shard, lo, hi, index)
	c.Queue, c.pass, c.row, c.serial = Queue(p.queues.Queue(index)), p, lo, p.serial
	c.wrote = p.sparse.written.notesOf(index)
	return c
}

// rows returns a run of rows, read-only unless it gets a queue.
func (c *sparseData) rows(shard, lo, hi, index int) SparseChunk[untyped, untyped] {
	data := c.shard(shard)
	hi = min(hi, data.Rows())
	values, owners := data.Range(lo, hi), data.Owners(lo, hi)
	return SparseChunk[untyped, untyped]{
		Items: *(*[]untyped)(unsafe.Pointer(&values)), Owners: *(*[]Handle[untyped])(unsafe.Pointer(&owners)), Index: index, pass: &reducing,
	}
}

// Created iterates over the items that had no data when the last frame began and have it
// now, or so far. The order is typeId, then time; within a flush commands come before
// creates. The lists of a Sparse are net over the frame. Erased items are only in
// [Erased] of their table. The frame, callers and lifetime are as for the function
// [Created]. The lists panic unless the data has Changes; without commands and notes they
// cost nothing.
func (s *Sparse[T, C]) Created() iter.Seq2[Handle[T], *C] {
	s.core.mustTrack("Created")
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			s.core.table.lookupChanges("Created", s.core.resource().String())
		}
		for i := range s.core.changes {
			for _, id := range s.core.changes[i].created {
				if v := s.core.item(id); v != nil && !yield(Handle[T]{ID: id}, (*C)(v)) {
					return
				}
			}
		}
	}
}

// Erased iterates over the items that had data when the last frame began and lack it now,
// with the value that they lost first. The order is typeId, then time. The items exist.
// See [Sparse.Created].
func (s *Sparse[T, C]) Erased() iter.Seq2[Handle[T], *C] {
	s.core.mustTrack("Erased")
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			s.core.table.lookupChanges("Erased", s.core.resource().String())
		}
		for i := range s.core.changes {
			gone := &s.core.changes[i].gone
			values := *items.As[C](&gone.values)
			for i, id := range gone.ids {
				if s.core.item(id) == nil && s.core.table.has(id) && !yield(Handle[T]{ID: id}, &values[i]) {
					return
				}
			}
		}
	}
}

// Written iterates over the items that had data when the last frame began, have it now,
// and got a new value by [Sparse.Set], [Sparse.Put] or a write in place with
// [SparseChunk.Wrote]. The order is typeId, then row of the table. See [Sparse.Created],
// and [Written] for notes of passes outside frames.
func (s *Sparse[T, C]) Written() iter.Seq2[Handle[T], *C] {
	s.core.mustTrack("Written")
	return func(yield func(Handle[T], *C) bool) {
		if check.Cheap {
			s.core.table.lookupChanges("Written", s.core.resource().String())
		}
		s.core.written.all(func(id ID) bool {
			v := s.core.item(id)
			return v == nil || yield(Handle[T]{ID: id}, (*C)(v))
		})
	}
}

// sparseChanges are the changes of a frame to the data of one shard.
type sparseChanges struct {
	data    *sparseData
	index   int
	created []ID            // items that had no data at first; some may have lost it again
	made    slotset.Handles // set of created
	gone    keptItems       // items that had data at first, with the value that they lost first
	taken   slotset.Handles // set of gone
	peak    highwater.Mark
}

// change notes a change of the data of an item before it happens: before is the old value
// or nil, and has reports whether the item has data afterwards.
func (c *sparseChanges) change(id ID, before unsafe.Pointer, has bool) {
	switch {
	case !has:
		if !c.made.Has(id) && !c.taken.Has(id) {
			c.gone.add(c.data.typ, id, before)
			c.taken.Add(id)
		}
	case before != nil || c.taken.Has(id):
		c.data.written.add(c.index, id)
	case !c.made.Has(id):
		c.created = append(c.created, id)
		c.made.Add(id)
	}
}

func (c *sparseChanges) forget() {
	c.created = highwater.Trim(&c.peak, c.created)
	c.made.Clear()
	c.gone.forget(c.data.typ)
	c.taken.Clear()
}

// changeAtOnce notes a change in a Write; see [sparseChanges.change].
func (c *sparseData) changeAtOnce(w *Writer, shard int, id ID, before unsafe.Pointer, has bool) {
	c.table.listAtOnce(w).touched.Add(shard)
	c.written.begins(w.phase.frame.number)
	c.changes[shard].change(id, before, has)
}

// onChange returns the function that a flush calls for changes in a shard, or nil.
func (c *sparseData) onChange(shard int) func(id ID, before unsafe.Pointer, has bool) {
	if !c.tracked {
		return nil
	}
	return func(id ID, before unsafe.Pointer, has bool) { c.changes[shard].change(id, before, has) }
}
