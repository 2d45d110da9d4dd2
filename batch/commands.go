package batch

import (
	"slices"
	"sort"

	"handloom/shard/handle"
)

// Commands are what the queues of a batch say to one table, in (key, sequence)
// order, and the names that the creates among them get.
//
// A flush fills them in ([Commands.Gather], [Commands.Number]), cancels and
// replaces creates while it plans, and has each shard take a range of the
// surviving creates while it applies ([Commands.Runs]).
type Commands[T any] struct {
	Columns []*Column[T] // in key order

	recorder  *Recorder[T]
	number    uint16         // of the batch
	order     []run[T]       // segments in key order
	bySegment []int32        // segment number to index in order, plus 1; 0: not in the batch
	marks     []mark         // by creation number, which counts creates in (key, sequence) order
	names     []handle.Of[T] // by creation number; null if cancelled
	cancelled int            // creates
}

// mark says what a batch does to one of its own creates.
type mark uint8

const (
	plain mark = iota
	replaced
	cancelled
)

// run is a segment in its place among the creates of the table.
type run[T any] struct {
	values    []T // nil once released
	creates   int // len(values)
	first     int // creation number of values[0]
	cancelled int // creates of the segment
	survivors int // creates that survive in the segments before
}

// Gather adds a column of the batch; queues come in key order.
func (c *Commands[T]) Gather(column Recorded, pass, task int) {
	col := column.(*Column[T])
	col.pass, col.task = pass, task
	col.seal()
	c.Columns = append(c.Columns, col)
}

// Number gives every create its creation number and makes room for its name.
func (c *Commands[T]) Number(r *Recorder[T]) {
	c.recorder, c.number, c.cancelled = r, r.batch.number, 0
	c.order = c.order[:0]
	c.bySegment = slices.Grow(c.bySegment[:0], r.segmentCount())[:r.segmentCount()]
	clear(c.bySegment)
	creates := 0
	for _, col := range c.Columns {
		for _, s := range col.segments[:col.used] {
			c.order = append(c.order, run[T]{values: s.values, creates: len(s.values), first: creates})
			c.bySegment[s.number] = int32(len(c.order))
			creates += len(s.values)
		}
	}
	c.names = slices.Grow(c.names[:0], creates)[:creates]
	c.marks = slices.Grow(c.marks[:0], creates)[:creates]
	clear(c.marks)
}

// Creates returns how many creates survive.
func (c *Commands[T]) Creates() int { return len(c.names) - c.cancelled }

// locate returns the segment and the creation number that a provisional handle
// of this table and batch stands for.
func (c *Commands[T]) locate(id handle.ID) (*run[T], int, bool) {
	if c.recorder == nil || id>>32 != (handle.FreeBit|c.recorder.first|handle.ID(c.number)<<32)>>32 {
		return nil, 0, false
	}
	number, offset := split(id)
	if int(number) >= len(c.bySegment) || c.bySegment[number] == 0 {
		return nil, 0, false // of a pass that was dropped, or made up
	}
	s := &c.order[c.bySegment[number]-1]
	return s, s.first + offset, offset < s.creates
}

// Cancel applies an erase of a provisional handle, counts it, and reports
// whether id is a name of this batch. Only the worker that plans the table's
// first typeId may call it for handles of that typeId; others are stale, and
// any worker may ask.
func (c *Commands[T]) Cancel(id handle.ID, counts *Counts) bool {
	s, creation, ok := c.locate(id)
	switch {
	case !ok:
		counts.Stale++
	case c.marks[creation] == cancelled:
		counts.Redundant++
	default:
		c.marks[creation] = cancelled
		c.names[creation] = handle.Of[T]{}
		s.cancelled++
		c.cancelled++
		counts.CancelledOut += 2 // the create and its erase
	}
	return ok
}

// Replace applies a put to a provisional handle, as [Commands.Cancel] applies
// an erase. Every erase has been applied before.
//
// It overwrites the recorded value. That is safe to repeat when a flush fails
// and the batch is planned again: the last put wins each time.
func (c *Commands[T]) Replace(id handle.ID, v T, counts *Counts) bool {
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
	s.values[creation-s.first] = v
	return true
}

// Settle fixes which creates survive, once all erases have been applied.
func (c *Commands[T]) Settle() {
	survivors := 0
	for i := range c.order {
		s := &c.order[i]
		s.survivors = survivors
		survivors += s.creates - s.cancelled
	}
}

// Runs calls insert with the surviving creates from the lo-th to before the
// hi-th, cut into runs of values that lie side by side. insert stores the
// handles of the items in names, which has the length of values. Workers may
// call Runs at the same time for ranges that do not overlap.
func (c *Commands[T]) Runs(lo, hi int, insert func(values []T, names []handle.Of[T])) {
	if lo == hi {
		return
	}
	// The last segment with at most lo survivors before it has the lo-th,
	// unless segments without survivors follow; those have no runs.
	at := sort.Search(len(c.order), func(i int) bool { return c.order[i].survivors > lo }) - 1
	for ; at < len(c.order) && c.order[at].survivors < hi; at++ {
		s := &c.order[at]
		names := c.names[s.first : s.first+s.creates]
		if s.cancelled == 0 {
			from, to := max(0, lo-s.survivors), min(hi-s.survivors, s.creates)
			insert(s.values[from:to], names[from:to])
			continue
		}
		s.runs(c.marks[s.first:s.first+s.creates], lo, hi, func(from, to int) {
			insert(s.values[from:to], names[from:to])
		})
	}
}

// runs calls f for each run of creates between cancelled ones, cut to the
// survivors from lo to before hi.
func (s *run[T]) runs(marks []mark, lo, hi int, f func(from, to int)) {
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

// Resolve returns the handle of the item that the provisional handle id was
// recorded for, once the creates have been applied. It is null, and ok true,
// when the create was cancelled; ok is false when id is no name of this batch.
func (c *Commands[T]) Resolve(id handle.ID) (h handle.Of[T], ok bool) {
	_, creation, ok := c.locate(id)
	if !ok {
		return h, false
	}
	return c.names[creation], true
}

// Release forgets the columns, which the next batch writes to, and keeps the
// names.
func (c *Commands[T]) Release() {
	clear(c.Columns)
	c.Columns = c.Columns[:0]
	for i := range c.order {
		c.order[i].values = nil
	}
}

// Forget drops the names as well: nothing resolves until the next Number.
func (c *Commands[T]) Forget() {
	c.Release()
	c.recorder = nil
}
