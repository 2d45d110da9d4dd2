package record

import (
	"fmt"
	"sync/atomic"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/highwater"
	"handloom/shard/handle"
)

// Queue records the commands of one task, or of one call of the inbox. It
// belongs to the goroutine that runs the task, until the pass ends; recording
// into a queue that was kept longer, or through a table of another store,
// panics. The zero Queue panics as well.
//
// A queue that is given more than its limit fails as a whole: what it holds is
// dropped and its pass returns [batch.ErrQueueFull].
type Queue struct {
	lane   *lane
	serial uint64 // of the use that the queue was handed out for
}

// String names the queue by its key, for messages.
func (q Queue) String() string {
	switch {
	case q.lane == nil:
		return "the zero queue"
	case q.lane.pass == batch.InboxPass:
		return "the queue of a call of the inbox"
	}
	return fmt.Sprintf("the queue of task %d in pass %d", q.lane.task, q.lane.pass)
}

// lane is what a queue records into. Lanes of neighbouring tasks lie side by
// side and are written by different workers, hence the padding at the end.
//
// Nothing is counted per command: how much a lane holds is what its arrays
// hold, and limits are looked at when one of them grows and when the pass ends.
// Most of the time the room in all arrays together is below the limits, and then
// what they hold need not be added up.
type lane struct {
	serial  uint64 // of the use that records now; 0: closed
	batch   *Batch
	erases  [][]handle.ID // by list (see router): of this use, or nil
	columns []*Column     // by table ordinal: of this use, or nil

	spareErases [][]handle.ID    // by list: kept from use to use
	spare       []*Column        // by table ordinal: kept from use to use
	lists       []int            // the lists of this use
	touched     []touched        // the columns of this use, in order of first use
	strays      []handle.ID      // untyped erases of typeIds that no table has
	peaks       []highwater.Mark // by list: of spareErases
	room        Load             // in the arrays of this use: it holds no more
	straysPeak  highwater.Mark
	uses        int    // since idle arrays were given up
	usedTables  []bool // by table ordinal: since then
	usedLists   []bool // by list: since then
	last        uint64 // serial of the use that is closed, until its batch ends
	pass        int
	task        int
	state       state
	busy        atomic.Bool // checked builds: a goroutine is inside a method

	_ [64]byte
}

type touched struct {
	ordinal int
	column  *Column
}

// state says why a lane is closed.
type state uint8

const (
	recording state = iota
	ended           // with its pass
	full            // beyond its limit; what it held is dropped
)

func (l *lane) begin(b *Batch, serial uint64, pass, task int) {
	l.batch, l.serial, l.last, l.pass, l.task = b, serial, serial, pass, task
	l.state = recording
}

// close makes the queue panic from now on, without a check of its own in the
// recording path: no queue has serial 0.
func (l *lane) close() {
	l.serial, l.state = 0, ended
}

// fail drops what was recorded and ignores what follows. The columns are given up,
// because the function of an EmplaceFunc may still write to one: what it put
// there would stay alive.
func (l *lane) fail() {
	for _, t := range l.touched {
		l.spare[t.ordinal] = nil
	}
	l.reset()
	l.serial, l.state = 0, full
}

// reset drops what was recorded and keeps the memory.
func (l *lane) reset() {
	for i, t := range l.touched {
		t.column.reset()
		l.columns[t.ordinal] = nil
		l.touched[i] = touched{}
	}
	for _, list := range l.lists {
		l.spareErases[list] = highwater.Trim(&l.peaks[list], l.erases[list])
		l.erases[list] = nil
	}
	l.touched, l.lists = l.touched[:0], l.lists[:0]
	l.strays = highwater.Trim(&l.straysPeak, l.strays)
	l.room = Load{}
	l.roomier(cap(l.strays), idBytes)
	l.giveUpIdle()
}

// giveUpIdle gives up, now and then, the arrays for tables that had no commands
// in this queue since the last time.
func (l *lane) giveUpIdle() {
	if l.uses++; l.uses < highwater.Period {
		return
	}
	l.uses = 0
	for ordinal, used := range l.usedTables {
		if !used {
			l.spare[ordinal] = nil
		}
	}
	for list, used := range l.usedLists {
		if !used {
			l.spareErases[list] = nil
		}
	}
	clear(l.usedTables)
	clear(l.usedLists)
}

// forget gives up all memory of a lane that is out of use. What is left lets a
// queue that was kept panic with its name.
func (l *lane) forget() {
	*l = lane{batch: l.batch, pass: l.pass, task: l.task}
}

// empty reports whether the lane holds nothing.
func (l *lane) empty() bool { return len(l.touched)+len(l.lists)+len(l.strays) == 0 }

// load is what the lane holds. It takes O(tables used) time.
func (l *lane) load() Load {
	if l.empty() {
		return Load{}
	}
	sum := Load{len(l.strays), int64(len(l.strays)) * idBytes}
	for _, list := range l.lists {
		n := len(l.erases[list])
		sum.Add(Load{n, int64(n) * idBytes})
	}
	for _, t := range l.touched {
		sum.Add(t.column.load())
	}
	return sum
}

// admit reports whether n more commands of size bytes each stay within the
// limits of the queue, and fails it if not.
func (l *lane) admit(n int, size uintptr) bool {
	more := Load{n, int64(n) * int64(size)}
	if l.fits(l.room, more) || l.fits(l.load(), more) {
		return true
	}
	l.fail()
	return false
}

