package batch

import (
	"context"
	"fmt"

	"handloom/internal/highwater"
)

// Key orders the queues of a batch.
type Key struct{ Pass, Task int }

// Pass is a set of queues, one per task.
type Pass struct {
	Context context.Context // the tasks' context; nil: not a pass of tasks
	Origin  any             // for the caller; passes that are reused keep it

	batch   *Batch
	buffers []buffer // by task
	tasks   int
	open    bool
	joined  bool   // in the batch
	seed    uint64 // of random numbers; 0: none
	peak    highwater.Mark
}

// begin opens n queues. A pass that is reused keeps the buffers of its last use, so the
// queue with the same key finds its memory.
func (p *Pass) begin(b *Batch, n, number int) {
	if n > len(p.buffers) {
		p.buffers = append(p.buffers, make([]buffer, n-len(p.buffers))...)
	}
	p.batch, p.tasks, p.open, p.joined, p.seed = b, n, true, false, 0
	for task := range p.buffers[:n] {
		buf := &p.buffers[task]
		buf.begin(b, b.serial, number, task)
		buf.owner = p
		if buf.failed != nil {
			buf.failed = nil
		}
	}
}

// Queue returns the queue of a task. Any goroutine may call it while the pass is open.
func (p *Pass) Queue(task int) Queue {
	return Queue{buf: &p.buffers[:p.tasks][task], serial: p.batch.serial}
}

// End closes the queues of the pass. If the pass failed or a queue exceeded its limit, it
// drops all commands, and returns the error of the lowest full queue. Commands of a pass
// are all kept or all dropped, so a batch never has a part of a pass.
func (p *Pass) End(failed bool) error {
	err := p.full()
	p.open, p.Context = false, nil
	for task := range p.buffers[:p.tasks] {
		if failed || err != nil {
			p.buffers[task].reset()
		}
		p.buffers[task].close()
	}
	// A pass of a sequence counts when it joins.
	if p.joined {
		p.batch.open--
		p.batch.count(p)
	}
	return err
}

func (p *Pass) load() Load {
	var sum Load
	for task := range p.buffers[:p.tasks] {
		sum.add(p.buffers[task].load())
	}
	return sum
}

func (p *Pass) empty() bool {
	for task := range p.buffers[:p.tasks] {
		if !p.buffers[task].empty() {
			return false
		}
	}
	return true
}

// full returns the error of the lowest full task. Tasks fail independently, so the result
// does not depend on timing.
func (p *Pass) full() error {
	for task := range p.buffers[:p.tasks] {
		if buf := &p.buffers[task]; buf.overflowed() {
			return fmt.Errorf("%w: task %d recorded more than %v; record in more tasks, or raise the limit", ErrQueueFull, task, p.batch.limits.ofQueue())
		}
	}
	return nil
}

// finish empties the queues at the end of a batch and releases buffers that recent uses did
// not need.
func (p *Pass) finish() {
	for task := range p.buffers[:p.tasks] {
		buf := &p.buffers[task]
		buf.reset()
		buf.close()
		// A kept queue panics from now on as kept past its flush.
		buf.last = 0
	}
	p.open = false
	if keep := p.peak.Note(p.tasks, fewBuffers); len(p.buffers) > keep {
		p.buffers = append(make([]buffer, 0, keep), p.buffers[:keep]...)
	}
	if p.peak.Begins() { // unused buffers keep no arrays
		for i := p.peak.Recent(); i < len(p.buffers); i++ {
			p.buffers[i].release()
		}
	}
}

// passPool gives a pass the queues of the pass with its number in the last batch. So arrays
// grow once per key, however tasks are scheduled.
type passPool struct {
	passes []*Pass
	used   int
	peak   highwater.Mark
}

// take returns the next pass. Passes are taken in order, so a batch with the same passes as
// the last one reuses all of them in place.
func (o *passPool) take(b *Batch, n, number int) *Pass {
	if o.used == len(o.passes) {
		o.passes = append(o.passes, nil)
	}
	if o.passes[o.used] == nil {
		o.passes[o.used] = new(Pass)
	}
	p := o.passes[o.used]
	o.used++
	p.begin(b, n, number)
	return p
}

// rewind frees all passes, and releases passes that recent batches did not use.
func (o *passPool) rewind() {
	o.peak.Note(o.used, 0)
	if recent := o.peak.Recent(); o.peak.Begins() && len(o.passes) > recent {
		// A nil pass is made again when a batch needs it.
		clear(o.passes[recent:])
	}
	o.used = 0
}
