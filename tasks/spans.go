package tasks

import "sync/atomic"

// span is a run of neighbouring tasks that one worker takes before it helps others:
// neighbouring memory is faster and in its cache (op=foreach/size=64).
type span struct {
	next atomic.Int64
	end  int64
	_    [cacheLine - 16]byte
}

// maxSpans bounds the setup cost.
const maxSpans = 64

func spansOf(tasks, workers int) int { return max(1, min(workers, tasks, maxSpans)) }

// spanOf returns the tasks of span i of n.
func spanOf(i, n, tasks int) (lo, hi int) {
	return int(int64(i) * int64(tasks) / int64(n)), int(int64(i+1) * int64(tasks) / int64(n))
}

func (p *phase) divide(workers int) {
	n := spansOf(p.n, workers)
	if n > cap(p.spans) {
		p.spans = make([]span, n)
	}
	p.spans = p.spans[:n]
	for i := range p.spans {
		lo, hi := spanOf(i, n, p.n)
		p.spans[i].next.Store(int64(lo))
		p.spans[i].end = int64(hi)
	}
}

func (p *phase) pick(worker int) int {
	for i := worker; ; i++ {
		own := &p.spans[i%len(p.spans)]
		if own.next.Load() < own.end {
			if task := own.next.Add(1) - 1; task < own.end {
				return int(task)
			}
		}
	}
}
