package store

import (
	"errors"
	"fmt"
	"unsafe"

	"handloom/internal/items"
	"handloom/shard"
	"handloom/shard/handle"
)

// MaxShards is how many shards a table may have.
const MaxShards = 64

// TableOptions configure a table of items of type T, of either kind. The zero TableOptions
// are good.
//
// Items of a table with Events end in a flush, which counts them as erased: all that live
// when the flush begins, as with [Table.EraseAll]. It follows from the systems of schedules:
//
//   - Where systems of a [Schedule] read or write the table, it is the first flush of each
//     Run after the wave of the last such system, whether its If let it run or not. Events
//     that are emitted later live until that flush of the next Run. So the last system finds
//     each event once, and one that comes before the emitter finds none if another comes
//     after it. NewSchedule adds a flush at the end where none follows that wave. A second
//     schedule must not read or write the table.
//   - Otherwise it is each [Store.Flush] that no Write is around, and in a Run that no Write
//     is around the first flush after the wave of the first system that emits to the table.
//     The program finds the events between Runs.
//
// A Run that fails before the flush, and a flush that fails, end nothing. No state but the
// items takes part, so that checkpoints, snapshots and replicas agree.
//
// The guide's page is guide/size-a-table.md.
type TableOptions[T any] struct {
	Name       string // unique in the store; "": the name of T
	Shards     int    // 1 to 64; 0: 1. A hot type is spread by giving it more
	TypeID     int    // of the first shard, 1 to 32767; 0: the next free run of Shards typeIds
	Reserve    int    // items to make room for at once
	MaxItems   int    // in all shards together; more are [ErrFull], but a Load brings all; default as many as slots allow
	MinFree    int    // vacant slots each shard holds back, so that a slot rests for at least as many erases
	ChunkItems int    // rows of a chunk, 1 where each item takes long; 0: a multiple of 64, at least 1,024 rows and 64 KiB
	Changes    bool   // keeps what each frame did to the table; see [Created] and [Written]
	Events     bool   // items end without a command, as said above
	FixedKeys  bool   // ForEach changes no key that Defragment sorts by, unless Chunk.Touch says so

	// Links calls visit with the address of each handle behind a slice, map,
	// pointer, channel or interface of v (a typed one as &v.Children[i].ID), so that
	// a flush finds the provisional ones and makes them real; those in fields and
	// arrays of T it finds by itself. It may only read, runs on any worker, for recorded values
	// alone, before anything is applied; when it panics the flush returns that
	// and nothing has changed. A handle kept by value in a map or interface has no
	// address; keep a pointer there.
	//
	// Register needs it when T has such handles, or an interface that a handle or a
	// pointer to one can be assigned to, such as any or fmt.Stringer. What else is
	// behind an interface, function or unsafe pointer it cannot know: types of the
	// program's own that hold handles there are the program's to declare.
	Links func(v *T, visit func(id *ID))

	// Clone makes *dst a copy of *src that shares with it no memory that the
	// program writes to. Types that hold slices, maps, pointers and the like need
	// it to be copied by [Store.Checkpoint] and [Store.Rollback]; others are copied
	// in bulk.
	//
	//	Clone: func(dst, src *Agent) {
	//		path := append(dst.Path[:0], src.Path...)
	//		*dst = *src
	//		dst.Path = path
	//	}
	//
	// *dst is zero or what Clone itself made of some item earlier, whose memory it
	// may use again. Clone runs on any worker, for several items at the same time,
	// and may look at nothing but the two.
	Clone func(dst, src *T)

	// Migrate reads what older versions of T wrote into snapshots, by the hash of
	// their schema, which [ErrSchema] tells. Without it fields are matched by name:
	// one that is new is zero, one that is gone is passed over, an integer may have
	// become a wider one, and any other change of a field is ErrSchema. With it such a
	// field is zero, and the function is called for each item, in order, to read from
	// old what a new name or type needs:
	//
	//	Migrate: map[string]func(old store.Fields, ship *Ship) error{
	//		"4626790b5caca817": func(old store.Fields, ship *Ship) error {
	//			return old.Read("HP", &ship.Hull)
	//		},
	//	}
	//
	// Where the map has functions and none for the hash, a field that is gone is [ErrSchema],
	// too: a key with a wrong digit would lose it. A nil function for the hash drops it.
	//
	// It runs on the goroutine that loads and may look at nothing but the two. What
	// it returns is what the load fails with, a panic as a [*PanicError].
	Migrate map[string]func(old Fields, v *T) error
}

// options are TableOptions of any item type.
type options struct {
	Name                                                   string
	Shards, TypeID, Reserve, MaxItems, MinFree, ChunkItems int
	Changes, Events, FixedKeys                             bool

	links   shard.LinkVisitor             // nil: none
	clone   func(dst, src unsafe.Pointer) // likewise
	migrate map[string]func(old Fields, v unsafe.Pointer) error
	initial items.Slice // one item, which a [Value] holds at first; none: this is a table
}

