package store

import (
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"unsafe"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/items"
	"handloom/internal/paged"
	"handloom/internal/slotset"
	"handloom/shard"
)

// Table holds all items of one type T in a store, packed: the last item fills the gap of
// an erased one, so that passes read slices without gaps. [Register] makes one.
//
// See guide/quick-start.md and guide/size-a-table.md.
type Table[T any] struct {
	maps [MaxShards]*dense.Set // by typeId & 63; see lookups
	anyTable
}

// Register adds a table of items of type T to s. Failures are mistakes of the program, so
// Register panics with an error, and s is unchanged. The error wraps [ErrPhase] (a phase
// is open) or [ErrClosed], or names every fault: a duplicate name, conflicting or invalid
// typeIds, more than 64 shards, negative or too large sizes, handles in T that a flush
// cannot reach.
func Register[T any](s *Store, o TableOptions[T]) *Table[T] {
	t := new(Table[T])
	t.core.lookups.packed = &t.maps
	t.core.registerAs(s, untypedOptions(&o), items.For[T](), nil)
	t.core.pass.init(domain{table: &t.core})
	return t
}

func (t *Table[T]) resource() resource {
	if t == nil {
		return resource{}
	}
	return resource{table: &t.core}
}

// Name returns the name of the table.
func (t *anyTable) Name() string { return t.core.name }

// Len returns the number of items, in O(shards) time.
func (t *anyTable) Len() int {
	if check.Cheap {
		t.core.lookup("Len")
	}
	return t.core.len()
}

// Handle returns id as a handle of the table, and whether its typeId belongs to the
// table. It does not check whether the item lives.
func (t *Table[T]) Handle(id ID) (Handle[T], bool) {
	if t.core.owns(id) {
		return Handle[T]{ID: id}, true
	}
	return Handle[T]{}, false
}

// Get returns a pointer to the item h, and whether it exists. It takes O(1) time and
// inlines (op=get/impl=table).
//
// Any goroutine inside a phase that changes nothing may call it, and between phases the
// goroutine that flushes. The pointer is valid until the phase ends.
func (t *Table[T]) Get(h Handle[T]) (*T, bool) {
	if check.Cheap {
		t.core.lookup("Get")
	}
	return dense.Find[T](t.maps[h.ID>>48&(MaxShards-1)], h.ID)
}

// Has reports whether h names an item; see [Table.Get].
func (t *Table[T]) Has(h Handle[T]) bool {
	if check.Cheap {
		t.core.lookup("Has")
	}
	_, ok := dense.Find[T](t.maps[h.ID>>48&(MaxShards-1)], h.ID)
	return ok
}

// At returns the pointer of [Table.Get]. It panics with a [*StaleError] if the item does
// not exist.
func (t *Table[T]) At(h Handle[T]) *T {
	if check.Cheap {
		t.core.lookup("At")
	}
	m := t.maps[h.ID>>48&(MaxShards-1)]
	v, ok := dense.Find[T](m, h.ID)
	if !ok {
		panic(m.NewStaleError(h.ID))
	}
	return v
}

// All iterates over handles and items: shards by typeId, each in dense order.
//
// Meanwhile a [Writer] may remove the current item and insert others, which may or may not
// be visited. After any other removal or change of order, also by a flush, the next step
// panics, or the end of the loop if another shard changed: remove other items after it.
func (t *Table[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		if check.Cheap {
			t.core.lookup("All")
		}
		sum := t.core.rowChanges()
		for i := range t.core.order {
			m := t.core.packed(i)
			sum -= m.Changes()
			for h, v := range dense.All[T](m) {
				if !yield(h, v) {
					return
				}
			}
			sum += m.Changes()
		}
		slotset.MustEqual(sum, t.core.rowChanges())
	}
}

// rowChanges returns the sum over the shards, which shows changes of other shards than the
// one of an iteration.
func (t *table) rowChanges() (sum uint64) {
	for i := range t.order {
		sum += t.packed(i).Changes()
	}
	return sum
}

