package store

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/paged"
	"handloom/shard"
)

// MaxShards is the maximum of shards per table.
const MaxShards = 64

// TableOptions configure a table of items of type T, of either kind. The zero value is
// valid.
//
// With Events, a flush erases all items that live when it begins, as by [Table.EraseAll].
// The systems of schedules decide which flush:
//
//   - If systems of a [Schedule] read or write the table, it is the first flush of each
//     Run after the wave of the last such system, also if an If skipped that system.
//     Later events live until that flush of the next Run. So the last system finds each
//     event once; a system before the emitter finds none if another system reads after
//     the emitter. NewSchedule adds a flush at the end if needed. Of several schedules
//     that read or write the table, the one made last ends the events.
//   - Otherwise it is each [Store.Flush] outside a Frame, the end of each Frame, and in a Run outside a Frame
//     the first flush after the wave of the first system that emits to the table. The
//     program finds the events between Runs.
//
// A Run that fails before the flush, and a failed flush, erase nothing. Only the items
// take part in the state, so checkpoints, snapshots and replicas agree.
//
// See guide/size-a-table.md.
type TableOptions[T any] struct {
	Name       string // unique in the store; default: the name of T
	Shards     int    // 1 to 64; default 1; more for types with many changes
	TypeID     int    // typeId of the first shard, 1 to 32767; default: the next free run of Shards typeIds
	Reserve    int    // items to make room for at once, and after a Load; default 0
	MaxItems   int    // max items in all shards, over which flushes and inserts fail with [ErrFull] but a Load does not; default: all slots
	MinFree    int    // vacant slots each shard holds back, so that a slot is reused only after that many erases; default 0
	ChunkItems int    // rows per chunk; 1 for slow items; default: a multiple of 64, at least 1,024 rows and 64 KiB
	Changes    bool   // keeps change lists of the frame; see [Created] and [Written]
	Events     bool   // flushes erase the items, by the rules in the comment of TableOptions
	FixedKeys  bool   // ForEach changes sort keys of Defragment only with Chunk.Wrote

	// Links calls visit with the address of each handle inside a slice, map, pointer,
	// channel or interface of v (a typed handle as &v.Children[i].ID), so that a flush
	// can resolve provisional handles. Handles in fields and arrays of T need no Links.
	// It must only read. It runs on any worker, only for recorded values, before anything
	// is applied; when it panics, the flush returns the panic and nothing has changed. A
	// handle stored by value in a map or interface has no address; store a pointer there.
	//
	// Register requires it if T has such handles, or an interface that a handle or a
	// pointer to one implements, such as any or fmt.Stringer. Handles in other
	// interfaces, functions or unsafe pointers are not detected; declare them, too.
	Links func(v *T, visit func(id *ID))

	// Clone makes *dst a copy of *src without shared memory that the program writes to.
	// [Store.Checkpoint] and [Store.Rollback] need it for types with slices, maps or
	// pointers; other types are copied in bulk.
	//
	//	Clone: func(dst, src *Agent) {
	//		path := append(dst.Path[:0], src.Path...)
	//		*dst = *src
	//		dst.Path = path
	//	}
	//
	// *dst is zero or an earlier result of Clone, whose memory it may reuse. Clone runs
	// on any worker, for several items at once, and must only use the two.
	Clone func(dst, src *T)

	// Migrate converts items of older versions of T in snapshots, by the hash of their
	// schema, which an [ErrSchema] names. Without it fields are matched by name: a new
	// field is zero, a missing one is skipped, an integer may be wider, and any other
	// change is ErrSchema. With it such a field is zero, and the function is called for
	// each item, in order, to convert it from old:
	//
	//	Migrate: map[string]func(old store.Fields, ship *Ship) error{
	//		"4626790b5caca817": func(old store.Fields, ship *Ship) error {
	//			return old.Read("HP", &ship.Hull)
	//		},
	//	}
	//
	// If the map has functions but not the hash, a missing field is [ErrSchema], too,
	// because a typo in a key would lose it. A nil function for the hash drops it.
	//
	// It runs on the goroutine that loads and must only use the two. The load returns its
	// error, and a panic as a [*PanicError].
	Migrate map[string]func(old Fields, v *T) error
}

type options struct {
	Name                                                   string
	Shards, TypeID, Reserve, MaxItems, MinFree, ChunkItems int
	Changes, Events, FixedKeys                             bool

	links   shard.LinkVisitor             // nil: none
	clone   func(dst, src unsafe.Pointer) // nil: none
	migrate map[string]func(old Fields, v unsafe.Pointer) error
	initial items.Slice // one item, the initial [Value]; empty for a table
}

// untypedOptions returns o for code without T. All TableOptions have one layout, and their
// functions take addresses as items.Compare says.
func untypedOptions[T any](o *TableOptions[T]) *TableOptions[untyped] {
	return (*TableOptions[untyped])(unsafe.Pointer(o))
}

// registerAs registers t, or panics with an error.
func (t *table) registerAs(s *Store, o *TableOptions[untyped], typ *items.Type, cells *paged.Type) {
	err := t.register(s, "Register", options{
		Name: o.Name, Shards: o.Shards, TypeID: o.TypeID, Reserve: o.Reserve, MaxItems: o.MaxItems, MinFree: o.MinFree,
		ChunkItems: o.ChunkItems, Changes: o.Changes, Events: o.Events, FixedKeys: o.FixedKeys, migrate: items.ByName(o.Migrate),
		links: *(*shard.LinkVisitor)(unsafe.Pointer(&o.Links)),
		clone: *(*func(dst, src unsafe.Pointer))(unsafe.Pointer(&o.Clone)),
	}, typ, cells)
	if err != nil {
		panic(err)
	}
}

