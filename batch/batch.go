package batch

import (
	"slices"
	"sync/atomic"
)

// serials numbers the uses of queues across all stores of the program, so that
// one compare tells a queue that may record from every other. Nothing that
// decides an outcome looks at the value.
var serials atomic.Uint64

// Batch is every queue that one store recorded since its last flush.
type Batch struct {
	serial      uint64 // of this batch among all uses; never 0
	limits      Limits
	tables      []*Recorder // by ordinal
	byList      []*Recorder // by erase list; list 0 is none
	attachments []*SetLog
	byType      atomic.Pointer[[]int32] // by typeId: its erase list, or 0; the inbox reads what is published

	order []*Pass // of this batch, in key order
	pool  passPool
	open  int   // passes that have not ended
	ended tally // of those that have, where limits count it
	inbox inbox
	input input // of a tick

	withheld bool                               // the calls that a flush may drop are left out
	dropped  struct{ calls, unknownErases int } // of those, once gathered

	used     bool  // a pass or input began since the batch was asked to rest
	gathered []int // ordinals of the tables with commands, in order of first use
}

// New returns an empty batch.
func New(limits Limits) *Batch {
	b := &Batch{serial: serials.Add(1), limits: limits, byList: make([]*Recorder, 1)}
	b.byType.Store(new([]int32))
	return b
}

// eraseList returns the erase list of a typeId, or 0 if no table has it.
func (b *Batch) eraseList(typeID uint16) int {
	if byType := *b.byType.Load(); int(typeID) < len(byType) {
		return int(byType[typeID])
	}
	return 0
}

// addTable gives a table of n typeIds, from first on, the next ordinal and each
// typeId an erase list. It returns the ordinal and the first list. What it writes behind
// the typeIds there were, nobody reads before it is published.
func (b *Batch) addTable(r *Recorder, first uint16, n int) (ordinal, list int) {
	ordinal, list = len(b.tables), len(b.byList)
	b.tables = append(b.tables, r)
	if n == 0 {
		return ordinal, list
	}
	byType := *b.byType.Load()
	if int(first) < len(byType) {
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

// Begin starts the next pass of the batch with n queues. Passes are numbered in
// the order of these calls.
func (b *Batch) Begin(n int) *Pass {
	b.used = true
	p := b.pool.take(b, n, len(b.order))
	p.joined = true
	b.order = append(b.order, p)
	b.open++
	return p
}

// Admit returns an error that wraps [ErrQueueFull] when the batch holds as much
// as its limits allow, so that no further pass should start. What passes hold
// that have not ended does not count: their tasks may be recording, and how far
// they are is timing.
func (b *Batch) Admit() error {
	load := b.ended.load()
	load.add(b.inbox.pending()) // what waits for who claimed the store does not count: it is timing
	return b.limits.admit(load)
}

// Seal hands the calls of the inbox that arrived to the batch, behind those that a
// flush which failed has left. What arrives later waits for the next Seal, and so do
// calls that are still recording.
func (b *Batch) Seal() { b.inbox.seal() }

// Started reports whether the batch has passes, sealed calls of the inbox or the input
// of a tick, with or without commands.
func (b *Batch) Started() bool {
	return len(b.order) > 0 || len(b.inbox.sealed) > 0 || b.input.waits
}

// Pending returns what the batch holds. It takes O(queues) time, and O(1) for each table
// that one of them recorded for.
func (b *Batch) Pending() (sum Load) {
	for _, p := range b.order {
		sum.add(p.load())
	}
	sum.add(b.inbox.pending())
	sum.add(b.input.load())
	return sum
}

// Sealed returns what a flush finds, once [Batch.Seal] has sealed the inbox.
func (b *Batch) Sealed() Load {
	var sum Load
	for buf := range b.buffers {
		sum.add(buf.load())
	}
	return sum
}

// count adds what a pass holds that has ended to what the limits of the batch are for.
func (b *Batch) count(p *Pass) {
	if b.limits.ofBatch() {
		b.ended.add(p.load())
	}
}

// Check returns the error of the lowest queue, by key, that was given more than
// its limit in a pass that has not ended.
func (b *Batch) Check() error {
	for i := 0; i < len(b.order) && b.open > 0; i++ {
		if p := b.order[i]; p.open {
			if err := p.full(); err != nil {
				return err
			}
		}
	}
	return nil
}

// UnknownErases calls visit for every untyped erase whose typeId belongs to no table,
// in (key, sequence) order.
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

// buffers yields the queues in key order, behind them the sealed calls of the inbox and
// the input of a tick. It is an iterator itself, so that no closure is allocated in a
// flush.
func (b *Batch) buffers(yield func(buf *buffer) bool) {
	for _, p := range b.order {
		for task := range p.buffers[:p.tasks] {
			if !yield(&p.buffers[task]) {
				return
			}
		}
	}
	if b.withheld {
		if b.input.waits && b.input.whole {
			yield(b.input.buf)
		}
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

// Drop empties the batch, calls that arrived in the inbox included, and begins
// the next one. Who waits for such a call is told why.
func (b *Batch) Drop(why error) {
	b.complete(why)
	b.Finish()
}

// Break is called when no flush will ever come: calls of the inbox return why, and so do
// those that somebody waits for.
func (b *Batch) Break(why error) {
	b.Close(why)
	b.complete(why)
}

// Trim gives up the memory that queues keep from batch to batch, of those that were not
// used since it was called last. The batch is empty.
func (b *Batch) Trim() {
	if !b.used {
		b.pool, b.input, b.gathered = passPool{}, input{}, nil
	}
	b.used = false
	b.inbox.rest()
}

// Finish ends the flush of a batch, whose queues panic from now on, and begins
// the next one.
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
	b.serial = serials.Add(1)
}
