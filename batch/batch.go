package batch

import (
	"errors"
	"fmt"
	"sync/atomic"

	"handloom/shard/handle"
)

// ErrQueueFull is what a pass returns, wrapped with task and limit, when a
// queue of it was given more commands than its limit.
var ErrQueueFull = errors.New("queue is full")

// serials numbers batches across all stores of the program, so that one compare
// tells a queue of this store and batch from every other. Nothing that decides
// an outcome looks at the value.
var serials atomic.Uint64

// Batch is every queue that one store recorded since its last flush.
type Batch struct {
	serial   uint64 // of this batch among all batches of the program; never 0
	number   uint16 // of this batch in the provisional handles of the store
	resolved uint16 // number of the last batch that was flushed
	limit    int    // commands a queue may hold
	passes   []*Pass
	started  int     // passes begun in this batch: passes[:started]
	ended    int     // commands in the passes that have ended
	owners   []owner // by typeId: the recorder of the table that has it
}

// owner is a Recorder of any item type.
type owner interface{ eraseID(q Queue, id handle.ID) }

// New returns an empty batch whose queues hold up to limit commands each.
func New(limit int) *Batch {
	return &Batch{serial: serials.Add(1), number: 1, limit: limit}
}

// Begin starts the next pass of the batch with n queues. Passes are numbered in
// the order of these calls.
func (b *Batch) Begin(n int) *Pass {
	if b.started == len(b.passes) {
		b.passes = append(b.passes, &Pass{batch: b, number: b.started})
	}
	p := b.passes[b.started]
	b.started++
	p.begin(n)
	return p
}

// Started reports whether the batch has passes, with or without commands.
func (b *Batch) Started() bool { return b.started > 0 }

// Pending returns how many commands the batch holds. It takes O(queues) time
// for passes that have not ended.
func (b *Batch) Pending() int {
	n := b.ended
	for _, p := range b.passes[:b.started] {
		if p.open {
			n += p.commands()
		}
	}
	return n
}

// Check returns the error of the lowest queue, by key, that was given more
// commands than its limit in a pass that has not ended.
func (b *Batch) Check() error {
	for _, p := range b.passes[:b.started] {
		if p.open {
			if err := p.full(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Gather calls visit for each column that holds commands, queues in key order.
// ordinal is the table's; the columns of one table come in key order.
func (b *Batch) Gather(visit func(ordinal int, c Recorded, pass, task int)) {
	for _, p := range b.passes[:b.started] {
		for task := range p.lanes[:p.tasks] {
			for _, t := range p.lanes[task].touched {
				visit(t.ordinal, t.column, p.number, task)
			}
		}
	}
}

// Strays calls visit for every untyped erase whose typeId belongs to no table,
// in (key, sequence) order.
func (b *Batch) Strays(visit func(s Sample)) {
	for _, p := range b.passes[:b.started] {
		for task := range p.lanes[:p.tasks] {
			for sequence, id := range p.lanes[task].strays {
				visit(Sample{Handle: id, TypeID: id.TypeID(), Kind: Erase, Pass: p.number, Task: task, Sequence: sequence})
			}
		}
	}
}

// Finish empties the batch, whose queues panic from now on, and begins the next
// one. flushed says that the commands were applied, so that the names of this
// batch are the ones that resolve from now on.
func (b *Batch) Finish(flushed bool) {
	for _, p := range b.passes[:b.started] {
		p.drop()
		p.open = false
	}
	b.started, b.ended = 0, 0
	if flushed {
		b.resolved = b.number
	}
	b.serial = serials.Add(1)
	b.number++
	if b.number == b.resolved {
		b.number++ // a name of the next batch must not look like one that resolves
	}
}

// check panics unless q belongs to this batch and its pass has not ended.
func (b *Batch) check(q Queue) {
	switch {
	case q.lane == nil:
		panic("batch: the zero Queue records nothing; use the queue that a pass gives to its task")
	case q.lane.batch != b:
		panic(fmt.Sprintf("batch: %v belongs to another store than the table; use a queue of a pass of the table's own store", q))
	case q.serial != b.serial:
		panic(fmt.Sprintf("batch: %v was kept past its flush; take the queue that the current pass gives to its task", q))
	case q.lane.closed:
		panic(fmt.Sprintf("batch: %v was kept past its pass; take the queue that the current pass gives to its task", q))
	}
}
