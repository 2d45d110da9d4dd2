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

// Writer proves that its holder is inside a Write, where tables may be changed
// at once. It is good until that Write ends.
type Writer struct {
	phase   *phase
	changed []*table
}

// Write holds the store alone while fn runs. Inside, w gives immediate changes,
// and ForEach, Each, Reduce, Flush, Digest and Verify join through the context,
// one after another, so that a whole tick can be one phase and readers see whole
// ticks. All of it is one frame, unless [Writer.EndFrame] ends it before. Changes
// made before fn fails stay. Write returns the error of fn, or the cause of ctx when
// that ends before the gate opens.
func (s *Store) Write(ctx context.Context, fn func(ctx context.Context, w *Writer) error) error {
	check.Given(fn != nil, "store: Write", "function")
	all := new(struct { // one object
		phase  phase
		writer Writer
		frame  frame
	})
	p, w := &all.phase, &all.writer
	if err := p.enter(ctx, s, opWrite); err != nil {
		return err
	}
	defer s.receipts.end(&all.frame)
	defer p.leave()
	defer p.trace("").end()
	w.phase, p.frame = p, &all.frame
	p.frame.begin(s)
	s.flush.adopt(p.frame.number)
	s.writes++
	defer func() {
		s.endLending()
		s.publishAll(w.changed)
	}()
	return fn(p, w)
}

// use panics unless w is inside a Write of the table's store that no pass or
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
		panic(fmt.Sprintf("store: %s with the Writer of another store; use the one that this store's Write gave to its function", operation))
	}
	if written := &s.written[t.ordinal]; *written != s.writes {
		*written = s.writes
		w.changed = append(w.changed, t)
		t.nameRows()
	}
}

// check panics unless w is inside a Write that no pass or flush is running in.
func (w *Writer) check(operation string) {
	switch {
	case w == nil || w.phase == nil:
		panic(fmt.Sprintf("store: %s with a Writer that no Write gave; change tables inside the function given to Write", operation))
	case w.phase.ended.Load():
		panic(fmt.Sprintf("store: %s with a Writer whose Write has ended; change tables inside the function given to Write", operation))
	case w.phase.busy.Load():
		panic(fmt.Sprintf("store: %s while a pass or flush runs in the same Write; record into the queue of the task instead", operation))
	}
}

// Insert adds v to the shard with the fewest items, the first of those by
// typeId, and returns its handle. It fails with [ErrFull], or with [ErrDuplicate] if an
// [Index] has the key of v, and then nothing has changed. It takes O(shards) time and panics
// when w is not in its Write.
func (t *Table[T]) Insert(w *Writer, v T) (Handle[T], error) {
	shard, err := t.core.insertInto(w)
	if err != nil {
		return Handle[T]{}, err
	}
	if t.core.indexes != nil {
		value := new(T) // v would be on the heap in every call
		*value = v
		if err := t.core.mayAdd(unsafe.Pointer(value)); err != nil {
			return Handle[T]{}, err
		}
	}
	h, err := dense.Insert(t.mapOf(shard), v)
	if t.core.tracked && err == nil {
		t.core.inserted(w, shard, h.ID)
	}
	if t.core.indexes != nil && err == nil {
		t.core.added(h.ID)
	}
	return h, t.core.named(err)
}

// Insert adds v at once; see [Table.Insert].
func (t *StableTable[T]) Insert(w *Writer, v T) (Handle[T], error) {
	shard, err := t.core.insertInto(w)
	if err != nil {
		return Handle[T]{}, err
	}
	if t.core.indexes != nil {
		value := new(T) // v would be on the heap in every call
		*value = v
		if err := t.core.mayAdd(unsafe.Pointer(value)); err != nil {
			return Handle[T]{}, err
		}
	}
	h, err := paged.Insert(t.mapOf(shard), v)
	if t.core.tracked && err == nil {
		t.core.inserted(w, shard, h.ID)
	}
	if t.core.indexes != nil && err == nil {
		t.core.added(h.ID)
	}
	return h, t.core.named(err)
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
			c.of(i).Clear()
		}
	}
	for _, x := range t.indexes {
		x.clear()
	}
}

// Maps returns the maps of the shards of t, by typeId, with their whole
// vocabulary. They may be used until the Write ends, but not while a pass or flush
// runs in it. MaxItems of the table bounds each of them, not their sum. They keep their
// typeId and options: [handlemap.Map.CopyTo] into one panics unless the source has the
// same typeId and MinFree, and a Write that assigns one panics at its end. Maps allocates
// the slice it returns and panics when w is not in its Write.
func Maps[T any](t *Table[T], w *Writer) []*handlemap.Map[T] {
	check.Given(t != nil, "store: Maps", "table")
	w.use(&t.core, "Maps")
	t.core.lend()
	maps := make([]*handlemap.Map[T], len(t.core.order))
	for i := range maps {
		maps[i] = (*handlemap.Map[T])(unsafe.Pointer(t.mapOf(i)))
	}
	return maps
}

// Maps rests on this: a map is a dense set, and nothing else.
var _ = [1]struct{}{}[unsafe.Sizeof(handlemap.Map[int]{})-unsafe.Sizeof(dense.Set{})]
