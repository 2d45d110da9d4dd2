package model

import "slices"

// Exact predicts every handle, row, limit and counter. One goroutine changes it; tasks of a
// pass may read it.
type Exact struct {
	Widths
	seen   *Counters
	tables []*table
	byType map[uint16]int // index in tables

	epoch    uint64
	frame    int
	flushed  int
	listed   int
	changes  map[int]*frameChanges       // of frame listed, by table
	sparse   map[ColumnID]*sparseChanges // of frame listed, of sparse data with changes
	written  map[ColumnID]*written       // of tables and columns
	serial   int                         // number of the batch
	passes   []*pass
	calls    [][]Command     // of the inbox
	sealed   int             // number of calls that the next flush applies
	attempts int             // number of calls, including failed calls
	creates  map[int]*create // by name
	depleted int
	alone    bool // the planned flush is outside a Frame
}

// table has one map per shard, by typeId.
type table struct {
	Table
	shards []*Map[Item]
}

// live returns the number of items in all shards.
func (t *table) live() int {
	n := 0
	for _, s := range t.shards {
		n += s.live
	}
	return n
}

// pass has the commands of each task, so that the order of commands is (pass, task,
// sequence).
type pass struct {
	tasks [][]Command // nil: failed, recorded nothing
	open  bool
}

// create is a recorded create. It outlives its batch, because a program may use an old
// name.
type create struct {
	name, table int
	value       Value
	batch       int // number of the batch; 0: its call is not sealed
	pass, task  int
	dropped     bool
	real        uint64 // handle after the flush; 0: dropped or cancelled
	frame       int    // frame of the flush
}

// Widths are the widths of handle fields and the limits of the store.
type Widths struct {
	LastGeneration uint16
	Slots          uint64
	BatchLimit     int // 0: unreachable for a program
	InboxLimit     int
}

// NewExact returns a model of empty tables. It counts rare states in seen.
func NewExact(tables []Table, w Widths, seen *Counters) *Exact {
	m := &Exact{Widths: w, seen: seen, creates: make(map[int]*create), written: make(map[ColumnID]*written), sparse: make(map[ColumnID]*sparseChanges), serial: 1, byType: make(map[uint16]int)}
	for at, t := range tables {
		made := &table{Table: t}
		// Each shard has its own slots and generations, and a typeId that continues the
		// first one.
		for i := range t.Shards {
			m.byType[t.TypeID+uint16(i)] = at
			made.shards = append(made.shards, NewMap[Item](Rules{
				TypeID: t.TypeID + uint16(i), LastGeneration: w.LastGeneration, SlotLimit: w.Slots, MinFree: t.MinFree, MaxItems: t.Max, Seen: seen,
			}, t.Stable))
		}
		m.tables = append(m.tables, made)
	}
	return m
}

// Map returns the map of a shard, for reads and changes inside a write.
func (m *Exact) Map(table, shard int) *Map[Item] { return m.tables[table].shards[shard] }

// Lives reports whether id names a live item of any table.
func (m *Exact) Lives(id uint64) bool { return m.Item(id) != nil }

// Item returns the item of a handle, for reads and changes, or nil.
func (m *Exact) Item(id uint64) *Item {
	if s := m.holder(id); s != nil && !isProvisional(id) {
		return s.Get(id)
	}
	return nil
}

// owner returns the table with the typeId of a handle, or -1.
func (m *Exact) owner(id uint64) int {
	if t, ok := m.byType[typeIDOf(id)]; ok {
		return t
	}
	return -1
}

// holder returns the shard with the typeId of a handle, or nil. The handle may be stale.
func (m *Exact) holder(id uint64) *Map[Item] {
	t := m.owner(id)
	if t < 0 {
		return nil
	}
	return m.tables[t].shards[typeIDOf(id)-m.tables[t].TypeID]
}

// Slot returns the current or next generation of a slot, 0 if depleted, whether
// its item lives, and whether the slot exists.
func (m *Exact) Slot(id uint64) (generation uint16, live, ok bool) {
	s := m.holder(id)
	if n := uint64(uint32(id)); s != nil && n < uint64(len(s.slots)) {
		return s.slots[n].generation, s.slots[n].live, true
	}
	return 0, false, false
}

// Stats returns the sums over the shards of a table.
func (m *Exact) Stats(table int) (f Stats) {
	for _, s := range m.tables[table].shards {
		shard := s.Stats()
		f = Stats{f.Live + shard.Live, f.Vacant + shard.Vacant, f.Depleted + shard.Depleted, f.Slots + shard.Slots}
	}
	return f
}

// Epoch returns the number of flushes with commands.
func (m *Exact) Epoch() uint64 { return m.epoch }

// Chunk has the items of one task of a pass.
type Chunk struct {
	Shard   int
	Handles []uint64 // by row, without empty rows
	items   []Item
}

// Chunks returns the chunks that every pass over a table must have.
func (m *Exact) Chunks(table int) []Chunk {
	t := m.tables[table]
	var all []Chunk
	for i, s := range t.shards {
		rows := s.Rows()
		// A chunk is a run of rows of one shard. Empty rows of a stable map belong to a
		// run, so the number of chunks depends on rows, not on items.
		for lo := 0; lo < rows; lo += t.Chunk {
			hi := min(rows-lo, t.Chunk) + lo
			c := Chunk{i, make([]uint64, 0, hi-lo), make([]Item, 0, hi-lo)}
			for _, n := range s.order(lo, hi) {
				c.Handles = append(c.Handles, s.Handle(n))
				c.items = append(c.items, s.items[n])
			}
			all = append(all, c)
		}
		if t.Chunk > 1 && rows > 0 && rows%t.Chunk == 0 { // chunks of one row are always full
			m.seen.See(ChunkFull)
		}
		if rows > t.Chunk && rows%t.Chunk == 1 {
			m.seen.See(ChunkOneMore)
		}
	}
	if len(all) > 4 {
		m.seen.See(ManyChunks)
	}
	return all
}

// SparseChunks returns the chunks of sparse data, with the given rows each.
func (m *Exact) SparseChunks(col ColumnID, rows int) (all []Chunk) {
	for i, s := range m.tables[col.Table].shards {
		for some := range slices.Chunk(s.Owners(col.Column), rows) {
			all = append(all, Chunk{Shard: i, Handles: some})
		}
	}
	return all
}

// Sum is the result of a Reduce. Items and Keys are independent of the order;
// Hash depends on it.
type Sum struct{ Items, Keys, Hash uint64 }

// FoldItem adds an item to a Sum, in the order of rows.
func FoldItem(s Sum, key uint64) Sum {
	return Sum{s.Items + 1, s.Keys + key, s.Hash*0x100000001b3 ^ (key + 1)}
}

// FoldChunks joins the Sums of two adjacent chunks.
func FoldChunks(a, b Sum) Sum {
	return Sum{a.Items + b.Items, a.Keys + b.Keys, a.Hash*0x9e3779b97f4a7c15 + b.Hash}
}

// Fold returns the Sum of a table. Chunks join from left to right, whatever workers ran
// them.
func (m *Exact) Fold(table int) Sum {
	var sum Sum
	for i, c := range m.Chunks(table) {
		var part Sum
		for _, item := range c.items {
			part = FoldItem(part, item.Key)
		}
		if i == 0 {
			sum = part
		} else {
			sum = FoldChunks(sum, part)
		}
	}
	return sum
}
