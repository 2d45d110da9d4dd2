package store

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"sync"
	"unsafe"

	"handloom/batch"
	"handloom/shard"
	"handloom/shard/handle"
	"handloom/shard/handlemap"
)

// MaxShards is how many shards a table may have.
const MaxShards = 64

// TableOptions configure a table of items of type T. The zero TableOptions are
// good.
type TableOptions[T any] struct {
	Name       string // unique in the store; "": the name of T
	Shards     int    // 1 to 64; 0: 1. A hot type is spread by giving it more
	TypeID     int    // of the first shard, 1 to 32767; 0: the next free run of Shards typeIds
	Reserve    int    // items to make room for at once
	MaxItems   int    // in all shards together; 0: as many as slots allow
	MinFree    int    // vacant slots each shard holds back, so that a slot rests for at least as many erases
	ChunkItems int    // rows of a chunk; 0: a multiple of 64, at least 1,024 rows and 64 KiB
}

// Table holds all items of one type T in a store.
type Table[T any] struct {
	shards [MaxShards]*shard.Shard[T] // by typeId & 63; unused entries point at an empty shard

	store    *Store
	name     string
	ordinal  int
	first    uint16            // typeId of the first shard
	order    []*shard.Shard[T] // by typeId
	maxItems int
	chunk    int       // rows
	fields   []uintptr // offsets of handles within T

	recorder batch.Recorder[T]
	flushing tableFlush[T]
	pass     forEachPass[T]
	reducers sync.Map // by result type, a *reduction[T, R] that is nil: the *sync.Pool of them
}

// table is a Table of any item type, as the store sees it.
type table interface {
	has(id ID) bool
	resolveID(id ID) (ID, bool)
	typeIDs() (first uint16, shards int)
	index() int // ordinal
	stats() TableStats
	digest(shard int) uint64
	verify(shard int) error
	close()

	gather(c batch.Recorded, pass, task int) (first bool)
	number()
	cost(shard int) int64
	plan(shard int)
	deal() error
	needsMemory(shard int) bool
	makeRoom(shard int)
	apply(shard int)
	link(shard int)
	hasLinks() bool
	pendingName(id ID) ID
	cancel()
	publish(epoch uint64, stale []Sample) (TableReport, []Sample)
}

// Register adds a table of items of type T to s. It asks the gate and fails
// with [ErrPhase] inside a phase. Every other fault (a duplicate name, typeIds
// that clash or do not fit, more than 64 shards, sizes that are negative or too
// large, handles in T where a flush cannot make them real) is named in the
// error, and the store is unchanged.
func Register[T any](s *Store, o TableOptions[T]) (*Table[T], error) {
	if !s.gate.TryAcquire(everyone) {
		return nil, fmt.Errorf("store: Register: %w: a phase is open; register before the first one or between two", ErrPhase)
	}
	defer s.gate.Release(everyone)
	if s.closed {
		return nil, fmt.Errorf("store: Register: %w", ErrClosed)
	}
	if o.Name == "" {
		o.Name = reflect.TypeFor[T]().String()
	}
	if o.Shards == 0 {
		o.Shards = 1
	}
	fields, err := handleFields(reflect.TypeFor[T]())
	if err := errors.Join(err, o.validate(s)); err != nil {
		return nil, fmt.Errorf("store: Register table %q: %w", o.Name, err)
	}
	if o.TypeID == 0 {
		o.TypeID = s.freeRun(o.Shards)
	}
	t := &Table[T]{
		store: s, name: o.Name, ordinal: len(s.tables), first: uint16(o.TypeID),
		maxItems: o.MaxItems, chunk: o.chunkRows(), fields: fields,
	}
	if err := t.init(o); err != nil {
		return nil, fmt.Errorf("store: Register table %q: %w", o.Name, err)
	}
	s.add(t, o.Name)
	return t, nil
}

func (o TableOptions[T]) validate(s *Store) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if s.names[o.Name] {
		fault("the name is taken")
	}
	if o.Shards < 0 || o.Shards > MaxShards {
		fault("Shards %d is outside 1..%d", o.Shards, MaxShards)
		return errors.Join(errs...)
	}
	if o.ChunkItems < 0 {
		fault("ChunkItems %d is negative", o.ChunkItems)
	}
	// The maps check the rest of the sizes, but see a shard's part of this one.
	if o.Reserve < 0 || o.MaxItems > 0 && o.Reserve > o.MaxItems {
		fault("Reserve %d is negative or exceeds MaxItems %d", o.Reserve, o.MaxItems)
	}
	switch last := o.TypeID + o.Shards - 1; {
	case o.TypeID < 0 || o.TypeID > handle.MaxTypeID || last > handle.MaxTypeID:
		fault("TypeIDs %d to %d are outside 1..%d", o.TypeID, last, handle.MaxTypeID)
	case o.TypeID == 0 && s.freeRun(o.Shards) == 0:
		fault("no %d consecutive typeIds are free", o.Shards)
	case o.TypeID > 0 && !s.isFree(o.TypeID, o.Shards):
		fault("of the TypeIDs %d to %d at least one is taken", o.TypeID, last)
	}
	return errors.Join(errs...)
}

