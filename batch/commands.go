package batch

import (
	"sort"
	"unsafe"

	"handloom/handle"
	"handloom/internal/highwater"
	"handloom/internal/items"
)

// Commands are the commands of a batch for one table, in (key, sequence) order, and the
// handles of their creates. A flush plans (cancels and replaces creates), and then each
// shard inserts a range of the survivors ([Commands.Runs]). The values stay in the arrays
// of the queues until release.
type Commands struct {
	tables []*tableBuffer // in key order

	attached    []attached
	recorder    *Recorder
	shards      Shards        // with commands other than creates
	counts      []shardCounts // zero except for shards
	erasing     []erasing     // in key order
	all         int
	order       []run // segments in key order
	createIndex createIndex
	marks       []mark      // by creation number: the position in (key, sequence) order
	created     []handle.ID // by creation number; null if cancelled
	cancelled   int
	dropped     int // commands of dropped calls
	begun       bool
	swaps       []swap

	peaks struct{ tables, erasing, order, marks, created, swaps highwater.Mark }
}

// shardCounts are the numbers of commands by handle or row for a shard.
type shardCounts struct{ erases, puts int }

// erasing are erases of a queue for some shards, by handle or by row.
type erasing struct {
	*buffer
	shards Shards
	rows   bool
}

// mark is the fate of a create in its own batch.
type mark uint8

const (
	plain mark = iota
	replaced
	cancelled
)

// run is a segment of a batch.
type run struct {
	number    uint64
	values    items.Slice // empty once released
	creates   int
	first     int // creation number of values[0]
	cancelled int
	survivors int // of earlier segments
}

// Shards returns the shards with commands other than creates.
func (c *Commands) Shards() Shards { return c.shards }

// Counts returns the numbers of erases and puts of a shard with commands.
func (c *Commands) Counts(shard int) (erases, puts int) {
	return c.counts[shard].erases, c.counts[shard].puts
}

// Puts calls visit with the puts of a shard, in key order, or backwards.
func (c *Commands) Puts(shard int, backwards bool, visit func(puts *Puts, key Key)) {
	if !c.shards.has(shard) || c.counts[shard].puts == 0 {
		return // a batch of creates may have thousands of queues
	}
	for i := range c.tables {
		if backwards {
			i = len(c.tables) - 1 - i
		}
		if table := c.tables[i]; table.put.has(shard) {
			visit(&table.puts[shard], table.key)
		}
	}
}

// Erases calls handles and rows with the erases of each queue for a shard, in key order. audits are
// the handles of rows in checked builds.
func (c *Commands) Erases(shard int, handles func(ids []handle.ID, key Key), rows func(rows []uint32, audits []handle.ID)) {
	for i := range c.erasing {
		switch e := &c.erasing[i]; {
		case !e.shards.has(shard):
		case e.rows:
			rows(e.byRow.rows, e.byRow.audits)
		default:
			handles(e.erases[c.recorder.list+shard].ids, Key{e.pass, e.task})
		}
	}
}

// ReleaseErases drops the erases of passes for a shard that is applied. The inbox still counts the
// erases of its calls. Other shards may run at the same time.
func (c *Commands) ReleaseErases(shard int) {
	for i := range c.erasing {
		if e := &c.erasing[i]; e.shards.has(shard) && !e.rows && e.owner != nil {
			e.erases[c.recorder.list+shard].reset()
		}
	}
}

// All returns the number of [Recorder.EraseAll].
func (c *Commands) All() int { return c.all }

