package batch

import (
	"slices"
	"sync/atomic"
)

// serials numbers the uses of queues: one compare rejects every queue that may not
// record.
var serials atomic.Uint64

// Batch is the set of queues recorded since the last flush. Tasks and calls of the inbox
// read limits, byType and ended at any time. The store orders all other uses.
type Batch struct {
	serial      uint64 // never 0
	limits      Limits
	tables      []*Recorder // by ordinal
	byList      []*Recorder // by erase list; list 0 is none
	attachments []*SetLog
	byType      atomic.Pointer[[]int32] // erase list by typeId, or 0; the inbox reads what is published

	order []*Pass // in key order
	pool  passPool
	open  int   // passes that have not ended
	ended tally // of ended passes, if limits count it
	inbox inbox
	input input

	withheld bool                               // leave out calls that a flush may drop
	dropped  struct{ calls, unknownErases int } // of dropped calls

	used     bool  // since the last Trim
	gathered []int // ordinals, in order of first use
}

// New returns an empty batch. Tables and attachments are registered later, by Init.
func New(limits Limits) *Batch {
	b := &Batch{serial: serials.Add(1), limits: limits, byList: make([]*Recorder, 1)}
	b.byType.Store(new([]int32))
	return b
}

// eraseList returns the erase list of a typeId, or 0. Queues of the inbox call it while
// tables are registered, so it reads a published copy.
func (b *Batch) eraseList(typeID uint16) int {
	if byType := *b.byType.Load(); int(typeID) < len(byType) {
		return int(byType[typeID])
	}
	return 0
}

// addTable registers a table of n typeIds from first on, and returns its ordinal and first
// erase list. The inbox never reads past the published length.
func (b *Batch) addTable(r *Recorder, first uint16, n int) (ordinal, list int) {
	ordinal, list = len(b.tables), len(b.byList)
	b.tables = append(b.tables, r)
	if n == 0 {
		return ordinal, list
	}
	byType := *b.byType.Load()
	if int(first) < len(byType) {
		// The new elements lie inside the published length, where a call may read.
		byType = slices.Clone(byType)
	}
	for len(byType) < int(first)+n {
		byType = append(byType, 0)
	}
	for i := range n {
		b.byList = append(b.byList, r)
		byType[int(first)+i] = int32(list + i)
	}
	b.byType.Store(&byType)
	return ordinal, list
}

// Begin starts the next pass, with n queues.
func (b *Batch) Begin(n int) *Pass {
	b.used = true
	p := b.pool.take(b, n, len(b.order))
	// The place in the order is fixed before the tasks run, so it does not depend on timing.
	p.joined = true
	b.order = append(b.order, p)
	b.open++
	return p
}

// Admit returns an error that wraps [ErrQueueFull] if the batch is at its limits. Open
// passes do not count: their progress depends on timing.
func (b *Batch) Admit() error {
	load := b.ended.load()
	load.add(b.inbox.pending()) // calls of a claimed inbox depend on timing
	return b.limits.admit(load)
}

// Seal moves the arrived calls of the inbox to the batch, after calls that a failed flush
// left.
func (b *Batch) Seal() { b.inbox.seal() }

// Started reports whether the batch has passes, sealed calls or an input, even without
// commands.
func (b *Batch) Started() bool {
	return len(b.order) > 0 || len(b.inbox.sealed) > 0 || b.input.waits
}

// Pending returns the load of the batch in O(queues + table buffers) time.
func (b *Batch) Pending() (sum Load) {
	for _, p := range b.order {
		sum.add(p.load())
	}
	sum.add(b.inbox.pending())
	sum.add(b.input.load())
	return sum
}

// Sealed returns the load that a flush finds after [Batch.Seal].
func (b *Batch) Sealed() Load {
	var sum Load
	for buf := range b.buffers {
		sum.add(buf.load())
	}
	return sum
}