// table is the untyped core of a table: shards, commands, flushes and copies. It works on
// handles and numbers, so it is compiled once for all tables; [Table] and [StableTable]
// are thin typed shells.
type table struct {
	store      *Store
	name       string
	ordinal    int
	first      uint16         // typeId of the first shard
	order      []*shard.Shard // by typeId
	typ        *items.Type    // item type
	maxItems   int
	chunk      int                      // rows per chunk
	fields     []uintptr                // offsets of handles in an item
	visitor    shard.LinkVisitor        // visits handles inside references; nil: none
	links      bool                     // items, columns or sparse data have handle fields
	visits     bool                     // items, columns or sparse data have a Links function
	tracked    bool                     // keeps change lists
	fixedKeys  bool                     // see TableOptions
	events     bool                     // items end without a command
	reader     atomic.Pointer[Schedule] // the last one made that reads or writes it, which ends the events; nil: none
	version    uint64                   // increases when items are created, erased or moved
	copying    copying
	lookups    lookups
	migrate    map[string]func(old Fields, v unsafe.Pointer) error
	initial    items.Slice  // one item, the initial [Value]; empty for a table
	value      handle.ID    // handle of that item
	components []*component // columns and sparse data, in the order of addition
	columns    []*column
	sparse     []*sparseData
	indexes    []keyIndex // in the order of addition

	minFree, reserve int // per shard

	recorder batch.Recorder
	flushing tableFlush
	stats    shardStats
	pass     pass
	written  written
	changes  changes
	passes   sync.Pool // of *pass, for passes that do not write items
	folds    sync.Pool // of *folding, for reuse
	reducers sync.Map  // *sync.Pool of reductions, by a nil *reduction of their result type
}

// lookups are the maps of a table by typeId & 63, for its typed shell. Depending on the
// kind of the table only packed or stable is set. Unused entries are the first map, which
// has no word with another typeId, so that they find nothing.
type lookups struct {
	packed *[MaxShards]*dense.Set
	stable *[MaxShards]*paged.Set
	cells  *paged.Type // type of the items, for stable
}

// rowOf returns the row of the item id, and whether it exists.
func (l *lookups) rowOf(id ID) (int, bool) {
	tag := id >> 48 & (MaxShards - 1)
	if l.packed != nil {
		return l.packed[tag].RowOf(id)
	}
	return l.stable[tag].RowOf(id)
}

// idOf returns the handle of the item at a reference of groups: typeId & 63 above the
// row.
func (l *lookups) idOf(ref uint64) ID {
	tag, row := ref>>32&(MaxShards-1), int(uint32(ref))
	if l.packed != nil {
		return l.packed[tag].IDAt(row)
	}
	return l.stable[tag].IDAt(row)
}

// makeMap makes the map of a shard and adds it to the lookups.
func (l *lookups) makeMap(t *items.Type, o handle.Options) (shard.Map, error) {
	if l.packed != nil {
		m, err := dense.New(t, o)
		if err == nil {
			l.packed[o.TypeID%MaxShards] = m
		}
		return m, err
	}
	m, err := paged.New(l.cells, o)
	if err == nil {
		l.stable[o.TypeID%MaxShards] = m
	}
	return m, err
}

// complete sets the unused entries.
func (l *lookups) complete(first uint16) {
	if l.packed != nil {
		complete(l.packed, first)
		return
	}
	complete(l.stable, first)
}

func complete[M any](maps *[MaxShards]*M, first uint16) {
	for i, m := range maps {
		if m == nil {
			maps[i] = maps[first%MaxShards]
		}
	}
}

// forget makes the lookups find nothing: all entries are an empty map of the typeId.
func (l *lookups) forget(t *items.Type, typeID uint16) {
	if l.packed != nil {
		none, _ := dense.New(t, handle.Options{TypeID: int(typeID)}) // typeID is valid
		fill(l.packed[:], none)
		return
	}
	none, _ := paged.New(l.cells, handle.Options{TypeID: int(typeID)})
	fill(l.stable[:], none)
}

func fill[E any](all []E, v E) {
	for i := range all {
		all[i] = v
	}
}

// register adds a table of either kind to s: it checks the options and makes a shard per
// typeId. On failure s is unchanged. cells is nil for a packed table.
func (t *table) register(s *Store, verb string, o options, typ *items.Type, cells *paged.Type) error {
	s.made(verb)
	if err := s.lockSchema(verb, "register outside phases"); err != nil {
		return err
	}
	defer s.gate.release(false)
	if o.Name == "" {
		o.Name = typ.Reflect.String()
	}
	if o.Shards == 0 {
		o.Shards = 1
	}
	t.typ, t.lookups.cells = typ, cells
	if err := t.init(s, o); err != nil {
		what := "table "
		if o.initial.Len() > 0 {
			what = ""
		}
		return prefixed(fmt.Sprintf("store: %s %s%q", verb, what, o.Name), err)
	}
	s.add(t, o.Name)
	return nil
}