// chunkRows is the default chunk: large enough that a task outweighs its claim,
// a multiple of 64 so that chunks share no cache line whatever the item's size.
func (o TableOptions[T]) chunkRows() int {
	if o.ChunkItems > 0 {
		return o.ChunkItems
	}
	var item T
	rows := 1024
	if size := int(unsafe.Sizeof(item)); size > 0 {
		rows = max(rows, (64<<10+size-1)/size)
	}
	return (rows + 63) / 64 * 64
}

func (t *Table[T]) init(o TableOptions[T]) error {
	empty := new(shard.Shard[T])
	for i := range t.shards {
		t.shards[i] = empty
	}
	for i := range o.Shards {
		sh := new(shard.Shard[T])
		err := sh.Init(handlemap.Options{
			TypeID: o.TypeID + i, Reserve: (o.Reserve + o.Shards - 1) / o.Shards,
			MinFree: o.MinFree, MaxItems: o.MaxItems,
		})
		if err != nil {
			return err
		}
		t.order = append(t.order, sh)
		t.shards[(o.TypeID+i)%MaxShards] = sh
	}
	t.recorder.Init(t.store.batch, t.ordinal, t.first, o.Shards, hasPointers(reflect.TypeFor[T]()))
	t.flushing.init(t.store, o.Shards)
	t.pass.init(t)
	return nil
}

// freeRun returns the lowest typeId that begins n free ones, or 0.
func (s *Store) freeRun(n int) int {
	for first := 1; first+n-1 <= handle.MaxTypeID; first++ {
		if s.isFree(first, n) {
			return first
		}
	}
	return 0
}

func (s *Store) isFree(first, n int) bool {
	for id := first; id < min(first+n, len(s.byType)); id++ {
		if s.byType[id] != nil {
			return false
		}
	}
	return true
}

// add makes a table part of the store.
func (s *Store) add(t table, name string) {
	first, shards := t.typeIDs()
	for end := int(first) + shards; len(s.byType) < end; {
		s.byType = append(s.byType, nil)
	}
	for i := range shards {
		s.byType[int(first)+i] = t
	}
	s.tables = append(s.tables, t)
	s.names[name] = true
	s.statsLock.Lock()
	s.stats.Tables = append(s.stats.Tables, t.stats())
	s.statsLock.Unlock()
}

// Get returns a pointer to the item that h names, and whether there is one. It
// takes O(1) time and inlines (op=get/impl=table).
//
// It may be called from any goroutine inside a phase that changes nothing, and
// between phases by the goroutine that flushes. The pointer is good until the
// phase ends.
func (t *Table[T]) Get(h Handle[T]) (*T, bool) {
	return t.shards[h.ID>>48&(MaxShards-1)].Get(h)
}

// Has reports whether h names an item; see [Table.Get].
func (t *Table[T]) Has(h Handle[T]) bool {
	_, ok := t.shards[h.ID>>48&(MaxShards-1)].Get(h) // Has of the map is beyond what inlines here
	return ok
}

// At returns a pointer to the item that h names, as [Table.Get] does, and
// panics with a [*StaleError] if there is none.
func (t *Table[T]) At(h Handle[T]) *T {
	return t.shards[h.ID>>48&(MaxShards-1)].At(h)
}

// Handle returns id as a handle of the table, and whether its typeId is one of
// the table's. It does not look whether the item lives.
func (t *Table[T]) Handle(id ID) (Handle[T], bool) {
	if uint(id.TypeID())-uint(t.first) < uint(len(t.order)) {
		return Handle[T]{ID: id}, true
	}
	return Handle[T]{}, false
}

// Len returns the number of items, in O(shards) time.
func (t *Table[T]) Len() int {
	n := 0
	for _, sh := range t.order {
		n += sh.Len()
	}
	return n
}

// All iterates over handles and items: shards by typeId, each in dense order.
// Nothing structural may change meanwhile.
func (t *Table[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		for _, sh := range t.order {
			for h, v := range sh.All() {
				if !yield(h, v) {
					return
				}
			}
		}
	}
}

// Name returns the name of the table.
func (t *Table[T]) Name() string { return t.name }

func (t *Table[T]) has(id ID) bool { return t.Has(Handle[T]{ID: id}) }

func (t *Table[T]) typeIDs() (first uint16, shards int) { return t.first, len(t.order) }

func (t *Table[T]) index() int { return t.ordinal }

func (t *Table[T]) digest(shard int) uint64 { return t.order[shard].Digest() }

func (t *Table[T]) verify(shard int) error {
	if err := t.order[shard].Verify(); err != nil {
		return fmt.Errorf("store: table %q: %w", t.name, err)
	}
	return nil
}

// close forgets the items; lookups find nothing.
func (t *Table[T]) close() {
	empty := new(shard.Shard[T])
	for i := range t.shards {
		t.shards[i] = empty
	}
	for i := range t.order {
		t.order[i] = empty
	}
	t.flushing.forget()
}
