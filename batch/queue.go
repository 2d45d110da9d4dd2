package batch

import (
	"fmt"
	"unsafe"

	"handloom/shard/handle"
)

// Queue records the commands of one task. It belongs to the goroutine that runs
// the task, until the pass ends; recording into a queue that was kept longer, or
// through a table of another store, panics. The zero Queue panics as well.
//
// A queue that is given more commands than its limit fails as a whole: it
// ignores what follows, and its pass returns [ErrQueueFull].
type Queue struct {
	lane   *lane
	serial uint64 // of the batch that made the queue
}

// String names the queue by its key, for messages.
func (q Queue) String() string {
	if q.lane == nil {
		return "the zero queue"
	}
	return fmt.Sprintf("the queue of task %d in pass %d", q.lane.task, q.lane.pass)
}

// lane is what a queue records into. Lanes of neighbouring tasks lie side by
// side and are written by different workers, hence the padding at the end.
type lane struct {
	batch   *Batch
	columns []unsafe.Pointer // by table ordinal: the *Column[T] of this batch, or nil
	spare   []unsafe.Pointer // by table ordinal: the *Column[T] kept from batch to batch
	touched []touched        // the columns of this batch, in order of first use
	strays  []handle.ID      // untyped erases of typeIds that no table has
	left    int              // commands until the limit; 0 when closed
	used    int              // commands recorded, once closed
	pass    int
	task    int
	over    bool // more than the limit were recorded
	closed  bool

	_ [64]byte
}

type touched struct {
	ordinal int
	column  Recorded
}

func (l *lane) begin(b *Batch, pass, task int) {
	l.batch, l.pass, l.task = b, pass, task
	l.left, l.used, l.over, l.closed = b.limit, 0, false, false
}

// close makes the queue panic from now on, without a check of its own in the
// recording path: nothing is left of its limit.
func (l *lane) close() {
	if !l.closed {
		l.used, l.left, l.closed = l.commands(), 0, true
	}
}

func (l *lane) commands() int {
	if l.closed {
		return l.used
	}
	return l.batch.limit - l.left
}

// reset drops what was recorded and keeps the memory.
func (l *lane) reset() {
	for i, t := range l.touched {
		t.column.reset()
		l.columns[t.ordinal] = nil
		l.touched[i] = touched{}
	}
	l.touched = l.touched[:0]
	l.strays = l.strays[:0]
	if l.closed {
		l.used = 0
	} else {
		l.left = l.batch.limit
	}
}

// take counts n more commands, or reports that they are beyond the limit and
// fails the queue.
func (l *lane) take(n int) bool {
	if n > l.left {
		l.over, l.left = true, 0
		return false
	}
	l.left -= n
	return true
}

// Erase records that the item id names is to be erased, whichever table of the
// store it is in; a provisional handle of this batch cancels the create. A
// handle whose typeId belongs to no table is counted as stale.
func (q Queue) Erase(id handle.ID) {
	if q.lane == nil {
		(*Batch)(nil).check(q) // panics
	}
	b := q.lane.batch
	if typeID := int(id.TypeID()); typeID < len(b.owners) && b.owners[typeID] != nil {
		b.owners[typeID].eraseID(q, id)
		return
	}
	b.check(q)
	if q.lane.take(1) {
		q.lane.strays = append(q.lane.strays, id)
	}
}