// lockSchema takes the gate to register a part of the store.
func (s *Store) lockSchema(verb, instead string) (err error) {
	if !s.gate.tryAcquire(false) {
		return fmt.Errorf("store: %s: %w: a phase is open; %s", verb, ErrPhase, instead)
	}
	if s.closed {
		err = ErrClosed
	} else if s.claim.Load() != nil {
		err = errClaimed
	} else {
		return nil
	}
	s.gate.release(false)
	return fmt.Errorf("store: %s: %w", verb, err)
}

// prefixed returns err with prefix before each joined error.
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

func (t *table) init(s *Store, o options) error {
	fields, err := handleFields(t.typ.Reflect, o.links != nil, "TableOptions.Links")
	if err := errors.Join(err, o.validate(s)); err != nil {
		return err
	}
	if o.TypeID == 0 {
		o.TypeID = s.freeRun(o.Shards)
	}
	t.store, t.name, t.ordinal, t.first = s, o.Name, len(s.tables), uint16(o.TypeID)
	t.maxItems, t.minFree, t.reserve = o.MaxItems, o.MinFree, (o.Reserve+o.Shards-1)/o.Shards
	t.chunk, t.fields = o.chunkRows(t.typ.Size), fields
	t.visitor, t.tracked, t.events, t.migrate = o.links, o.Changes, o.Events, o.migrate
	t.links, t.visits = len(fields) > 0, o.links != nil
	t.copying.init(o.Name, t.typ, o.clone)
	for i := range o.Shards {
		m, err := t.lookups.makeMap(t.typ, handle.Options{
			TypeID: o.TypeID + i, Reserve: t.reserve, MinFree: o.MinFree, MaxItems: o.MaxItems,
		})
		if err != nil {
			return err
		}
		t.order = append(t.order, shard.New(m, t.typ, fields, o.links))
	}
	t.lookups.complete(t.first)
	routed := o.Shards
	if t.initial = o.initial; t.isValue() {
		routed = 0 // an erase without a type does not reach it
		if err := t.setInitial(t.order[0].Map); err != nil {
			return err
		}
	}
	t.recorder.Init(s.batch, t.first, routed, t.typ)
	t.recorder.Links(t.fields, t.visitor)
	t.flushing.init(s, o.Shards)
	t.fixedKeys = o.FixedKeys
	if t.tracked {
		t.written.init(t, nil)
		t.changes.init(t)
	}
	return nil
}

func (t *table) len() int {
	n := 0
	for _, sh := range t.order {
		n += sh.Map.Len()
	}
	return n
}

// owns reports whether the typeId of id belongs to the table.
func (t *table) owns(id ID) bool { return uint(id.TypeID())-uint(t.first) < uint(len(t.order)) }

func (t *table) has(id ID) bool { return t.item(id) != nil }

func (t *table) item(id ID) unsafe.Pointer {
	if !t.owns(id) {
		return nil
	}
	return t.order[id.TypeID()-t.first].Map.Item(id)
}

func (t *table) digest(shard int) uint64 { return t.order[shard].State().Digest() }

func (t *table) verify(shard int) error {
	if err := t.order[shard].State().Verify(); err != nil {
		return fmt.Errorf("store: table %q: %w", t.name, err)
	}
	if shard == 0 && t.indexes != nil {
		return t.verifyKeys()
	}
	return nil
}

// dump calls yield for every handle and item of a shard after the first n, and reports
// whether yield always returned true.
func (t *table) dump(shard, n int, yield func(ID, any) bool) bool {
	more := true
	t.order[shard].Map.From(n, func(id ID, item unsafe.Pointer) bool {
		more = yield(id, t.typ.Any(item))
		return more
	})
	return more
}

// close drops the items; lookups find nothing.
func (t *table) close() {
	t.version++
	t.lookups.forget(t.typ, t.first)
	for _, c := range t.columns {
		c.forget()
	}
	for _, c := range t.sparse {
		c.forget()
	}
	for _, x := range t.indexes {
		x.clear()
	}
	for i, sh := range t.order {
		t.order[i] = shard.New(shard.EmptyLike(shard.State{Map: sh.Map}).Map, t.typ, nil, nil)
	}
	t.recorder.Reset()
	t.changes.forget()
	t.changes.trim(batch.AllShards(len(t.order)))
}
