package store

import (
	"context"
	"fmt"
	"sync/atomic"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/paged"
)

// frame is the outermost of a Frame, a Write, a Run of a schedule and a Flush, or a tick of
// package world.
type frame struct {
	number  uint64 // unique in the store; 0: never begun
	sealed  bool   // the inbox is sealed, which is done once per frame
	refused error  // error of the first failed Insert

	waitedFor bool // a call of Submit waits for its end
}

func (f *frame) begin(s *Store) { f.number, f.sealed, f.refused = s.frames.Add(1), false, nil }

// seal adds the waiting calls of the inbox to the batch, once per frame: which flush of
// the frame applies a call must not depend on its arrival time.
func (f *frame) seal(s *Store) {
	if !f.sealed {
		f.sealed = true
		s.batch.Seal()
	}
}

// frameOf returns the frame of a flush in phase p: the frame of the Frame or Run around it,
// or a new one.
func (s *Store) frameOf(p *phase) *frame {
	if p.outer != nil {
		return p.outer.frame
	}
	s.flush.singleFrame.begin(s)
	return &s.flush.singleFrame
}

// Frame holds the store alone, calls fn, and flushes. Passes, flushes, schedules,
// orderings, checkpoints, rollbacks, snapshots, Load, Reduce, Digest and Verify join it
// through fn's context, one at a time, so that a whole tick can be one phase. w changes
// tables at once. All of it is one frame.
//
// Frame returns the report of its flush, which is valid until the next flush. It does not
// flush if fn or an Insert fails, or ctx ends before the store is free; it returns the
// error of fn, else the first error of an Insert, or the cause of ctx. The commands since
// the last flush of fn are then dropped, and immediate changes stay. If the flush itself
// fails, the batch is kept, as by [Store.Flush].
func (s *Store) Frame(ctx context.Context, fn func(ctx context.Context, w *Writer) error) (*Report, error) {
	check.Given(fn != nil, "store: Frame", "function")
	y, err := s.beginWriting(ctx, opFrame)
	if err != nil {
		return nil, err
	}
	defer y.end()
	if err := y.run(fn); err != nil {
		return nil, err
	}
	return s.endFrame(&y.phase)
}

// run calls the function of a Frame. If it or an Insert fails, the commands since its last
// flush are dropped.
func (y *writing) run(fn func(ctx context.Context, w *Writer) error) error {
	b := y.phase.store.batch
	mark, failed := b.Mark(), true
	defer func() {
		if failed { // or fn panics
			b.DropSince(mark)
		}
	}()
	err := fn(&y.phase, &y.writer)
	if err == nil {
		err = y.frame.refused
	}
	failed = err != nil
	return err
}

// endFrame flushes for a Frame that ends in phase p.
func (s *Store) endFrame(p *phase) (*Report, error) {
	inner, err := s.enterFlush(p)
	if err != nil {
		return nil, err
	}
	s.flush.endUnread()
	return s.flushIn(inner)
}

// Writer changes tables at once. It is valid inside the Write or Frame that gave it.
type Writer struct {
	phase   *phase
	changed []*table
	busy    atomic.Bool // checked builds: a call runs
}

// alone panics if another call with w runs, until the returned function is called. Only
// checked builds call it.
func (w *Writer) alone(operation string) (end func()) {
	if w == nil {
		return func() {}
	}
	if !w.busy.CompareAndSwap(false, true) {
		panic(fmt.Sprintf("store: %s while another call with the same Writer runs; call it on one goroutine, and not in a key function", operation))
	}
	return func() { w.busy.Store(false) }
}

// Write holds the store alone and calls fn, which changes tables at once with w: Insert,
// Remove, Clear, and Put and Remove of a [Sparse]. Passes, flushes and orderings need a
// [Store.Frame]. A Write is one frame.
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

// writing is an open Write or Frame, allocated at once.
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
	s.publishAll(y.writer.changed)
}

// use panics unless w is inside a Write or Frame of the table's store, outside passes and
// flushes. It notes that t changes.
func (w *Writer) use(t *table, operation string) {
	w.useComponent(t, operation)
	t.version++
}

// useComponent is use for columns and sparse data of t, whose rows do not change.
func (w *Writer) useComponent(t *table, operation string) {
	if s := t.store; w != nil && w.phase != nil && w.phase.store == s && s.written[t.ordinal] == s.writes && s.probe == nil &&
		!w.phase.ended.Load() && !w.phase.busy.Load() {
		return
	}
	w.useFirst(t, operation)
}

