package batch

import (
	"fmt"
	"slices"
	"sync/atomic"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/highwater"
)

// Queue records the commands of one task or of one call of the inbox. It belongs to the
// goroutine of the task until the pass ends. Later use, a table of another store, and the
// zero Queue panic.
//
// A queue that exceeds its limit fails as a whole: its commands are dropped, and its pass
// returns [ErrQueueFull].
type Queue struct {
	buf    *buffer
	serial uint64 // use of the buffer that the queue is for
}

// String returns the key of the queue in words.
func (q Queue) String() string {
	switch {
	case q.buf == nil:
		return "the zero queue"
	case q.buf.pass == inboxPass:
		return "the queue of a call of the inbox"
	}
	return fmt.Sprintf("the queue of task %d in pass %d", q.buf.task, q.buf.pass)
}

// Neighbouring buffers have different writers, hence the padding.
//
// Each array has a share of the limits as capacity, so the first command past a limit
// finds its array full. When the shares are used up, arrays return the rest and get new
// shares.
type buffer struct {
	serial uint64 // current use; 0: closed
	batch  *Batch
	erases []eraseList    // see router
	tables []*tableBuffer // by table ordinal, or nil

	// The end of a pass reads two cache lines of an empty queue: a pass may have thousands
	// (op=columnadd).
	last      uint64 // serial of the last use, until its batch ends
	pass      int
	task      int
	state     state
	holds     bool
	unlimited bool
	owner     *Pass // nil: inbox
	random    *random
	failed    error

	sets          []*Sets // by attachment
	spareSets     []*Sets
	spare         []*tableBuffer
	lists         []int
	touched       []touched // in order of first use
	attached      []*Sets
	unknownErases []handle.ID
	all           []int // ordinals of recorded EraseAll
	byRow         byRow
	room          Load // sum of the shares
	unknownPeak   highwater.Mark
	allPeak       highwater.Mark
	byRowPeak     highwater.Mark
	uses          int    // uses in this period
	usedTables    []bool // used in this period
	usedSets      []bool
	call          *Call // waiting call, or nil
	cause         error // reason for the drop of the call
	encoder       *encoder
	busy          atomic.Bool // a goroutine is inside a method; checked builds only
	wires         []*Wire

	_ [64]byte
}

type touched struct {
	ordinal int
	table   *tableBuffer
}

type state uint8

const (
	recording state = iota
	ended
	full    // past its limit
	dropped // a call left out by the flush
)

// begin opens the buffer for a use. reset has emptied it.
func (buf *buffer) begin(b *Batch, serial uint64, pass, task int) {
	buf.batch, buf.serial, buf.last, buf.pass, buf.task = b, serial, serial, pass, task
	buf.state = recording
}

// No queue has serial 0, so recording needs no extra check.
func (buf *buffer) close() { buf.serial, buf.state = 0, ended }

// fail drops all commands and closes the queue, so that later commands take the slow path,
// where usable returns false. The holder of a pointer from Staged may still write to the table
// buffers, so they are dropped.
func (buf *buffer) fail() {
	for _, t := range buf.touched {
		buf.spare[t.ordinal] = nil
	}
	buf.reset()
	buf.serial, buf.state = 0, full
}

// reset drops all commands and keeps the memory. It visits only arrays that the use touched: a
// pass may have thousands of queues.
func (buf *buffer) reset() {
	for i, t := range buf.touched {
		t.table.reset()
		buf.tables[t.ordinal] = nil
		buf.touched[i] = touched{}
	}
	for _, list := range buf.lists {
		buf.erases[list].reset()
	}
	for i, s := range buf.attached {
		s.reset()
		buf.sets[s.log.number] = nil
		buf.attached[i] = nil
	}
	buf.touched, buf.lists, buf.attached = buf.touched[:0], buf.lists[:0], buf.attached[:0]
	buf.unknownErases = highwater.Trim(&buf.unknownPeak, buf.unknownErases)
	buf.room, buf.holds = Load{}, false
	buf.all = highwater.Trim(&buf.allPeak, buf.all)
	// A chunk appends rows whether or not EraseRows follows.
	buf.byRow = byRow{rows: highwater.Trim(&buf.byRowPeak, buf.byRow.rows)}
	buf.releaseIdle()
}

// releaseIdle releases the arrays of tables, lists and attachments that no use of the last
// period touched.
func (buf *buffer) releaseIdle() {
	if buf.uses++; buf.uses < highwater.Period {
		return
	}
	buf.uses = 0
	for i := range buf.erases {
		l := &buf.erases[i]
		if !l.used {
			l.whole = nil
		}
		l.used = false
	}
	dropUnused(buf.spare, buf.usedTables)
	dropUnused(buf.spareSets, buf.usedSets)
}

func dropUnused[E any](spare []*E, used []bool) {
	for i := range used {
		if !used[i] {
			spare[i] = nil
		}
	}
	clear(used)
}

// release drops all memory of a buffer that recent passes did not use. A released queue can
// still panic with its name.
func (buf *buffer) release() { *buf = buffer{batch: buf.batch, pass: buf.pass, task: buf.task} }

// empty reports whether the queue has no commands. It reads one flag, because a pass may
// have thousands of queues.
func (buf *buffer) empty() bool { return !buf.holds }

func (buf *buffer) table(ordinal int) *tableBuffer {
	if ordinal < len(buf.tables) {
		return buf.tables[ordinal]
	}
	return nil
}