func (o options) validate(s *Store) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if s.names[o.Name] != nil {
		fault("the name is taken; give each table its own Name")
	}
	if o.Shards < 0 || o.Shards > MaxShards {
		fault("Shards %d is outside 1..%d; 0 means 1", o.Shards, MaxShards)
		o.Shards = 1
	}
	// The maps check other bounds of sizes, but only per shard for Reserve.
	for _, size := range []struct {
		name  string
		value int
	}{{"ChunkItems", o.ChunkItems}, {"Reserve", o.Reserve}, {"MaxItems", o.MaxItems}, {"MinFree", o.MinFree}} {
		if size.value < 0 {
			fault("%s %d is negative; 0 means the default", size.name, size.value)
		}
	}
	if o.MaxItems > 0 && o.Reserve > o.MaxItems {
		fault("Reserve %d exceeds MaxItems %d; lower Reserve", o.Reserve, o.MaxItems)
	}
	last := o.TypeID + o.Shards - 1
	switch run := fmt.Sprintf("TypeIDs %d to %d", o.TypeID, last); {
	case o.TypeID < 0 || o.TypeID > handle.MaxTypeID || last > handle.MaxTypeID:
		fault("%s are outside 1..%d; 0 means the next free typeIds", run, handle.MaxTypeID)
	case o.TypeID == 0 && s.freeRun(o.Shards) == 0:
		fault("no %d consecutive typeIds are free", o.Shards)
	case o.TypeID > 0 && !s.isFree(o.TypeID, o.Shards):
		fault("%s are not all free; 0 means the next free typeIds", run)
	}
	return errors.Join(errs...)
}

// chunkRows returns the rows per chunk. The default is large enough to outweigh the cost
// of a task, and a multiple of 64, so that chunks share no cache line.
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

// freeRun returns the lowest typeId of n free ones, or 0. It skips the contiguous run of
// taken typeIds at the start.
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
	s.stats = append(s.stats, TableStats{Name: name, Shards: shards})
	s.stats[t.ordinal].set(&t.stats.sum)
	s.flushed.Tables = append(s.flushed.Tables, TableReport{Name: name})
	s.statsLock.Unlock()
}

var idType = reflect.TypeFor[handle.ID]()

// handleFields returns the offsets of all handles in values of type t, in nested
// structures and arrays too, for a flush to replace provisional ones. A handle inside a
// slice, map, pointer or channel, or an interface that may hold one, is an error that
// names the field and the option, unless it is declared.
func handleFields(t reflect.Type, declared bool, option string) ([]uintptr, error) {
	w := fieldWalk{seen: make(map[reflect.Type]bool), declared: declared, option: option}
	w.walk(t, t.String(), 0, "")
	return w.offsets, errors.Join(w.errs...)
}

type fieldWalk struct {
	offsets []uintptr
	errs    []error
	seen    map[reflect.Type]bool // types inside references, which may be recursive

	declared bool // handles inside references are declared
	option   string
}

// walk visits a part of the value at offset. reference is "" or the kind of reference
// around the part.
func (w *fieldWalk) walk(t reflect.Type, path string, offset uintptr, reference string) {
	if t == idType {
		if reference == "" {
			w.offsets = append(w.offsets, offset)
		} else if !w.declared {
			w.errs = append(w.errs, fmt.Errorf(
				"%s is a handle inside a %s, where a flush does not find provisional handles; declare it by %s, or keep handles in fields or arrays", path, reference, w.option))
		}
		return
	}
	switch t.Kind() {
	case reflect.Interface:
		if !w.declared && mayHoldHandle(t) {
			w.errs = append(w.errs, fmt.Errorf(
				"%s is of type %v, which may hold a handle, where a flush does not find provisional handles; declare it by %s, also if it holds none, or use a type that cannot hold a handle", path, t, w.option))
		}
	case reflect.Struct:
		for f := range t.Fields() {
			w.walk(f.Type, path+"."+f.Name, offset+f.Offset, reference)
		}
	case reflect.Array:
		for i := range t.Len() {
			w.walk(t.Elem(), fmt.Sprintf("%s[%d]", path, i), offset+uintptr(i)*t.Elem().Size(), reference)
			if reference != "" || !mentions(t.Elem()) {
				return
			}
		}
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Chan:
		if w.seen[t] {
			return
		}
		w.seen[t] = true
		switch t.Kind() {
		case reflect.Map:
			w.walk(t.Key(), path+"[key]", 0, "map")
			w.walk(t.Elem(), path+"[]", 0, "map")
		case reflect.Slice:
			w.walk(t.Elem(), path+"[]", 0, "slice")
		case reflect.Chan:
			w.walk(t.Elem(), path+"[]", 0, "channel")
		default:
			w.walk(t.Elem(), path+"[]", 0, "pointer")
		}
	}
}

// mayHoldHandle reports whether the interface t can hold a handle or a pointer to one, as
// any and fmt.Stringer can.
func mayHoldHandle(t reflect.Type) bool {
	for _, typ := range []reflect.Type{idType, reflect.TypeFor[handle.Of[struct{}]]()} { // typed handles all have the same methods
		if reflect.PointerTo(typ).Implements(t) { // includes the methods of the value
			return true
		}
	}
	return false
}

// mentions reports whether values of t contain handles directly, so that most arrays need
// no walk of every element.
func mentions(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if mentions(f.Type) {
				return true
			}
		}
	case reflect.Array:
		return t.Len() > 0 && mentions(t.Elem())
	}
	return t == idType
}