// number gives creation numbers to the creates, in (key, sequence) order. They do not
// depend on segment numbers, which queues draw in the order of time.
func (c *Commands) number(r *Recorder) {
	c.recorder, c.cancelled = r, 0
	c.order = c.order[:0]
	creates := 0
	for _, table := range c.tables {
		// Sets of the queue find their segments by this position.
		table.first = len(c.order)
		for i := range table.segments[:table.used] {
			s := &table.segments[i]
			c.order = append(c.order, run{number: s.number, values: s.values, creates: s.values.Len(), first: creates})
			creates += s.values.Len()
		}
	}
	if len(c.order) > fewSegments {
		c.createIndex.fill(c.order)
	}
	c.created, c.marks = c.created[:0], c.marks[:0]
	if creates > 0 {
		// The handles are arbitrary until the shards insert. Only Cancel writes before.
		c.created = highwater.Room(&c.peaks.created, c.created, creates)
		c.marks = highwater.Room(&c.peaks.marks, c.marks, creates)
		clear(c.marks)
	}
	if len(c.attached) > 0 {
		// Companions are by segment, so the order must be complete.
		c.numberStaged()
	}
}

// Survivors returns the number of creates that are not cancelled. It is final after the
// plan of the first shard.
func (c *Commands) Survivors() int { return len(c.created) - c.cancelled }

// locate returns the segment and creation number of a provisional handle, and whether the
// batch has the create. It does not report whether the create is cancelled.
func (c *Commands) locate(id handle.ID) (*run, int, bool) {
	if c.recorder == nil || !c.recorder.isProvisional(id) {
		return nil, 0, false
	}
	number, offset := split(id)
	at := c.find(number)
	// A number repeats after 2^34 others, so a number that is found is of this batch.
	if at < 0 { // of another batch, dropped or not sealed
		return nil, 0, false
	}
	s := &c.order[at]
	return s, s.first + offset, offset < s.creates
}

// fewSegments are searched one by one, which is faster than an index.
const fewSegments = 8

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

// createdIn returns the handles of a segment's creates. The segment must be in the batch.
func (c *Commands) createdIn(segment uint64) []handle.ID {
	s := &c.order[c.find(segment)]
	return c.created[s.first : s.first+s.creates]
}

// Cancel applies and counts an erase of a provisional handle, and reports whether id is of
// this batch. Only the worker that plans the table's first typeId may pass handles of that
// typeId; all others are stale.
func (c *Commands) Cancel(id handle.ID, counts *Counts) bool {
	s, creation, ok := c.locate(id)
	switch {
	case !ok:
		counts.Stale++
	case c.marks[creation] == cancelled:
		counts.Redundant++
	default:
		c.marks[creation] = cancelled // later creates keep their numbers; FixSurvivors counts the gaps
		// Insertion never reaches a cancelled create, so the null stays and Resolve returns
		// it.
		c.created[creation] = 0
		s.cancelled++
		c.cancelled++
		counts.CancelledOut += 2 // the create and its erase
	}
	return ok
}

// Replace applies a put of the value at v to a provisional handle, as [Commands.Cancel]
// applies an erase. It follows all erases. It swaps the two values until a flush fails.
func (c *Commands) Replace(id handle.ID, v unsafe.Pointer, counts *Counts) bool {
	s, creation, ok := c.locate(id)
	if !ok {
		counts.Stale++
		return false
	}
	switch c.marks[creation] {
	// All erases are planned before the first put, so the mark is final.
	case cancelled:
		counts.Dropped++
		return true
	// The value of the earlier put is in the place of the create now. The swap below moves
	// it to the later put, where nobody reads it.
	case replaced:
		counts.Superseded++
	default:
		counts.Put++
	}
	// Puts come in (key, sequence) order, so the last one wins. Its value is in the place of
	// the create, because insertion copies runs of values and does not read this mark.
	c.marks[creation] = replaced
	r := c.recorder
	c.swap(r.typ, &r.spare, s.values.Pointer(creation-s.first, r.typ.Size), v)
	return true
}

type swap struct {
	typ   *items.Type
	spare *items.Slice
	a, b  unsafe.Pointer
}

// One goroutine at a time may use spare.
func (c *Commands) swap(t *items.Type, spare *items.Slice, a, b unsafe.Pointer) {
	s := swap{t, spare, a, b}
	s.do()
	c.swaps = append(c.swaps, s)
}