func (l *lane) fits(load, more Load) bool {
	load.Add(more)
	return load.within(l.batch.limits.QueueCommands, l.batch.limits.QueueBytes)
}

// roomier notes that the arrays of this use have room for n more commands of size
// bytes each.
func (l *lane) roomier(n int, size uintptr) {
	l.room.Add(Load{n, int64(n) * int64(size)})
}

// overflowed reports whether more than its limits was recorded, and fails the
// queue if so.
func (l *lane) overflowed() bool {
	if check.Full {
		l.auditRoom()
	}
	return l.state == full || l.state == recording && !l.empty() && !l.admit(0, 0)
}

// auditRoom panics when the room was not counted in full, for then limits would be
// missed.
func (l *lane) auditRoom() {
	if held := l.load(); held.Commands > l.room.Commands || held.Bytes > l.room.Bytes {
		panic(fmt.Sprintf("batch: checked build: a queue with room for %+v holds %+v", l.room, held))
	}
}

// enter and leave surround a call in checked builds: two goroutines inside at
// once are a bug that would otherwise lose commands.
func (q Queue) enter() {
	if q.lane != nil && !q.lane.busy.CompareAndSwap(false, true) {
		panic(fmt.Sprintf("batch: %v is used by two goroutines at once; give each task its own queue", q))
	}
}

func (q Queue) leave() {
	if q.lane != nil {
		q.lane.busy.Store(false)
	}
}

// Erase records that the item id names is to be erased, whichever table of the
// store it is in; a provisional handle of this batch cancels the create. A
// handle whose typeId belongs to no table is counted as stale.
func (q Queue) Erase(id handle.ID) {
	if q.lane == nil {
		q.usable(nil) // panics
	}
	b := q.lane.batch
	if list := b.listOf(id.TypeID()); list > 0 {
		(&router{batch: b, list: list}).Erase(q, id)
		return
	}
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	if l := q.lane; q.usable(b) && (len(l.strays) < cap(l.strays) || l.admit(1, idBytes)) {
		before := cap(l.strays)
		l.strays = append(l.strays, id)
		l.roomier(cap(l.strays)-before, idBytes)
	}
}

// router says which erase list of a batch a handle goes to: that of its shard,
// or of the table's first, which counts handles of other tables as stale, so
// that no command is lost (B1).
type router struct {
	batch  *Batch
	list   int // erase list of the first shard; the others follow
	first  uint16
	shards uint16
}

// shard returns the shard of the table that commands to typeID go to.
func (r *router) shard(typeID uint16) int {
	if shard := typeID - r.first; shard < r.shards {
		return int(shard)
	}
	return 0
}

// Erase records that the item id names is to be erased; a provisional handle of
// this batch cancels the create. It is no method of a generic type and kept whole,
// because a call costs as much as the rest of it (op=record/kind=erase).
func (r *router) Erase(q Queue, id handle.ID) {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	list := r.list + r.shard(id.TypeID())
	if l := q.lane; l != nil && q.serial == l.serial && l.batch == r.batch && uint(list) < uint(len(l.erases)) {
		ids := &l.erases[list]
		if n := len(*ids); n < cap(*ids) {
			*ids = (*ids)[:n+1]
			(*ids)[n] = id
			return
		}
	}
	q.erasesIn(r.batch, list, 1)
	q.appendIn(list, id)
}

// erasesIn makes room for n erases in a list, if the queue may take them.
func (q Queue) erasesIn(b *Batch, list, n int) {
	if !q.usable(b) || !q.lane.admit(n, idBytes) {
		return
	}
	l := q.lane
	for len(l.erases) <= list {
		l.erases = append(l.erases, nil)
		l.spareErases = append(l.spareErases, nil)
		l.peaks = append(l.peaks, highwater.Mark{})
		l.usedLists = append(l.usedLists, false)
	}
	if l.erases[list] == nil {
		l.lists = append(l.lists, list)
		l.erases[list] = l.spareErases[list]
		l.usedLists[list] = true
		l.roomier(cap(l.erases[list]), idBytes)
	}
	before := cap(l.erases[list])
	l.erases[list] = grow(l.erases[list], n)
	l.roomier(cap(l.erases[list])-before, idBytes)
}

// appendIn appends to a list that erasesIn made room in, unless it refused.
func (q Queue) appendIn(list int, id handle.ID) {
	if l := q.lane; l.serial == q.serial {
		l.erases[list] = append(l.erases[list], id)
	}
}

// usable panics unless q belongs to batch b and may still be recorded into. It
// reports false when the queue has failed, so that commands are ignored.
func (q Queue) usable(b *Batch) bool {
	switch l := q.lane; {
	case l == nil:
		panic("batch: the zero Queue records nothing; use the queue that a pass gives to its task")
	case l.batch != b:
		panic(fmt.Sprintf("batch: %v belongs to another store than the table; use a queue of a pass of the table's own store", q))
	case q.serial == l.serial:
		return true
	case l.pass == batch.InboxPass && l.state != full:
		panic(fmt.Sprintf("batch: %v was kept past it; record inside the function given to the inbox", q))
	case q.serial != l.last:
		panic(fmt.Sprintf("batch: %v was kept past its flush; take the queue that the current pass gives to its task", q))
	case l.state == full:
		return false
	default:
		panic(fmt.Sprintf("batch: %v was kept past its pass; take the queue that the current pass gives to its task", q))
	}
}
