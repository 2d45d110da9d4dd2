package record

import (
	"fmt"

	"handloom/batch"
	"handloom/internal/highwater"
)

// Key says which queue a command was recorded in, and orders the queues of a
// batch.
type Key struct{ Pass, Task int }

// Pass is a numbered set of queues, one per task.
type Pass struct {
	batch  *Batch
	lanes  []lane // by task; kept from batch to batch
	tasks  int    // lanes in use
	open   bool
	joined bool // what it holds counts for the batch
	held   Load // once ended
	peak   highwater.Mark
}

func (p *Pass) begin(b *Batch, n, number int) {
	if n > len(p.lanes) {
		p.lanes = append(p.lanes, make([]lane, n-len(p.lanes))...)
	}
	p.batch, p.tasks, p.open, p.joined, p.held = b, n, true, false, Load{}
	for task := range p.lanes[:n] {
		p.lanes[task].begin(b, b.serial, number, task)
	}
}

// Queue returns the queue of a task, 0 to the n of [Batch.Begin] less 1.
func (p *Pass) Queue(task int) Queue {
	return Queue{lane: &p.lanes[:p.tasks][task], serial: p.batch.serial}
}

// End closes the queues of the pass. When the pass failed, or a queue was given
// more than its limit, it drops what they recorded; in the second case it
// returns the error of the lowest such task.
func (p *Pass) End(failed bool) error {
	err := p.full()
	p.open = false
	for task := range p.lanes[:p.tasks] {
		if failed || err != nil {
			p.lanes[task].reset()
		}
		p.lanes[task].close()
	}
	p.held = p.load()
	if p.joined {
		p.batch.open--
		p.batch.ended.add(p.held)
	}
	return err
}

func (p *Pass) load() Load {
	var sum Load
	for task := range p.lanes[:p.tasks] {
		sum.Add(p.lanes[task].load())
	}
	return sum
}

func (p *Pass) full() error {
	for task := range p.lanes[:p.tasks] {
		if l := &p.lanes[task]; l.overflowed() {
			return fmt.Errorf("%w: task %d recorded more than %v; record in more tasks, or raise the limit", batch.ErrQueueFull, task, p.batch.limits.ofQueue())
		}
	}
	return nil
}

// finish drops what the queues hold and closes them for good.
func (p *Pass) finish() {
	for task := range p.lanes[:p.tasks] {
		l := &p.lanes[task]
		l.reset()
		l.close()
		l.last = 0
	}
	p.open = false
	if keep := p.peak.Note(p.tasks, fewLanes); len(p.lanes) > keep {
		p.lanes = append(make([]lane, 0, keep), p.lanes[:keep]...)
	}
	if p.peak.Begins() { // of the few that are kept anyway, those out of use keep no arrays
		for i := p.peak.Recent(); i < len(p.lanes); i++ {
			p.lanes[i].forget()
		}
	}
}

// passPool is the memory of passes, reused in order, so that a pass finds the
// queues of the pass with its number in the batch before.
type passPool struct {
	passes []*Pass
	used   int
	peak   highwater.Mark
}

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

// rewind makes all passes free, and gives up those that recent batches had no
// use for.
func (o *passPool) rewind() {
	o.peak.Note(o.used, 0)
	if recent := o.peak.Recent(); o.peak.Begins() && len(o.passes) > recent {
		clear(o.passes[recent:])
	}
	o.used = 0
}
