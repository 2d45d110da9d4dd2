package batch

import (
	"sort"
	"unsafe"

	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// Commands are the commands of a batch for one table, in (key, sequence) order, and the
// handles that their creates get.
//
// [Batch.Gather] fills them in. A flush cancels and replaces creates while it plans. While it applies, each shard inserts a range of the surviving creates ([Commands.Runs]).
type Commands struct {
	columns []*tableBuffer // in key order

	attached    []attached // by attachment of the table
	recorder    *Recorder
	shards      Shards        // shards that have commands other than creates
	erases      [][]Erases    // by shard, in key order
	puts        [][]KeyedPuts // by shard, in key order
	all         int           // number of recorded EraseAll
	order       []run         // segments in key order
	createIndex createIndex   // index of order by segment number
	marks       []mark        // by creation number, which counts creates in (key, sequence) order
	created     []handle.ID   // by creation number; null if cancelled
	cancelled   int           // number of cancelled creates
	dropped     int           // number of commands of dropped calls
	begun       bool          // anything is gathered
	swaps       []swap        // swaps of recorded values, in order

	released int // releases since the arrays of all shards were trimmed

	peaks struct { // marks of the arrays with the same names
		columns, order, marks, created, swaps highwater.Mark
		erases, puts                          []highwater.Mark
	}
}

// Erases are the erases that one queue recorded for one shard, in sequence: items by handle
// or by row.
type Erases struct {
	IDs    []handle.ID
	Rows   []uint32
	Audits []handle.ID // handles of Rows; checked builds only
	Key
}

// Len returns the number of erases.
func (e *Erases) Len() int { return len(e.IDs) + len(e.Rows) }

// KeyedPuts are the puts that one queue recorded for one shard.
type KeyedPuts struct {
	*Puts
	Key
}

// mark is the effect of a batch on one of its own creates.
type mark uint8

const (
	plain mark = iota
	replaced
	cancelled
)

// run is a segment in its place among the creates of the table.
type run struct {
	number    uint64
	values    items.Slice // empty once released
	creates   int         // number of creates
	first     int         // creation number of values[0]
	cancelled int         // number of cancelled creates
	survivors int         // number of survivors in earlier segments
}

// Gather fills [Recorder.Pending] of each table: queues in key order, then sealed calls.
// Tables with the ordinals in emptied also get a [Recorder.EraseAll]. It returns the
// ordinals of tables with commands, valid until the next call, and whether any command
// exists, including erases of unknown typeIds.
func (b *Batch) Gather(emptied ...int) (tables []int, found bool) {
	b.gathered = b.gathered[:0]
	b.dropped.calls, b.dropped.unknownErases = 0, 0
	for buf := range b.buffers {
		if buf.state == dropped {
			b.gatherDropped(buf)
			found = true
			continue
		}
		key := Key{buf.pass, buf.task}
		for _, t := range buf.touched {
			b.pending(b.tables[t.ordinal]).addColumn(t.column, key)
		}
		for _, s := range buf.attached {
			b.pending(s.log.table).addSets(s, key)
		}
		for _, list := range buf.lists {
			r := b.byList[list]
			b.pending(r).addErases(list-r.list, Erases{IDs: buf.erases[list], Key: key})
		}
		if erases := &buf.byRow; erases.list > 0 {
			r := b.byList[erases.list]
			b.pending(r).addErases(erases.list-r.list, Erases{Rows: erases.rows, Audits: erases.audits, Key: key})
		}
		for _, ordinal := range buf.all {
			b.pending(b.tables[ordinal]).addAll()
		}
		found = found || !buf.empty()
	}
	for _, ordinal := range emptied {
		b.pending(b.tables[ordinal]).addAll()
		found = true
	}
	for _, ordinal := range b.gathered {
		r := b.tables[ordinal]
		r.Pending.number(r)
	}
	return b.gathered, found
}

// pending returns the commands of a table and adds the table to the gathered ones.
func (b *Batch) pending(r *Recorder) *Commands {
	c := r.Pending
	if !c.begun {
		c.begin(int(r.shards))
		b.gathered = append(b.gathered, r.ordinal)
	}
	return c
}

func (c *Commands) begin(shards int) {
	c.begun, c.all, c.dropped = true, 0, 0
	if len(c.erases) < shards {
		c.erases, c.peaks.erases = make([][]Erases, shards), make([]highwater.Mark, shards)
		c.puts, c.peaks.puts = make([][]KeyedPuts, shards), make([]highwater.Mark, shards)
	}
}

func (c *Commands) addColumn(col *tableBuffer, key Key) {
	col.key = key
	col.seal()
	c.columns = append(c.columns, col)
	for shard := range col.put.All {
		c.puts[shard] = append(c.puts[shard], KeyedPuts{&col.puts[shard], key})
	}
	c.shards |= col.put
}

func (c *Commands) addAll() {
	c.all++
	c.shards = AllShards(len(c.erases))
}

func (c *Commands) addErases(shard int, erases Erases) {
	c.erases[shard] = append(c.erases[shard], erases)
	c.shards.Add(shard)
}

// Shards returns the shards that have commands other than creates.
func (c *Commands) Shards() Shards { return c.shards }

// Puts returns the puts to a shard, in key order.
func (c *Commands) Puts(shard int) []KeyedPuts {
	if shard < len(c.puts) {
		return c.puts[shard]
	}
	return nil
}

// Erases returns the erases of a shard, in key order.
func (c *Commands) Erases(shard int) []Erases {
	if shard < len(c.erases) {
		return c.erases[shard]
	}
	return nil
}

// All returns the number of recorded EraseAll.
func (c *Commands) All() int { return c.all }

// number numbers all creates and makes room for their handles.
func (c *Commands) number(r *Recorder) {
	c.recorder, c.cancelled = r, 0
	c.order = c.order[:0]
	creates := 0
	for _, col := range c.columns {
		col.first = len(c.order)
		for i := range col.segments[:col.used] {
			s := &col.segments[i]
			c.order = append(c.order, run{number: s.number, values: s.values, creates: s.values.Len(), first: creates})
			creates += s.values.Len()
		}
	}
	if len(c.order) > fewSegments {
		c.createIndex.fill(c.order)
	}
	c.created, c.marks = c.created[:0], c.marks[:0]
	if creates > 0 {
		c.created = highwater.Room(&c.peaks.created, c.created, creates)
		c.marks = highwater.Room(&c.peaks.marks, c.marks, creates)
		clear(c.marks)
	}
	if len(c.attached) > 0 {
		c.numberStaged()
	}
}

// Survivors returns the number of surviving creates.
func (c *Commands) Survivors() int { return len(c.created) - c.cancelled }

// locate returns the segment and the creation number of a provisional handle of this table
// and batch.
func (c *Commands) locate(id handle.ID) (*run, int, bool) {
	if c.recorder == nil || !c.recorder.isProvisional(id) {
		return nil, 0, false
	}
	number, offset := split(id)
	at := c.find(number)
	if at < 0 { // of another batch, of a dropped pass, or not sealed
		return nil, 0, false
	}
	s := &c.order[at]
	return s, s.first + offset, offset < s.creates
}

// fewSegments are searched one by one, which is faster than filling createIndex. Most
// tables have no more in a small tick (op=replay).
const fewSegments = 8

// find returns the position in order of the segment of a number, or -1.
func (c *Commands) find(number uint64) int {
	if len(c.order) > fewSegments {
		return c.createIndex.find(number)
	}
	for i := range c.order {
		if c.order[i].number == number {
			return i
		}
	}
	return -1
}

// createdIn returns the handles of the creates of a segment.
func (c *Commands) createdIn(segment uint64) []handle.ID {
	s := &c.order[c.find(segment)]
	return c.created[s.first : s.first+s.creates]
}

// Cancel applies and counts an erase of a provisional handle, and reports whether id is of
// this batch. Only the worker that plans the table's first typeId may call it for handles
// of that typeId. Other handles are stale, and any worker may pass them.
func (c *Commands) Cancel(id handle.ID, counts *Counts) bool {
	s, creation, ok := c.locate(id)
	switch {
	case !ok:
		counts.Stale++
	case c.marks[creation] == cancelled:
		counts.Redundant++
	default:
		c.marks[creation] = cancelled
		c.created[creation] = 0
		s.cancelled++
		c.cancelled++
		counts.CancelledOut += 2 // the create and its erase
	}
	return ok
}

// Replace applies a put of the value at v to a provisional handle, with the rules of
// [Commands.Cancel]. It is called after all erases. It swaps the two recorded values; a
// failed flush swaps them back.
func (c *Commands) Replace(id handle.ID, v unsafe.Pointer, counts *Counts) bool {
	s, creation, ok := c.locate(id)
	if !ok {
		counts.Stale++
		return false
	}
	switch c.marks[creation] {
	case cancelled:
		counts.Dropped++
		return true
	case replaced:
		counts.Superseded++
	default:
		counts.Put++
	}
	c.marks[creation] = replaced
	r := c.recorder
	c.swap(r.typ, &r.spare, s.values.Pointer(creation-s.first, r.typ.Size), v)
	return true
}

// swap is a swap of two recorded values of a type.
type swap struct {
	typ   *items.Type
	spare *items.Slice
	a, b  unsafe.Pointer
}

// swap swaps the values at a and b. Only one goroutine may use spare at a time.
func (c *Commands) swap(t *items.Type, spare *items.Slice, a, b unsafe.Pointer) {
	s := swap{t, spare, a, b}
	s.do()
	c.swaps = append(c.swaps, s)
}

func (s *swap) do() {
	if s.spare.Len() == 0 {
		*s.spare = s.typ.Make(1)
	}
	between := s.spare.Data()
	s.typ.Set(between, s.a)
	s.typ.Set(s.a, s.b)
	s.typ.Set(s.b, between)
	s.typ.Zero(between)
}

// swapBack undoes all swaps of a failed flush: the next flush may drop a call that changed
// a create of another call.
func (c *Commands) swapBack() {
	for i := len(c.swaps) - 1; i >= 0; i-- {
		c.swaps[i].do()
	}
}

// FixSurvivors numbers the surviving creates. It is called after all erases.
func (c *Commands) FixSurvivors() {
	survivors := 0
	for i := range c.order {
		s := &c.order[i]
		s.survivors = survivors
		survivors += s.creates - s.cancelled
	}
}

// Runs calls insert with the surviving creates lo to hi-1, cut into runs of adjacent
// values. insert stores the handles of the items in created, which has the length of
// values. Workers may call Runs at the same time for disjoint ranges.
func (c *Commands) Runs(lo, hi int, insert func(values items.Slice, created []handle.ID)) {
	if lo == hi {
		return
	}
	size := c.recorder.typ.Size
	c.segments(lo, hi, func(at, from, to int) {
		s := &c.order[at]
		insert(s.values.Sub(from, to, size), c.created[s.first+from:s.first+to])
	})
}

// segments calls f for each run of adjacent survivors among the survivors lo to hi-1. at is
// the segment's index in order.
func (c *Commands) segments(lo, hi int, f func(at, from, to int)) {
	// The last segment with at most lo survivors before it has survivor lo, unless segments
	// without survivors follow; those have no runs.
	at := sort.Search(len(c.order), func(i int) bool { return c.order[i].survivors > lo }) - 1
	for ; at < len(c.order) && c.order[at].survivors < hi; at++ {
		s := &c.order[at]
		if s.cancelled == 0 {
			if from, to := max(0, lo-s.survivors), min(hi-s.survivors, s.creates); from < to {
				f(at, from, to)
			}
			continue
		}
		s.runs(c.marks[s.first:s.first+s.creates], lo, hi, func(from, to int) { f(at, from, to) })
	}
}

// runs calls f for each run of creates between cancelled ones, cut to the survivors lo to
// hi-1.
func (s *run) runs(marks []mark, lo, hi int, f func(from, to int)) {
	survivor := s.survivors
	for i := 0; i < len(marks); {
		if marks[i] == cancelled {
			i++
			continue
		}
		from := i
		for i < len(marks) && marks[i] != cancelled {
			i++
		}
		cutFrom, cutTo := max(lo, survivor), min(hi, survivor+i-from)
		if cutFrom < cutTo {
			f(from+cutFrom-survivor, from+cutTo-survivor)
		}
		survivor += i - from
	}
}

// Resolve returns the handle of the item that a provisional handle created, once creates
// are applied. It returns null and true for a cancelled create, and false if id is not of
// this batch.
func (c *Commands) Resolve(id handle.ID) (h handle.ID, ok bool) {
	_, creation, ok := c.locate(id)
	if !ok {
		return 0, false
	}
	return c.created[creation], true
}

// release drops the buffers, which the next batch writes to, and keeps the handles of
// created items.
func (c *Commands) release() {
	c.begun = false
	if len(c.swaps) > 0 {
		clear(c.swaps)
		c.swaps = highwater.Trim(&c.peaks.swaps, c.swaps)
	}
	clear(c.columns)
	c.columns = highwater.Trim(&c.peaks.columns, c.columns)
	if c.released++; c.released == highwater.Period {
		c.shards, c.released = AllShards(len(c.erases)), 0
	}
	for ; c.shards != 0; c.shards = c.shards.Rest() {
		shard := c.shards.First()
		erases, puts := &c.erases[shard], &c.puts[shard]
		clear(*erases)
		*erases = highwater.Trim(&c.peaks.erases[shard], *erases)
		clear(*puts)
		*puts = highwater.Trim(&c.peaks.puts[shard], *puts)
	}
	for i := range c.order {
		c.order[i].values = items.Slice{}
	}
	if len(c.attached) > 0 {
		c.releaseSets()
	}
}

// Reset also drops the handles: nothing resolves until the next [Batch.Gather].
func (c *Commands) Reset() {
	if c.begun {
		c.swapBack()
		c.release()
	}
	c.recorder = nil
	c.created, c.marks = highwater.Trim(&c.peaks.created, c.created), highwater.Trim(&c.peaks.marks, c.marks)
	c.order = highwater.Trim(&c.peaks.order, c.order)
	c.createIndex.reset()
}

// Created returns the handles of created items in creation order; cancelled creates are
// null.
func (c *Commands) Created() []handle.ID { return c.created }
