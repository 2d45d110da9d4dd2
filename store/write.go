package store

import (
	"context"
	"fmt"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/paged"
	"handloom/shard/handlemap"
)

// Writer changes tables at once. It is valid inside the Write or Frame that gave it.
type Writer struct {
	phase   *phase
	changed []*table
}

// Write holds the store alone and calls fn, which changes tables at once with w: Insert,
// Remove, Clear, Put and Remove of a [Sparse], and [Maps]. Passes, flushes and orderings
// need a [Store.Frame]. A Write is one frame.
//
// Write returns the first error of an Insert, or the cause of ctx if ctx ends before the
// store is free. Changes stay in both cases.
//
//	err := s.Write(ctx, func(w *store.Writer) { h = ships.Insert(w, Ship{Hull: 100}) })
func (s *Store) Write(ctx context.Context, fn func(w *Writer)) error {
	check.Given(fn != nil, "store: Write", "function")
	y, err := s.beginWriting(ctx, opWrite)
	if err != nil {
		return err
	}
	defer y.end()
	fn(&y.writer)
	return y.frame.refused
}

// writing is an open Write or Frame, in one object.
type writing struct {
	phase  phase
	writer Writer
	frame  frame
	region region
}

func (s *Store) beginWriting(ctx context.Context, op operation) (*writing, error) {
	y := new(writing)
	if err := y.phase.enter(ctx, s, op); err != nil {
		return nil, err
	}
	y.region = y.phase.trace("")
	y.writer.phase, y.phase.frame = &y.phase, &y.frame
	y.frame.begin(s)
	s.flush.adopt(y.frame.number)
	s.writes++
	return y, nil
}

func (y *writing) end() {
	s := y.phase.store
	defer s.receipts.end(&y.frame)
	defer y.phase.leave()
	defer y.region.end()
	s.endLending()
	s.publishAll(y.writer.changed)
}

// use panics unless w is inside a Write or Frame of the table's store that no pass or
// flush is running in; it notes that t changes.
func (w *Writer) use(t *table, operation string) {
	w.useComponent(t, operation)
	t.version++
}

// useComponent is use for what lies beside the items of t: rows stay as they are.
func (w *Writer) useComponent(t *table, operation string) {
	w.check(operation)
	s := t.store
	if w.phase.store != s {
		panic(fmt.Sprintf("store: %s with the Writer of another store; use the one that a Write or Frame of this store gave to its function", operation))
	}
	if written := &s.written[t.ordinal]; *written != s.writes {
		*written = s.writes
		w.changed = append(w.changed, t)
		t.resolveRows()
	}
}

// check panics unless w is inside a Write or Frame that no pass or flush is running in.
func (w *Writer) check(operation string) {
	switch {
	case w == nil || w.phase == nil:
		panic(fmt.Sprintf("store: %s with a Writer that no Write or Frame gave; change tables inside the function given to one", operation))
	case w.phase.ended.Load():
		panic(fmt.Sprintf("store: %s with a Writer whose Write or Frame has ended; change tables inside the function given to it", operation))
	case w.phase.busy.Load():
		panic(fmt.Sprintf("store: %s while a pass or flush runs in the same Frame; record into the queue of the task instead", operation))
	}
}

// Insert adds v to the shard with the fewest items, the first by typeId of several, and
// returns its handle. It takes O(shards) time and panics when w is not in its Write.
//
// If the table is full, or an [Index] has the key of v, Insert changes nothing and returns
// the null handle. w keeps the first such error, which wraps [ErrFull] or [ErrDuplicate], and
// its Write or Frame returns it.
func (t *Table[T]) Insert(w *Writer, v T) Handle[T] {
	shard, err := t.core.insertInto(w)
	if err == nil && t.core.indexes != nil {
		value := new(T) // v would be on the heap in every call
		*value = v
		err = t.core.mayAdd(unsafe.Pointer(value))
	}
	if err != nil {
		return Handle[T]{ID: w.fail(err)}
	}
	h, err := dense.Insert(t.core.packed(shard), v)
	if err != nil {
		return Handle[T]{ID: w.fail(t.core.named(err))}
	}
	if t.core.tracked {
		t.core.inserted(w, shard, h.ID)
	}
	if t.core.indexes != nil {
		t.core.added(h.ID)
	}
	return h
}