// useFirst is the slow path of useComponent: the first use of t in a Write or Frame, a wrong
// use, or a use that a probe sees.
func (w *Writer) useFirst(t *table, operation string) {
	w.check(operation)
	s := t.store
	if w.phase.store != s {
		panic(fmt.Sprintf("store: %s with the Writer of another store; use the Writer of a Write or Frame of this store", operation))
	}
	if s.probe != nil {
		s.probe.writes(w, t, operation)
	}
	if written := &s.written[t.ordinal]; *written != s.writes {
		*written = s.writes
		w.changed = append(w.changed, t)
		t.resolveRows()
	}
}

// check panics unless w is inside a Write or Frame, outside passes and flushes.
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
// returns its handle. It takes O(shards) time, invalidates pointers into the shard, and
// panics when w is used outside its Write or Frame.
//
// If the table is full, or an [Index] has the key of v, Insert changes nothing and
// returns the null handle. The Write or Frame then returns the first such error, which
// wraps [ErrFull] or [ErrDuplicate].
func (t *Table[T]) Insert(w *Writer, v T) Handle[T] {
	if check.Full {
		defer w.alone("Insert")()
	}
	shard, err := shardFor(&t.core, w, v)
	if err != nil {
		return Handle[T]{ID: w.fail(err)}
	}
	h, err := dense.Insert(t.core.packed(shard), v)
	return Handle[T]{ID: t.core.insertEnds(w, shard, h.ID, err)}
}

// Insert adds v at once; see [Table.Insert].
func (t *StableTable[T]) Insert(w *Writer, v T) Handle[T] {
	if check.Full {
		defer w.alone("Insert")()
	}
	shard, err := shardFor(&t.core, w, v)
	if err != nil {
		return Handle[T]{ID: w.fail(err)}
	}
	h, err := paged.Insert(t.core.pages(shard), v)
	return Handle[T]{ID: t.core.insertEnds(w, shard, h.ID, err)}
}

// shardFor returns the shard that gets v next.
func shardFor[T any](t *table, w *Writer, v T) (shard int, err error) {
	shard, err = t.insertInto(w)
	if err == nil && t.indexes != nil {
		value := new(T) // v itself would escape to the heap in every call
		*value = v
		err = t.mayAdd(unsafe.Pointer(value))
	}
	return shard, err
}

func (t *table) insertEnds(w *Writer, shard int, id ID, err error) ID {
	if err != nil {
		return w.fail(t.withName(err))
	}
	if t.tracked {
		t.inserted(w, shard, id)
	}
	if t.indexes != nil {
		t.added(id)
	}
	return id
}

// fail keeps the first error of an Insert, and returns the null ID.
func (w *Writer) fail(err error) ID {
	if f := w.phase.frame; f.refused == nil {
		f.refused = err
	}
	return 0
}

// insertInto returns the shard for the next item.
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
		return 0, t.withName(fmt.Errorf("%w: %d items are MaxItems", ErrFull, items))
	}
	return least, nil
}

// withName adds the name of the table to err, unless it is nil.
func (t *table) withName(err error) error {
	if err != nil {
		err = fmt.Errorf("store: table %q: %w", t.name, err)
	}
	return err
}

// Remove erases the item h and reports whether it existed, so that a second Remove has no
// effect. It returns false for handles of other tables and provisional handles.
//
// It takes O(1) time, moves the last item of the shard into the gap and invalidates
// pointers into the shard. It panics when w is used outside its Write or Frame; elsewhere
// record [Table.Erase].
func (t *Table[T]) Remove(w *Writer, h Handle[T]) bool {
	if check.Full {
		defer w.alone("Remove")()
	}
	t.core.remove(w, h.ID)
	return dense.Erase(t.maps[h.ID>>48&(MaxShards-1)], h)
}

// Remove erases the item h and reports whether it existed; see [Table.Remove]. It takes
// O(1) time and moves no item.
func (t *StableTable[T]) Remove(w *Writer, h Handle[T]) bool {
	if check.Full {
		defer w.alone("Remove")()
	}
	t.core.remove(w, h.ID)
	return paged.Erase(t.maps[h.ID>>48&(MaxShards-1)], h)
}

// remove prepares the immediate erase of an item.
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

// Clear erases every item, as [handlemap.Map.Clear] does. It takes O(Len()) time and
// panics when w is used outside its Write or Frame.
func (t *anyTable) Clear(w *Writer) { t.core.clear(w) }

func (t *table) clear(w *Writer) {
	if check.Full {
		defer w.alone("Clear")()
	}
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
