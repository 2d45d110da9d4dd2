package batch

import (
	"fmt"
	"slices"
	"sync/atomic"

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
// dropped and its pass returns [ErrQueueFull].
type Queue struct {
	buf    *buffer
	serial uint64 // of the use that the queue was handed out for
}

// String names the queue by its key, for messages.
func (q Queue) String() string {
	switch {
	case q.buf == nil:
		return "the zero queue"
	case q.buf.pass == inboxPass:
		return "the queue of a call of the inbox"
	}
	return fmt.Sprintf("the queue of task %d in pass %d", q.buf.task, q.buf.pass)
}

// buffer is what a queue records into. Buffers of neighbouring tasks lie side by
// side and are written by different workers, hence the padding at the end.
//
// Nothing is counted per command. Each array has room for a share of what the limits
// admit, and all shares together are never more, so that the first command beyond a limit
// finds its array full, whatever memory the array has. When the shares are used up, each
// array gives back the rest of its own, and is given another one.
type buffer struct {
	serial  uint64 // of the use that records now; 0: closed
	batch   *Batch
	erases  [][]handle.ID  // by list (see router): of this use, with room for its share, or nil
	columns []*tableBuffer // by table ordinal: of this use, or nil

	// These follow, so that the beginning and the end of a pass look at two cache lines of
	// a queue in which nothing was recorded: of such there may be thousands (op=columnadd).
	last      uint64 // serial of the use that is closed, until its batch ends
	pass      int
	task      int
	state     state
	holds     bool    // something, of this use
	unlimited bool    // no limit refuses what is recorded
	owner     *Pass   // nil: the inbox
	random    *random // nil: never used
	failed    error   // of the task

	sets          []*Sets        // by attachment: of this use, or nil
	spareErases   [][]handle.ID  // by list: kept from use to use, the whole arrays of erases
	spareSets     []*Sets        // by attachment: kept from use to use
	spare         []*tableBuffer // by table ordinal: kept from use to use
	lists         []int          // the lists of this use
	touched       []touched      // the columns of this use, in order of first use
	attached      []*Sets        // the sets of this use, likewise
	unknownErases []handle.ID    // untyped erases of typeIds that no table has
	all           []int          // ordinals of tables all of whose items are erased, one for each time that was recorded
	byRow         byRow
	peaks         []highwater.Mark // by list: of spareErases
	room          Load             // of the shares of this use: it holds no more
	unroutedPeak  highwater.Mark
	allPeak       highwater.Mark
	byRowPeak     highwater.Mark
	uses          int         // since idle arrays were given up
	usedTables    []bool      // by table ordinal: since then
	usedLists     []bool      // by list: since then
	usedSets      []bool      // by attachment: since then
	call          *Call       // of the inbox, if somebody waits for it
	why           error       // the call is dropped
	encoder       *encoder    // of a call of the inbox
	busy          atomic.Bool // checked builds: a goroutine is inside a method

	_ [64]byte
}

type touched struct {
	ordinal int
	column  *tableBuffer
}

// state says why a buffer is closed.
type state uint8

const (
	recording state = iota
	ended           // with its pass
	full            // beyond its limit; what it held is dropped
	dropped         // a call that the flush leaves out
)

func (buf *buffer) begin(b *Batch, serial uint64, pass, task int) {
	buf.batch, buf.serial, buf.last, buf.pass, buf.task = b, serial, serial, pass, task
	buf.state = recording
}

// close makes the queue panic from now on, without a check of its own in the
// recording path: no queue has serial 0.
func (buf *buffer) close() {
	buf.serial, buf.state = 0, ended
}

// fail drops what was recorded and ignores what follows. The columns are given up,
// because the function of an EmplaceFunc may still write to one: what it put
// there would stay alive.
func (buf *buffer) fail() {
	for _, t := range buf.touched {
		buf.spare[t.ordinal] = nil
	}
	buf.reset()
	buf.serial, buf.state = 0, full
}

// reset drops what was recorded and keeps the memory.
func (buf *buffer) reset() {
	for i, t := range buf.touched {
		t.column.reset()
		buf.columns[t.ordinal] = nil
		buf.touched[i] = touched{}
	}
	for _, list := range buf.lists {
		buf.spareErases[list] = highwater.Trim(&buf.peaks[list], buf.spareErases[list][:len(buf.erases[list])])
		buf.erases[list] = nil
	}
	for i, s := range buf.attached {
		s.reset()
		buf.sets[s.of.number] = nil
		buf.attached[i] = nil
	}
	buf.touched, buf.lists, buf.attached = buf.touched[:0], buf.lists[:0], buf.attached[:0]
	buf.unknownErases = highwater.Trim(&buf.unroutedPeak, buf.unknownErases)
	buf.room, buf.holds = Load{}, false
	buf.all = highwater.Trim(&buf.allPeak, buf.all)
	buf.byRow = byRow{rows: highwater.Trim(&buf.byRowPeak, buf.byRow.rows)}
	buf.giveUpIdle()
}

// giveUpIdle gives up, now and then, the arrays for tables that had no commands
// in this queue since the last time.
func (buf *buffer) giveUpIdle() {
	if buf.uses++; buf.uses < highwater.Period {
		return
	}
	buf.uses = 0
	for ordinal, used := range buf.usedTables {
		if !used {
			buf.spare[ordinal] = nil
		}
	}
	for list, used := range buf.usedLists {
		if !used {
			buf.spareErases[list] = nil
		}
	}
	for number, used := range buf.usedSets {
		if !used {
			buf.spareSets[number] = nil
		}
	}
	clear(buf.usedSets)
	clear(buf.usedTables)
	clear(buf.usedLists)
}

// forget gives up all memory of a buffer that is out of use. What is left lets a
// queue that was kept panic with its name.
func (buf *buffer) forget() {
	*buf = buffer{batch: buf.batch, pass: buf.pass, task: buf.task}
}

// empty reports whether the buffer holds nothing.
func (buf *buffer) empty() bool { return !buf.holds }

// column returns what the buffer holds for a table, or nil.
func (buf *buffer) column(ordinal int) *tableBuffer {
	if ordinal < len(buf.columns) {
		return buf.columns[ordinal]
	}
	return nil
}

// load is what the buffer holds. It takes O(tables used) time.
func (buf *buffer) load() Load {
	if buf.empty() {
		return Load{}
	}
	n := len(buf.unknownErases) + len(buf.all)
	if buf.byRow.list > 0 {
		n += len(buf.byRow.rows)
	}
	sum := Load{n, int64(n) * idBytes}
	for _, list := range buf.lists {
		n := len(buf.erases[list])
		sum.add(Load{n, int64(n) * idBytes})
	}
	for _, t := range buf.touched {
		sum.add(t.column.load())
	}
	for _, s := range buf.attached {
		sum.add(s.load())
	}
	return sum
}

// admit reports whether n more commands of size bytes each stay within the
// limits of the queue, and fails it if not.
func (buf *buffer) admit(n int, size uintptr) bool {
	return buf.admits(Load{n, int64(n) * int64(size)})
}

func (buf *buffer) admits(more Load) bool {
	if buf.unlimited || buf.fits(more) {
		return true
	}
	if buf.reclaim(); buf.fits(more) {
		return true
	}
	buf.fail()
	return false
}

// take makes more part of the shares, unless that exceeds the limits: then it fails the
// queue and reports false.
func (buf *buffer) take(more Load) bool {
	if !buf.admits(more) {
		return false
	}
	buf.room.add(more)
	return true
}

// share makes up to n commands of size bytes each part of the share of an array, and
// returns how many: no more than half of what the limits leave, for there are others.
func (buf *buffer) share(n int, size uintptr) int {
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

// reclaim takes from each array the part of its share that is not used. It takes O(arrays)
// time, and less than O(log) of the limits as often as commands are recorded in turns.
func (buf *buffer) reclaim() {
	for _, list := range buf.lists {
		buf.erases[list] = slices.Clip(buf.erases[list])
	}
	for _, t := range buf.touched {
		t.column.clip()
	}
	for _, s := range buf.attached {
		s.clip()
	}
	buf.room = buf.load()
}

func (buf *buffer) fits(more Load) bool {
	more.add(buf.room)
	return more.within(buf.batch.limits.QueueCommands, buf.batch.limits.QueueBytes)
}

// overflowed reports whether more than its limits was recorded, and fails the
// queue if so.
func (buf *buffer) overflowed() bool {
	if check.Full {
		buf.auditRoom()
	}
	return buf.state == full || buf.state == recording && !buf.empty() && !buf.admit(0, 0)
}

// auditRoom panics when the room was not counted in full, for then limits would be
// missed, or when the buffer is taken for an empty one.
func (buf *buffer) auditRoom() {
	if !buf.holds && len(buf.touched)+len(buf.lists)+len(buf.attached)+len(buf.unknownErases)+len(buf.all)+buf.byRow.list > 0 {
		panic("store: checked build: a queue that holds commands is taken for an empty one")
	}
	if held := buf.load(); held.Commands > buf.room.Commands || held.Bytes > buf.room.Bytes {
		panic(fmt.Sprintf("store: checked build: a queue with room for %+v holds %+v", buf.room, held))
	}
}

// enter and leave surround a call in checked builds: two goroutines inside at
// once are a bug that would otherwise lose commands.
func (q Queue) enter() {
	if q.buf != nil && !q.buf.busy.CompareAndSwap(false, true) {
		panic(fmt.Sprintf("store: %v is used by two goroutines at once; give each task its own queue", q))
	}
}

func (q Queue) leave() {
	if q.buf != nil {
		q.buf.busy.Store(false)
	}
}

// Erase records that the item id names is to be erased, whichever table of the
// store it is in; a provisional handle of this batch cancels the create. A
// handle whose typeId belongs to no table is counted as stale.
func (q Queue) Erase(id handle.ID) {
	if q.buf == nil {
		q.usable(nil) // panics
	}
	b := q.buf.batch
	if list := b.eraseList(id.TypeID()); list > 0 {
		(&router{batch: b, list: list}).Erase(q, id)
		return
	}
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	if buf := q.buf; q.usable(b) && buf.take(Load{1, idBytes}) {
		buf.unknownErases, buf.holds = append(buf.unknownErases, id), true
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
	if buf := q.buf; buf != nil && q.serial == buf.serial && buf.batch == r.batch && uint(list) < uint(len(buf.erases)) {
		ids := &buf.erases[list]
		if n := len(*ids); n < cap(*ids) {
			*ids = (*ids)[:n+1]
			(*ids)[n] = id
			return
		}
	}
	r.erase(q, list, id)
}

// erase is Erase where a list has to grow first, or the queue must not be used at all.
//
//go:noinline
func (r *router) erase(q Queue, list int, id handle.ID) {
	if q.usable(r.batch) && q.buf.take(Load{1, idBytes}) {
		ids := q.buf.erasesIn(list, 1)
		*ids = append(*ids, id)
	}
}

// erasesIn returns a list with room for n more erases, which were taken before, and for
// its next share.
func (buf *buffer) erasesIn(list, n int) *[]handle.ID {
	for len(buf.erases) <= list {
		buf.erases = append(buf.erases, nil)
		buf.spareErases = append(buf.spareErases, nil)
		buf.peaks = append(buf.peaks, highwater.Mark{})
		buf.usedLists = append(buf.usedLists, false)
	}
	ids, whole := &buf.erases[list], &buf.spareErases[list]
	if *ids == nil {
		buf.lists, buf.holds = append(buf.lists, list), true
		buf.usedLists[list] = true
	}
	held := len(*ids)
	if cap(*whole)-held < n {
		*whole = grow(*ids, n)
	}
	more := n + buf.share(cap(*whole)-held-n, idBytes)
	*ids = (*whole)[: held : held+more]
	return ids
}

// usable panics unless q belongs to batch b and may still be recorded into. It
// reports false when the queue has failed, so that commands are ignored.
func (q Queue) usable(b *Batch) bool {
	switch buf := q.buf; {
	case buf == nil:
		panic("store: the zero Queue records nothing; use the queue that a pass gives to its task")
	case buf.batch != b:
		panic(fmt.Sprintf("store: %v belongs to another store than the table; use a queue of a pass of the table's own store", q))
	case q.serial == buf.serial:
		return true
	case buf.pass == inboxPass && buf.state != full:
		panic(fmt.Sprintf("store: %v was kept past it; record inside the function given to the inbox", q))
	case q.serial != buf.last:
		panic(fmt.Sprintf("store: %v was kept past its flush; take the queue that the current pass gives to its task", q))
	case buf.state == full:
		return false
	default:
		panic(fmt.Sprintf("store: %v was kept past its pass; take the queue that the current pass gives to its task", q))
	}
}
