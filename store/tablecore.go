package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"handloom/batch"
	"handloom/internal/dense"
	"handloom/internal/items"
	"handloom/internal/paged"
	"handloom/shard"
	"handloom/shard/handle"
)

// table is all of a table but what a user's code calls with items: shards,
// commands, flushing, copies. It knows handles and numbers but no item type, so
// that it is compiled once for all tables of a program; [Table] and [StableTable]
// are thin typed shells over it.
type table struct {
	store    *Store
	name     string
	ordinal  int
	first    uint16         // typeId of the first shard
	order    []*shard.Shard // by typeId
	typ      *items.Type    // of the items
	maxItems int
	minFree  int
	chunk    int               // rows
	fields   []uintptr         // offsets of handles within an item
	visitor  shard.LinkVisitor // of handles behind references; nil: there are none
	links    bool              // items, or what lies beside them, have fields that hold handles
	visits   bool              // a flush calls a Links function, of the items or of what lies beside them
	tracked  bool              // keeps change lists
	events   bool              // items end without a command
	isRead   atomic.Bool       // by a schedule, which ends the events
	version  uint64            // of its rows: higher whenever items came, went or moved
	copying  copying           // of items, for checkpoints
	lookups  lookups           // where the typed shell finds the maps
	migrate  map[string]func(old Fields, v unsafe.Pointer) error
	initial  items.Slice   // one item, which a [Value] holds at first; none: this is a table
	value    handle.ID     // of that item
	parts    []*component  // what lies beside the items, in the order in which it was added
	columns  []*column     // of parts
	sparse   []*sparseData // likewise
	indexes  []keyIndex    // in the order in which they were added

	recorder   batch.Recorder
	flushing   tableFlush
	figures    figures
	pass       pass
	touched    touched
	written    written
	changes    changes
	rowsPasses sync.Pool // of *rowsPass: memory for the next
	erasings   sync.Pool // of *erasing, likewise
	folds      sync.Pool // of *folding, likewise
	reducers   sync.Map  // by result type, a *reduction that is nil: the *sync.Pool of them
}

// lookups are the maps of a table by typeId & 63, where the lookups of its shell
// find them: one of the two, for the kind that the table is of. Unused entries point
// at an empty map.
type lookups struct {
	packed *[MaxShards]*dense.Set
	stable *[MaxShards]*paged.Set
	cells  *paged.Type // of the items, for stable
}

// rowOf returns the row of the item that id names, and whether there is one.
func (l *lookups) rowOf(id ID) (int, bool) {
	tag := id >> 48 & (MaxShards - 1)
	if l.packed != nil {
		return l.packed[tag].RowOf(id)
	}
	return l.stable[tag].RowOf(id)
}

// idOf returns the handle of the item at a row, of which groups have a reference: typeId & 63
// above the row.
func (l *lookups) idOf(ref uint64) ID {
	tag, row := ref>>32&(MaxShards-1), int(uint32(ref))
	if l.packed != nil {
		return l.packed[tag].IDAt(row)
	}
	return l.stable[tag].IDAt(row)
}

// makeMap makes the map of a shard and puts it where lookups find it.
func (l *lookups) makeMap(t *items.Type, o handle.Options) (shard.Map, error) {
	if l.packed != nil {
		m, err := dense.New(t, o)
		if err == nil {
			m.Pin()
			l.packed[o.TypeID%MaxShards] = m
		}
		return m, err
	}
	m, err := paged.New(l.cells, o)
	if err == nil {
		m.Pin()
		l.stable[o.TypeID%MaxShards] = m
	}
	return m, err
}

// forget empties the lookups: they find nothing, in maps of the given typeId.
func (l *lookups) forget(t *items.Type, typeID uint16) {
	if l.packed != nil {
		none, _ := dense.New(t, handle.Options{TypeID: int(typeID)}) // which is a typeId
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

// register adds the table, of either kind, to s: it checks the options, makes a
// shard for each typeId, and leaves s unchanged if anything fails. cells is nil
// for a packed table.
func (t *table) register(s *Store, verb string, o options, of *items.Type, cells *paged.Type) error {
	s.made(verb)
	if !s.gate.tryAcquire(false) {
		return fmt.Errorf("store: %s: %w: a phase is open; register before the first one or between two", verb, ErrPhase)
	}
	defer s.gate.release(false)
	if s.closed {
		return fmt.Errorf("store: %s: %w", verb, ErrClosed)
	}
	if s.claim.Load() != nil {
		return fmt.Errorf("store: %s: %w", verb, errClaimed)
	}
	if o.Name == "" {
		o.Name = of.Reflect.String()
	}
	if o.Shards == 0 {
		o.Shards = 1
	}
	t.typ, t.lookups.cells = of, cells
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

func (t *table) init(s *Store, o options) error {
	fields, err := handleFields(t.typ.Reflect, o.links != nil, "TableOptions.Links")
	if err := errors.Join(err, o.validate(s)); err != nil {
		return err
	}
	if o.TypeID == 0 {
		o.TypeID = s.freeRun(o.Shards)
	}
	t.store, t.name, t.ordinal, t.first = s, o.Name, len(s.tables), uint16(o.TypeID)
	t.maxItems, t.minFree, t.chunk, t.fields = o.MaxItems, o.MinFree, o.chunkRows(t.typ.Size), fields
	t.visitor, t.tracked, t.events, t.migrate = o.links, o.Changes, o.Events, o.migrate
	t.links, t.visits = len(fields) > 0, o.links != nil
	t.lookups.forget(t.typ, t.first)
	t.copying.init(o.Name, t.typ, o.clone)
	for i := range o.Shards {
		m, err := t.lookups.makeMap(t.typ, handle.Options{
			TypeID: o.TypeID + i, Reserve: (o.Reserve + o.Shards - 1) / o.Shards,
			MinFree: o.MinFree, MaxItems: o.MaxItems,
		})
		if err != nil {
			return err
		}
		t.order = append(t.order, shard.New(m, t.typ, fields, o.links))
	}
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
	t.touched.init(t, o.FixedKeys)
	if t.tracked {
		t.written.init(t, nil)
		t.changes.init(t)
	}
	return nil
}

// len returns the number of items, in O(shards) time.
func (t *table) len() int {
	n := 0
	for _, sh := range t.order {
		n += sh.Map.Len()
	}
	return n
}

// owns reports whether the typeId of id is one of the table's.
func (t *table) owns(id ID) bool { return uint(id.TypeID())-uint(t.first) < uint(len(t.order)) }

func (t *table) has(id ID) bool { return t.item(id) != nil }

// item returns the address of the item that id names, or nil.
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

// dump calls yield for every handle and item of a shard, without the first n, until
// it says false, and reports whether it did not.
func (t *table) dump(shard, n int, yield func(ID, any) bool) bool {
	goesOn := true
	t.order[shard].Map.From(n, func(id ID, item unsafe.Pointer) bool {
		goesOn = yield(id, t.typ.Any(item))
		return goesOn
	})
	return goesOn
}

// close forgets the items; lookups find nothing.
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
