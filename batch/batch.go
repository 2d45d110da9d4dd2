package batch

import (
	"slices"
	"sync/atomic"
)

// serials numbers the uses of queues across all stores of the process: one compare tells a
// queue that may record from every other. No outcome depends on the value.
var serials atomic.Uint64

// Batch is the set of queues that one store recorded since its last flush.
type Batch struct {
	serial      uint64 // number of this batch among all uses; never 0
	limits      Limits
	tables      []*Recorder // by ordinal
	byList      []*Recorder // by erase list; list 0 does not exist
	attachments []*SetLog
	byType      atomic.Pointer[[]int32] // typeId -> erase list, or 0; the inbox reads the published slice

	order []*Pass // passes in key order
	pool  passPool
	open  int   // number of passes that have not ended
	ended tally // load of ended passes, if limits count it
	inbox inbox
	input input // calls of a tick

	withheld bool                               // Gather leaves out the calls that a flush may drop
	dropped  struct{ calls, unknownErases int } // of dropped calls, once gathered

	used     bool  // a pass or input began since the last Trim
	gathered []int // ordinals of tables with commands, in order of first use
}

// New returns an empty batch.
func New(limits Limits) *Batch {
	b := &Batch{serial: serials.Add(1), limits: limits, byList: make([]*Recorder, 1)}
	b.byType.Store(new([]int32))
	return b
}

// eraseList returns the erase list of a typeId, or 0 if no table has the typeId.
func (b *Batch) eraseList(typeID uint16) int {
	if byType := *b.byType.Load(); int(typeID) < len(byType) {
		return int(byType[typeID])
	}
	return 0
}

// addTable registers a table of n typeIds that start at first. It returns the ordinal of
// the table and the erase list of its first typeId. Goroutines of the inbox never read
// entries past the length that was published.
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

// Begin starts the next pass of the batch with n queues. Passes are numbered in the order
// of these calls.
func (b *Batch) Begin(n int) *Pass {
	b.used = true
	p := b.pool.take(b, n, len(b.order))
	p.joined = true
	b.order = append(b.order, p)
	b.open++
	return p
}

// Admit returns an error that wraps [ErrQueueFull] if the batch is at its limits. Open
// passes do not count: the progress of their tasks depends on timing.
func (b *Batch) Admit() error {
	load := b.ended.load()
	load.add(b.inbox.pending()) // without the calls of a claimed inbox, which depend on timing
	return b.limits.admit(load)
}

// Seal moves the arrived calls of the inbox to the batch, after calls that a failed flush
// left. Calls that still record or arrive later wait for the next Seal.
func (b *Batch) Seal() { b.inbox.seal() }

// Started reports whether the batch has passes, sealed calls or an input, with or without
// commands.
func (b *Batch) Started() bool {
	return len(b.order) > 0 || len(b.inbox.sealed) > 0 || b.input.waits
}

// Pending returns the load of the batch. It takes O(queues) time, and O(1) for each table
// that a queue recorded for.
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

// count adds the load of an ended pass, if the limits bound the batch.
func (b *Batch) count(p *Pass) {
	if b.limits.ofBatch() {
		b.ended.add(p.load())
	}
}

// Check returns the error of the lowest queue, by key, that exceeds its limit in an open
// pass.
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

// UnknownErases calls visit for every untyped erase whose typeId belongs to no table, in
// (key, sequence) order.
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

// buffers yields the queues in key order, then the sealed calls, then the input. It is an
// iterator itself because a closure would be allocated in each flush.
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

// Drop empties the batch, including calls that arrived in the inbox, and begins the next
// batch. Waiting callers get cause.
func (b *Batch) Drop(cause error) {
	b.complete(cause)
	b.Finish()
}

// Break ends the batch for good: waiting and future calls of the inbox return cause.
func (b *Batch) Break(cause error) {
	b.Close(cause)
	b.complete(cause)
}

// Trim releases queue memory that was not used since the last Trim. The batch must be
// empty.
func (b *Batch) Trim() {
	if !b.used {
		b.pool, b.input, b.gathered = passPool{}, input{}, nil
	}
	b.used = false
	b.inbox.trim()
}

// Finish ends the flush of a batch and begins the next batch. Queues of the old one panic
// from now on.
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
