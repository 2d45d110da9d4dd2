package batch

import "fmt"

// Pass is a numbered set of queues, one per task.
type Pass struct {
	batch  *Batch
	number int
	lanes  []lane // by task; kept from batch to batch
	tasks  int    // lanes in use
	open   bool
}

func (p *Pass) begin(n int) {
	if n > len(p.lanes) {
		p.lanes = append(p.lanes, make([]lane, n-len(p.lanes))...)
	}
	p.tasks, p.open = n, true
	for task := range p.lanes[:n] {
		p.lanes[task].begin(p.batch, p.number, task)
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
	if failed || err != nil {
		p.drop()
	}
	p.batch.ended += p.commands()
	p.open = false
	for task := range p.lanes[:p.tasks] {
		p.lanes[task].close()
	}
	return err
}

func (p *Pass) commands() int {
	n := 0
	for task := range p.lanes[:p.tasks] {
		n += p.lanes[task].commands()
	}
	return n
}

func (p *Pass) full() error {
	for task := range p.lanes[:p.tasks] {
		if p.lanes[task].over {
			return fmt.Errorf("%w: task %d recorded more than %d commands", ErrQueueFull, task, p.batch.limit)
		}
	}
	return nil
}

func (p *Pass) drop() {
	for task := range p.lanes[:p.tasks] {
		p.lanes[task].reset()
	}
}
