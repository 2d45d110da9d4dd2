package tasks

import "sync/atomic"

// span is a run of neighbouring tasks that one worker takes before it helps with
// those of others. Neighbouring tasks mostly work on neighbouring memory, which a
// worker walks faster in one piece, and finds in its cache when the next phase
// walks it again (op=foreach/size=64).
type span struct {
	next atomic.Int64
	end  int64
	_    [cacheLine - 16]byte
}

// maxParts bounds what a phase with many workers has to set up.
const maxParts = 64

// divide gives each worker a part of the tasks.
func (p *phase) divide(workers int) {
	n := max(1, min(workers, p.n, maxParts))
	if n > cap(p.parts) {
		p.parts = make([]span, n)
	}
	p.parts = p.parts[:n]
	for i := range p.parts {
		p.parts[i].next.Store(int64(i) * int64(p.n) / int64(n))
		p.parts[i].end = int64(i+1) * int64(p.n) / int64(n)
	}
}

// pick returns the task of a claim that the worker has made, of its own part if
// any is left there. As many tasks are picked as claims are made, so that there is
// one for every claim, whatever others pick meanwhile.
func (p *phase) pick(worker int) int {
	for i := worker; ; i++ {
		part := &p.parts[i%len(p.parts)]
		if part.next.Load() < part.end {
			if task := part.next.Add(1) - 1; task < part.end {
				return int(task)
			}
		}
	}
}
