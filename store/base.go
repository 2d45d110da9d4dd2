package store

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/shard"
	"handloom/shard/handlemap"
)

// tableBase is what tables of both kinds have in common: shards, recording and
// flushing. Where items lie, and so how they are looked up and visited, is up to
// the kind.
type tableBase[T any] struct {
	store    *Store
	name     string
	ordinal  int
	first    uint16            // typeId of the first shard
	order    []*shard.Shard[T] // by typeId
	maxItems int
	chunk    int              // rows
	fields   []uintptr        // offsets of handles within T
	visitor  shard.Visitor[T] // of handles behind references; nil: there are none
	tracked  bool             // keeps change lists
	copying  copying[T]       // of items, for checkpoints
	forget   func()           // empties the lookups of the kind, when the store closes

	recorder batch.Recorder[T]
	flushing tableFlush[T]
	reducers sync.Map // by result type, a *reduction that is nil: the *sync.Pool of them
}

// table is a tableBase of any item type, as the store sees it.
type table interface {
	Name() string
	has(id ID) bool
	resolveID(id ID) (ID, bool)
	typeIDs() (first uint16, shards int)
	index() int // ordinal
	stats() TableStats
	digest(shard int) uint64
	verify(shard int) error
	leak() error
	dump(shard int, yield func(ID, any) bool)
	close()

	copyable() error
	newCopy() tableCopy
	forgetFlush()

	gather(c batch.Recorded, k batch.Key) (first bool)
	gatherErases(list int, ids []ID, k batch.Key) (first bool)
	number()
	cost(shard int) int64
	plan(shard int)
	deal() error
	needsMemory(shard int) bool
	makeRoom(shard int)
	apply(shard int)
	link(shard int)
	hasLinks() bool
	visits() bool
	findLinks(shard int)
	patch(shard int)
	tracks() bool
	forgetChanges(epoch uint64)
	wake() (slept bool)
	restIfIdle() (rests bool)
	pendingName(id ID) ID
	cancel()
	publish(epoch uint64, stale []Sample) (TableReport, []Sample)
}

// register adds a table of either kind to s: it checks the options, makes a
// shard for each typeId with make, and leaves s unchanged if anything fails.
func (t *tableBase[T]) register(s *Store, o TableOptions[T], make func(handlemap.Options) (shard.Container[T], error)) error {
	if !s.gate.tryAcquire(false) {
		return fmt.Errorf("store: Register: %w: a phase is open; register before the first one or between two", ErrPhase)
	}
	defer s.gate.release(false)
	if s.closed {
		return fmt.Errorf("store: Register: %w", ErrClosed)
	}
	if o.Name == "" {
		o.Name = reflect.TypeFor[T]().String()
	}
	if o.Shards == 0 {
		o.Shards = 1
	}
	if err := t.init(s, o, make); err != nil {
		return prefixed(fmt.Sprintf("store: Register table %q", o.Name), err)
	}
	s.add(t, o.Name)
	return nil
}

// prefixed returns err with prefix before each of the faults that it joins.
func prefixed(prefix string, err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return fmt.Errorf("%s: %w", prefix, err)
	}
	var errs []error
	for _, fault := range joined.Unwrap() {
		errs = append(errs, prefixed(prefix, fault))
	}
	return errors.Join(errs...)
}

func (t *tableBase[T]) init(s *Store, o TableOptions[T], make func(handlemap.Options) (shard.Container[T], error)) error {
	fields, err := handleFields(reflect.TypeFor[T](), o.Links != nil)
	if err := errors.Join(err, o.validate(s)); err != nil {
		return err
	}
	if o.TypeID == 0 {
		o.TypeID = s.freeRun(o.Shards)
	}
	t.store, t.name, t.ordinal, t.first = s, o.Name, len(s.tables), uint16(o.TypeID)
	t.maxItems, t.chunk, t.fields = o.MaxItems, o.chunkRows(), fields
	t.visitor, t.tracked = o.Links, o.Changes
	t.forget()
	t.copying.init(o.Clone)
	for i := range o.Shards {
		m, err := make(handlemap.Options{
			TypeID: o.TypeID + i, Reserve: (o.Reserve + o.Shards - 1) / o.Shards,
			MinFree: o.MinFree, MaxItems: o.MaxItems,
		})
		if err != nil {
			return err
		}
		t.order = append(t.order, shard.New(m))
		if o.Changes {
			t.order[i].Track()
		}
	}
	t.recorder.Init(s.batch, t.ordinal, t.first, o.Shards, check.HasPointers(reflect.TypeFor[T]()))
	t.flushing.init(s, o.Shards)
	return nil
}

// Name returns the name of the table.
func (t *tableBase[T]) Name() string { return t.name }

// Len returns the number of items, in O(shards) time.
func (t *tableBase[T]) Len() int {
	n := 0
	for _, sh := range t.order {
		n += sh.Map.Len()
	}
	return n
}

// Handle returns id as a handle of the table, and whether its typeId is one of
// the table's. It does not look whether the item lives.
func (t *tableBase[T]) Handle(id ID) (Handle[T], bool) {
	if uint(id.TypeID())-uint(t.first) < uint(len(t.order)) {
		return Handle[T]{ID: id}, true
	}
	return Handle[T]{}, false
}

func (t *tableBase[T]) has(id ID) bool {
	h, ok := t.Handle(id)
	return ok && t.order[id.TypeID()-t.first].Map.Has(h)
}

func (t *tableBase[T]) typeIDs() (first uint16, shards int) { return t.first, len(t.order) }

func (t *tableBase[T]) index() int { return t.ordinal }

func (t *tableBase[T]) digest(shard int) uint64 { return t.order[shard].Map.Digest() }

func (t *tableBase[T]) verify(shard int) error {
	if err := t.order[shard].Map.Verify(); err != nil {
		return fmt.Errorf("store: table %q: %w", t.name, err)
	}
	return nil
}

// dump calls yield for every handle and item of a shard until it says false.
func (t *tableBase[T]) dump(shard int, yield func(ID, any) bool) {
	for h, item := range t.order[shard].Map.All() {
		if !yield(h.ID, item) {
			return
		}
	}
}

// close forgets the items; lookups find nothing.
func (t *tableBase[T]) close() {
	t.forget()
	for i := range t.order {
		t.order[i] = shard.New[T](new(shard.Packed[T]))
	}
	t.flushing.forget()
}