func untypedOptions[T any](o TableOptions[T]) options {
	all := options{
		Name: o.Name, Shards: o.Shards, TypeID: o.TypeID, Reserve: o.Reserve, MaxItems: o.MaxItems, MinFree: o.MinFree,
		ChunkItems: o.ChunkItems, Changes: o.Changes, Events: o.Events, FixedKeys: o.FixedKeys, migrate: items.ByName(o.Migrate),
	}
	if o.Links != nil {
		all.links = func(v unsafe.Pointer, visit func(*handle.ID)) { o.Links((*T)(v), visit) }
	}
	if o.Clone != nil {
		all.clone = func(dst, src unsafe.Pointer) { o.Clone((*T)(dst), (*T)(src)) }
	}
	return all
}

func (o options) validate(s *Store) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if s.names[o.Name] != nil {
		fault("the name is taken; give each table a Name of its own")
	}
	if o.Shards < 0 || o.Shards > MaxShards {
		fault("Shards %d is outside 1..%d", o.Shards, MaxShards)
		o.Shards = 1 // so that the other faults are found, too
	}
	// The maps check the other bounds of sizes, but see a shard's part of Reserve.
	for _, size := range []struct {
		name  string
		value int
	}{{"ChunkItems", o.ChunkItems}, {"Reserve", o.Reserve}, {"MaxItems", o.MaxItems}, {"MinFree", o.MinFree}} {
		if size.value < 0 {
			fault("%s %d is negative", size.name, size.value)
		}
	}
	if o.MaxItems > 0 && o.Reserve > o.MaxItems {
		fault("Reserve %d exceeds MaxItems %d", o.Reserve, o.MaxItems)
	}
	last := o.TypeID + o.Shards - 1
	switch run := fmt.Sprintf("TypeIDs %d to %d", o.TypeID, last); {
	case o.TypeID < 0 || o.TypeID > handle.MaxTypeID || last > handle.MaxTypeID:
		fault("%s are outside 1..%d; 0 means the next free ones", run, handle.MaxTypeID)
	case o.TypeID == 0 && s.freeRun(o.Shards) == 0:
		fault("no %d consecutive typeIds are free", o.Shards)
	case o.TypeID > 0 && !s.isFree(o.TypeID, o.Shards):
		fault("%s are not all free; 0 means the next free ones", run)
	}
	return errors.Join(errs...)
}

// chunkRows is the default chunk: large enough that a task outweighs its claim,
// a multiple of 64 so that chunks share no cache line whatever the item's size.
func (o options) chunkRows(itemBytes uintptr) int {
	if o.ChunkItems > 0 {
		return o.ChunkItems
	}
	rows := 1024
	if size := int(itemBytes); size > 0 {
		rows = max(rows, (64<<10+size-1)/size)
	}
	return (rows + 63) / 64 * 64
}

// freeRun returns the lowest typeId that begins n free ones, or 0. It looks at none of
// those that tables have taken one behind the other, which mostly are all.
func (s *Store) freeRun(n int) int {
	for first := max(1, s.firstFree); first+n-1 <= handle.MaxTypeID; {
		taken := s.lastTaken(first, n)
		if taken == 0 {
			return first
		}
		first = taken + 1
	}
	return 0
}

func (s *Store) isFree(first, n int) bool { return s.lastTaken(first, n) == 0 }

// lastTaken returns the last of n typeIds that a table has, or 0.
func (s *Store) lastTaken(first, n int) int {
	for id := first + n - 1; id >= first; id-- {
		if s.tableAt(id) != nil {
			return id
		}
	}
	return 0
}

// add makes a table part of the store.
func (s *Store) add(t *table, name string) {
	first, shards := t.first, len(t.order)
	if t.isValue() {
		for top := handle.MaxTypeID - int(first); len(s.values) <= top; {
			s.values = append(s.values, nil)
		}
		s.values[handle.MaxTypeID-int(first)] = t
	} else {
		for end := int(first) + shards; len(s.byType) < end; {
			s.byType = append(s.byType, nil)
		}
		for i := range shards {
			s.byType[int(first)+i] = t
		}
	}
	for s.firstFree = max(1, s.firstFree); s.firstFree < len(s.byType) && s.byType[s.firstFree] != nil; {
		s.firstFree++
	}
	s.tables = append(s.tables, t)
	if t.events {
		s.events = append(s.events, t)
	}
	s.written = append(s.written, 0)
	s.names[name] = t
	t.count()
	s.statsLock.Lock()
	s.stats.Tables = append(s.stats.Tables, TableStats{Name: name, Shards: shards})
	s.stats.Tables[t.ordinal].set(&t.figures.sum)
	s.flushed.Tables = append(s.flushed.Tables, TableReport{Name: name})
	s.statsLock.Unlock()
}