// count adds an ended pass to the tally. Without limits nobody reads the tally.
func (b *Batch) count(p *Pass) {
	if b.limits.ofBatch() {
		b.ended.add(p.load())
	}
}

// Check returns the error of the lowest queue that exceeds its limit in an open pass.
func (b *Batch) Check() error {
	// Queues of Store.Queues stay open until the flush. Without such queues no pass needs a
	// visit.
	for i := 0; i < len(b.order) && b.open > 0; i++ {
		if p := b.order[i]; p.open {
			if err := p.full(); err != nil {
				return err
			}
		}
	}
	return nil
}

// UnknownErases calls visit for every untyped erase of an unknown typeId, in (key,
// sequence) order.
func (b *Batch) UnknownErases(visit func(s Sample)) {
	for buf := range b.buffers {
		if buf.state == dropped {
			continue
		}
		for sequence, id := range buf.unknownErases {
			visit(Sample{Handle: id, TypeID: id.TypeID(), Kind: Erase, Pass: buf.pass, Task: buf.task, Sequence: sequence})
		}
	}
}

// buffers yields the queues in key order, then sealed calls, then the input. It is an
// iterator itself because a closure would allocate.
func (b *Batch) buffers(yield func(buf *buffer) bool) {
	for _, p := range b.order {
		// This loop is the key order. All readers of a batch use it, so no result depends
		// on the time at which tasks ran.
		for task := range p.buffers[:p.tasks] {
			if !yield(&p.buffers[task]) {
				return
			}
		}
	}
	if b.withheld {
		return
	}
	for _, buf := range b.inbox.sealed {
		if !yield(buf) {
			return
		}
	}
	if !b.input.waits {
		return
	}
	// After divide the calls are in queues of their own, and the common queue would count
	// twice.
	if len(b.input.single) == 0 {
		yield(b.input.buf)
		return
	}
	for _, buf := range b.input.single {
		if !yield(buf) {
			return
		}
	}
}

// Drop begins the next batch. Arrived calls return cause.
func (b *Batch) Drop(cause error) {
	b.complete(cause)
	b.Finish()
}

// Break makes waiting and future calls of the inbox return cause.
func (b *Batch) Break(cause error) {
	b.Close(cause)
	b.complete(cause)
}

// Trim releases memory that was not used since the last Trim. The batch must be empty.
func (b *Batch) Trim() {
	if !b.used {
		// The marks of a probe are a setting, not memory.
		b.pool, b.input, b.gathered = passPool{}, input{marks: b.input.marks}, nil
	}
	b.used = false
	b.inbox.trim()
}

// Finish begins the next batch. Queues of the old one panic.
func (b *Batch) Finish() {
	for i, p := range b.order {
		p.finish()
		b.order[i] = nil
	}
	b.order, b.open = b.order[:0], 0
	b.ended.reset()
	b.pool.rewind()
	b.inbox.finish()
	b.input.finish()
	// The next batch uses the buffers again. Its queues differ from old queues by the
	// serial.
	b.serial = serials.Add(1)
}

// A Mark is a place between the passes of a batch.
type Mark struct {
	serial uint64
	passes int
}

// Mark returns the place after the passes that began so far.
func (b *Batch) Mark() Mark { return Mark{b.serial, len(b.order)} }

// DropSince drops the commands of the passes after m, which have ended. If a flush or Drop
// followed m, it drops the commands of all passes.
func (b *Batch) DropSince(m Mark) {
	// The passes that m counts have left with their batch; all of these are newer.
	if m.serial != b.serial {
		m.passes = 0
	}
	// Emptied passes stay in the order: the keys of later ones must not change.
	for _, p := range b.order[m.passes:] {
		for task := range p.buffers[:p.tasks] {
			p.buffers[task].reset()
		}
	}
	b.ended.reset()
	for _, p := range b.order {
		if !p.open {
			b.count(p)
		}
	}
}
