package store

import (
	"errors"
	"fmt"
	"iter"
	"unsafe"

	"handloom/internal/check"
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
	ChunkItems int    // rows of a chunk, 1 where each item takes long; 0: a multiple of 64, at least 1,024 rows and 64 KiB
	Changes    bool   // keeps what each flush did to the table; see [Table.Created]
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
}

// Table holds all items of one type T in a store, packed: items move when others
// are erased, so that passes run over slices without gaps. [Register] makes one.
type Table[T any] struct {
	maps [MaxShards]*handlemap.Map[T] // by typeId & 63; unused entries point at an empty map
	tableBase[T]
	pass    pass[T, Chunk[T]]
	touched touched[T]
	view    func(shard, lo, hi, index int) Rows[T] // rows, bound once
}

// Register adds a table of items of type T to s. It asks the gate and fails
// with [ErrPhase] inside a phase. Every other fault (a duplicate name, typeIds
// that clash or do not fit, more than 64 shards, sizes that are negative or too
// large, handles in T where a flush cannot make them real) is named in the
// error, and the store is unchanged.
func Register[T any](s *Store, o TableOptions[T]) (*Table[T], error) {
	t := new(Table[T])
	t.forget = func() {
		none := new(handlemap.Map[T])
		_ = none.Init(handlemap.Options{TypeID: int(t.first)}) // which is a typeId
		fill(t.maps[:], none)
	}
	err := t.register(s, o, func(o handlemap.Options) (shard.Container[T], error) {
		m, err := shard.NewPacked[T](o)
		if err == nil {
			t.maps[o.TypeID%MaxShards] = &m.Map
		}
		return m, err
	})
	if err != nil {
		return nil, err
	}
	t.pass.init(&t.tableBase, t.chunkOf)
	t.touched.init(t, o.FixedKeys)
	t.view = t.rows
	return t, nil
}

func fill[E any](all []E, v E) {
	for i := range all {
		all[i] = v
	}
}

func (o TableOptions[T]) validate(s *Store) error {
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
		s.byList = append(s.byList, t)
	}
	s.tables = append(s.tables, t)
	s.written = append(s.written, 0)
	s.names[name] = t
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
	if check.Cheap {
		t.lookup("Get")
	}
	return t.maps[h.ID>>48&(MaxShards-1)].Get(h)
}

// Has reports whether h names an item; see [Table.Get].
func (t *Table[T]) Has(h Handle[T]) bool {
	if check.Cheap {
		t.lookup("Has")
	}
	_, ok := t.maps[h.ID>>48&(MaxShards-1)].Get(h) // Has of the map is beyond what inlines here
	return ok
}

// At returns a pointer to the item that h names, as [Table.Get] does, and
// panics with a [*StaleError] if there is none.
func (t *Table[T]) At(h Handle[T]) *T {
	if check.Cheap {
		t.lookup("At")
	}
	return t.maps[h.ID>>48&(MaxShards-1)].At(h)
}

// All iterates over handles and items: shards by typeId, each in dense order.
// Nothing structural may change meanwhile.
func (t *Table[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		for i := range t.order {
			for h, v := range t.mapOf(i).All() {
				if !yield(h, v) {
					return
				}
			}
		}
	}
}

// mapOf returns the map of a shard.
func (t *Table[T]) mapOf(shard int) *handlemap.Map[T] {
	return t.maps[(int(t.first)+shard)%MaxShards]
}