// Insert adds v at once; see [Table.Insert].
func (t *StableTable[T]) Insert(w *Writer, v T) Handle[T] {
	shard, err := t.core.insertInto(w)
	if err == nil && t.core.indexes != nil {
		value := new(T) // v would be on the heap in every call
		*value = v
		err = t.core.mayAdd(unsafe.Pointer(value))
	}
	if err != nil {
		return Handle[T]{ID: w.fail(err)}
	}
	h, err := paged.Insert(t.core.pages(shard), v)
	if err != nil {
		return Handle[T]{ID: w.fail(t.core.named(err))}
	}
	if t.core.tracked {
		t.core.inserted(w, shard, h.ID)
	}
	if t.core.indexes != nil {
		t.core.added(h.ID)
	}
	return h
}

// fail keeps the error of an Insert, unless it has one, and returns the null ID.
func (w *Writer) fail(err error) ID {
	if f := w.phase.frame; f.refused == nil {
		f.refused = err
	}
	return 0
}

// insertInto returns the shard that the next item goes to.
func (t *table) insertInto(w *Writer) (least int, err error) {
	w.use(t, "Insert")
	items := 0
	for i, sh := range t.order {
		items += sh.Map.Len()
		if sh.Map.Len() < t.order[least].Map.Len() {
			least = i
		}
	}
	if t.maxItems > 0 && items >= t.maxItems {
		return 0, t.named(fmt.Errorf("%w: %d items are MaxItems", ErrFull, items))
	}
	return least, nil
}

// named returns err, if there is one, with the name of the table.
func (t *table) named(err error) error {
	if err != nil {
		err = fmt.Errorf("store: table %q: %w", t.name, err)
	}
	return err
}

// Remove erases the item that h names and reports whether there was one, so that
// removing twice is safe: the second time changes nothing. Handles of any other
// table, and provisional ones, name none.
//
// It takes O(1) time, moves the last item of the shard into the gap and makes
// pointers into the shard no good. It panics when w is not in its Write; anywhere
// else record [Table.Erase].
func (t *Table[T]) Remove(w *Writer, h Handle[T]) bool {
	t.core.remove(w, h.ID)
	return dense.Erase(t.maps[h.ID>>48&(MaxShards-1)], h)
}

// Remove erases the item that h names and reports whether there was one; see
// [Table.Remove]. It takes O(1) time and moves no item.
func (t *StableTable[T]) Remove(w *Writer, h Handle[T]) bool {
	t.core.remove(w, h.ID)
	return paged.Erase(t.maps[h.ID>>48&(MaxShards-1)], h)
}

// remove does what the table does before it erases an item at once.
func (t *table) remove(w *Writer, id ID) {
	w.use(t, "Remove")
	if t.tracked {
		t.removing(w, id)
	}
	if t.sparse != nil {
		t.drop(id)
	}
	if t.indexes != nil {
		t.removed(id)
	}
}

// Clear erases every item, as [handlemap.Map.Clear] does for each shard. It
// takes O(Len()) time and panics when w is not in its Write.
func (t *Table[T]) Clear(w *Writer) { t.core.clear(w) }

// Clear erases every item; see [Table.Clear].
func (t *StableTable[T]) Clear(w *Writer) { t.core.clear(w) }

func (t *table) clear(w *Writer) {
	w.use(t, "Clear")
	if t.tracked && t.len() > 0 {
		t.clearing(w)
	}
	for i, sh := range t.order {
		sh.Map.Clear()
		for _, c := range t.sparse {
			c.shard(i).Clear()
		}
	}
	for _, x := range t.indexes {
		x.clear()
	}
}

// Maps returns the maps of the shards of t, by typeId, with their whole
// vocabulary. They may be used until the Write or Frame ends, but not while a pass or flush
// runs in it. MaxItems of the table bounds each of them, not their sum. They keep their
// typeId and options: [handlemap.Map.CopyTo] into one panics unless the source has the
// same typeId and MinFree, and a Write or Frame that assigns one panics at its end. Maps allocates
// the slice it returns and panics when w is not in its Write.
func Maps[T any](t *Table[T], w *Writer) []*handlemap.Map[T] {
	check.Given(t != nil, "store: Maps", "table")
	w.use(&t.core, "Maps")
	t.core.lend()
	maps := make([]*handlemap.Map[T], len(t.core.order))
	for i := range maps {
		maps[i] = (*handlemap.Map[T])(unsafe.Pointer(t.core.packed(i)))
	}
	return maps
}

// Maps rests on this: a map is a dense set, and nothing else.
var _ = [1]struct{}{}[unsafe.Sizeof(handlemap.Map[int]{})-unsafe.Sizeof(dense.Set{})]
