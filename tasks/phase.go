package tasks

import (
	"context"
	"runtime/pprof"
	"sync/atomic"

	"handloom/internal/check"
	"handloom/internal/seam"
)

// cacheLine is at least the unit of memory exchange between processors, in bytes.
const cacheLine = 128

// phase distributes the tasks of one Run after another.
type phase struct {
	// word is phase number << 32 | tasks left.
	word atomic.Uint64
	_    [cacheLine - 8]byte

	// limit is the number of workers that may take tasks. It is read before the swap and
	// changes only while no task is left, so a successful swap proves it right.
	limit atomic.Int64

	// Written while no task is left, and read only as T2 allows:
	work
	order   []uint32 // by position: the task; empty: the worker picks
	scratch []uint32
	spans   []span
	skipped atomic.Int64
	failure failure

	team context.Context // context of WithTeam; nil: no team
}

// begin opens the next phase. All tasks must be finished.
func (p *phase) begin(w work, limit int) {
	p.work = w
	if p.arrange(limit); len(p.order) == 0 {
		p.divide(limit)
	}
	p.skipped.Store(0)
	p.limit.Store(int64(limit))
	number := p.word.Load()>>32 + 1
	p.word.Store(number<<32 | uint64(w.n)) // n fits, see Options.check
}

func (p *phase) open(worker int) bool {
	return uint32(p.word.Load()) != 0 && int64(worker) < p.limit.Load()
}

// All taken tasks must be finished.
func (p *phase) end() error {
	if seam.Worker != nil {
		seam.Worker(seam.BeforeEnd, 0)
	}
	err := p.failure.take()
	if skipped := int(p.skipped.Load()); err == nil && skipped > 0 {
		err = stopped(p.ctx, p.n-skipped, p.n)
	}
	p.work, p.order = work{}, nil
	return err
}

const idle = -1

// workerPhase is the state of one worker in a phase.
type workerPhase struct {
	worker int
	task   int // or idle
	taken  int // not reported as finished

	labels *check.Labels // its goroutine's; nil: labels of the team
}

// drain runs tasks until none is left. If Goexit ends the caller, a deferred call resumes
// (see sequence.resume); other workers leave the rest.
func (p *phase) drain(h *workerPhase) {
	ended := false
	defer func() {
		if !ended && h.worker == 0 {
			p.drain(h)
		}
	}()
	for p.stretch(h) {
	}
	ended = true
}

// A loop until a panic saves a deferred call per task.
func (p *phase) stretch(h *workerPhase) (more bool) {
	defer func() {
		if h.task != idle {
			p.failure.record(h.task, broken(h.task, recover()))
			h.task = idle
			more = true
		}
	}()
	for p.takeNext(h) {
		if p.labels != h.labels && h.worker > 0 {
			p.setLabels(h)
		}
		if p.canceled() {
			p.abandon(h)
			return false
		}
		if err := p.fn(h.task); err != nil {
			p.failure.record(h.task, err)
		}
		h.task = idle
	}
	return false
}

func (p *phase) setLabels(h *workerPhase) {
	if h.labels = p.labels; h.labels != nil {
		h.labels.Set()
	} else {
		pprof.SetGoroutineLabels(p.team)
	}
}

// takeNext reports whether a task was left.
func (p *phase) takeNext(h *workerPhase) bool {
	for {
		word := p.word.Load()
		left := uint32(word)
		if left == 0 || int64(h.worker) >= p.limit.Load() {
			return false
		}
		if seam.Worker != nil {
			seam.Worker(seam.BeforeTake, h.worker)
		}
		if p.word.CompareAndSwap(word, word-1) {
			h.taken++
			h.task = p.at(p.n-int(left), h.worker)
			return true
		}
	}
}

// at returns the task at a position.
func (p *phase) at(position, worker int) int {
	if len(p.order) == 0 {
		return p.pick(worker)
	}
	return int(p.order[position])
}

func (p *phase) abandon(h *workerPhase) {
	word := p.word.Load()
	for !p.word.CompareAndSwap(word, word>>32<<32) {
		word = p.word.Load()
	}
	rest := int(uint32(word))
	h.task = idle
	h.taken += rest
	p.skipped.Add(int64(rest) + 1)
}