// load takes O(tables used) time.
func (buf *buffer) load() Load {
	if buf.empty() {
		return Load{}
	}
	n := len(buf.unknownErases) + len(buf.all)
	// Rows without a list do not count: their task has not ended.
	if buf.byRow.list > 0 {
		n += len(buf.byRow.rows)
	}
	sum := Load{n, int64(n) * idBytes}
	for _, list := range buf.lists {
		n := len(buf.erases[list].ids)
		sum.add(Load{n, int64(n) * idBytes})
	}
	for _, t := range buf.touched {
		sum.add(t.table.load())
	}
	for _, s := range buf.attached {
		sum.add(s.load())
	}
	return sum
}

// admit fails the queue unless n more commands of size bytes each are within the limits.
func (buf *buffer) admit(n int, size uintptr) bool {
	return buf.admits(Load{n, int64(n) * int64(size)})
}

// admits is the slow path of take: it fails the queue only if its load and more exceed a
// limit.
func (buf *buffer) admits(more Load) bool {
	if buf.unlimited || buf.fits(more) {
		return true
	}
	// Shares reserve more than the load. Only the load itself is limited.
	if buf.reclaim(); buf.fits(more) {
		return true
	}
	buf.fail()
	return false
}

// take adds the load of commands to room, before they are recorded, and reports whether the
// queue has room for them.
func (buf *buffer) take(more Load) bool {
	// Room is at least load (B2), so a queue within its shares is within its limits, and
	// the fast paths, which write into a share, compare no limit.
	if !buf.fits(more) && !buf.admits(more) { // fits is inlined (op=fewcommands)
		return false
	}
	// A probe needs the stack before the command is recorded.
	if buf.wires != nil {
		buf.trip()
	}
	buf.room.add(more)
	return true
}

// share adds up to n commands of size bytes each to the share of an array and returns their
// number, at most half of the rest of the limits: other arrays need room too.
func (buf *buffer) share(n int, size uintptr) int {
	if buf.wires != nil {
		// Without shares, each command calls take.
		return 0
	}
	if limit := buf.batch.limits.QueueCommands; limit > 0 && !buf.unlimited {
		n = min(n, (limit-buf.room.Commands)/2)
	}
	if limit := buf.batch.limits.QueueBytes; limit > 0 && size > 0 && !buf.unlimited {
		n = int(min(int64(n), (limit-buf.room.Bytes)/int64(size)/2))
	}
	n = max(n, 0)
	buf.room.add(Load{n, int64(n) * int64(size)})
	return n
}

// reclaim takes back unused shares in O(arrays) time.
func (buf *buffer) reclaim() {
	for _, list := range buf.lists {
		l := &buf.erases[list]
		l.ids = slices.Clip(l.ids)
	}
	for _, t := range buf.touched {
		t.table.clip()
	}
	for _, s := range buf.attached {
		s.clip()
	}
	// Each array is full now: its next command takes a new share.
	buf.room = buf.load()
}

// fits reports whether the shares and more are within the limits of a queue.
func (buf *buffer) fits(more Load) bool {
	more.add(buf.room)
	return more.within(buf.batch.limits.QueueCommands, buf.batch.limits.QueueBytes)
}

// overflowed reports whether the queue is past its limit, and fails it then. Erases by row
// are added at the end of a task without a check, so this is their check.
func (buf *buffer) overflowed() bool {
	if check.Full {
		buf.auditRoom()
	}
	return buf.state == full || buf.state == recording && !buf.empty() && !buf.fits(Load{}) && !buf.admit(0, 0)
}

// auditRoom checks B2.
func (buf *buffer) auditRoom() {
	if !buf.holds && len(buf.touched)+len(buf.lists)+len(buf.attached)+len(buf.unknownErases)+len(buf.all)+buf.byRow.list > 0 {
		panic("store: checked build: a queue with commands counts as empty")
	}
	if held := buf.load(); held.Commands > buf.room.Commands || held.Bytes > buf.room.Bytes {
		panic(fmt.Sprintf("store: checked build: the shares of a queue are %+v, its load is %+v", buf.room, held))
	}
}

// enter and leave surround a call in checked builds: two goroutines inside, as in the tasks
// of a Reduce, would lose commands.
func (q Queue) enter() {
	if check.Full && q.buf != nil && q.buf.pass != inboxPass {
		// The tasks of a Reduce share one context, so the queue of a pass around it would
		// have several writers.
		if in := q.buf.batch.limits.InReduce; in != nil && in() {
			panic(fmt.Sprintf("store: %v records inside a Reduce, whose tasks share it; return the values, and record them after the Reduce", q))
		}
	}
	if q.buf != nil && !q.buf.busy.CompareAndSwap(false, true) {
		panic(fmt.Sprintf("store: %v is used by two goroutines at once; give each task its own queue", q))
	}
}

func (q Queue) leave() {
	if q.buf != nil {
		q.buf.busy.Store(false)
	}
}

// usable returns false if the queue has failed. It panics unless q belongs to b and is
// open.
func (q Queue) usable(b *Batch) bool {
	switch buf := q.buf; {
	case buf == nil:
		panic("store: the zero Queue records nothing; use the queue that a pass gives to its task")
	case buf.batch != b:
		panic(fmt.Sprintf("store: %v belongs to another store than the table; use a queue of a pass of the table's own store", q))
	case q.serial == buf.serial:
		return true
	// The inbox uses buffers again at once, so last may be of a later call.
	case buf.pass == inboxPass && buf.state != full:
		panic(fmt.Sprintf("store: %v was kept past its call; record inside the function given to the inbox", q))
	// last is the serial of the batch until the batch ends.
	case q.serial != buf.last:
		panic(fmt.Sprintf("store: %v was kept past its flush; take the queue that the current pass gives to its task", q))
	case buf.state == full:
		return false
	default:
		panic(fmt.Sprintf("store: %v was kept past its pass; take the queue that the current pass gives to its task", q))
	}
}