// do exchanges the values. Typed steps keep the write barriers of pointers.
func (s *swap) do() {
	if s.spare.Len() == 0 {
		*s.spare = s.typ.Make(1)
	}
	between := s.spare.Data()
	s.typ.Set(between, s.a)
	s.typ.Set(s.a, s.b)
	s.typ.Set(s.b, between)
	// The spare value must not keep memory alive.
	s.typ.Zero(between)
}

// swapBack undoes all swaps: the next flush may drop a call that changed a create of
// another. It keeps B4.
func (c *Commands) swapBack() {
	// Backwards: a create that two puts replaced gets its own value last.
	for i := len(c.swaps) - 1; i >= 0; i-- {
		c.swaps[i].do()
	}
}

// FixSurvivors numbers the survivors, after all erases. One goroutine calls it, between the
// plans of the shards and their applies.
func (c *Commands) FixSurvivors() {
	survivors := 0
	for i := range c.order {
		s := &c.order[i]
		s.survivors = survivors
		survivors += s.creates - s.cancelled
	}
}

// Runs calls insert with the survivors lo to hi-1 in runs of adjacent values. insert stores
// their handles in created. Workers may call Runs at the same time for disjoint ranges.
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

func (c *Commands) segments(lo, hi int, f func(at, from, to int)) {
	// A segment without survivors has the number of the next segment, so the last one
	// counts.
	at := sort.Search(len(c.order), func(i int) bool { return c.order[i].survivors > lo }) - 1
	for ; at < len(c.order) && c.order[at].survivors < hi; at++ {
		s := &c.order[at]
		if s.cancelled == 0 {
			// Without cancelled creates, positions are survivor numbers.
			if from, to := max(0, lo-s.survivors), min(hi-s.survivors, s.creates); from < to {
				f(at, from, to)
			}
			continue
		}
		s.runs(c.marks[s.first:s.first+s.creates], lo, hi, func(from, to int) { f(at, from, to) })
	}
}

// runs calls f with the parts of the survivors lo to hi-1 in the segment, cut at each
// cancelled create. It takes O(creates of the segment) time.
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
		// survivor is the number of the create at from.
		cutFrom, cutTo := max(lo, survivor), min(hi, survivor+i-from)
		if cutFrom < cutTo {
			f(from+cutFrom-survivor, from+cutTo-survivor)
		}
		survivor += i - from
	}
}

// Resolve returns the handle that a provisional handle became, after creates are applied:
// null and true for a cancelled create, false if id is not of this batch.
func (c *Commands) Resolve(id handle.ID) (h handle.ID, ok bool) {
	_, creation, ok := c.locate(id)
	if !ok {
		return 0, false
	}
	return c.created[creation], true
}

// release drops the buffers, which the next batch writes to, and keeps the handles.
func (c *Commands) release() {
	c.begun = false
	if len(c.swaps) > 0 {
		clear(c.swaps)
		c.swaps = highwater.Trim(&c.peaks.swaps, c.swaps)
	}
	clear(c.tables)
	c.tables = highwater.Trim(&c.peaks.tables, c.tables)
	for i := range c.erasing {
		if e := &c.erasing[i]; len(e.lists) > 0 && e.erases[e.lists[0]].ids == nil {
			e.lists = e.lists[:0] // ReleaseErases has dropped the erases of all shards
		}
	}
	clear(c.erasing)
	c.erasing = highwater.Trim(&c.peaks.erasing, c.erasing)
	for ; c.shards != 0; c.shards = c.shards.Rest() {
		c.counts[c.shards.First()] = shardCounts{}
	}
	for i := range c.order {
		// A queue of the next batch writes to this array. Numbers and handles stay for Resolve.
		c.order[i].values = items.Slice{}
	}
	if len(c.attached) > 0 {
		c.releaseSets()
	}
}

// Reset also drops the handles: nothing resolves. A flush that failed calls it before the
// batch is gathered again, so it undoes the plan (B4).
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

// Created returns the handles of created items in creation order, null if cancelled.
func (c *Commands) Created() []handle.ID { return c.created }
