package tasks

import (
	"context"
	"runtime/pprof"
	"sync/atomic"

	"handloom/internal/check"
	"handloom/internal/seam"
)

// cacheLine is at least the unit in which processors exchange memory, in
// bytes. What different workers write is kept that far apart.
const cacheLine = 128

// phase hands the tasks of one Run to its workers. It is used for one Run
// after another; the doc comment of the package tells why that is safe.
type phase struct {
	// word is phase number << 32 | tasks left to claim.
	word atomic.Uint64
	_    [cacheLine - 8]byte

	// limit is how many workers may claim: those with an index below it. It
	// is read before the claim, and the claim proves that it was the right
	// one: it changes only while no task is left to claim.
	limit atomic.Int64

	// The rest belongs to a phase. It is written while no task is left, and
	// read between a claim and the end of the phase only.
	work
	order   []uint32 // by position of the claim: the task; empty: the worker picks
	scratch []uint32 // the memory of order
	parts   []span   // to pick from
	skipped atomic.Int64
	failure failure

	team context.Context // that the team began with; nil: none
}

// begin opens the next phase. Nobody may hold a claim of the one before.
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

// open reports whether the worker could claim a task now.
func (p *phase) open(worker int) bool {
	return uint32(p.word.Load()) != 0 && int64(worker) < p.limit.Load()
}

// end forgets what the phase referred to and returns its error. All claimed
// tasks must be done.
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

// idle is the task of a hand that holds none.
const idle = -1

// workerPhase is the part of one worker in a phase.
type workerPhase struct {
	worker  int
	task    int // the task claimed and not yet returned from, or idle
	claimed int // tasks claimed and not yet settled

	labels *check.Labels // of its goroutine; nil: those of the team
}

// drain runs tasks until none is left to claim. A worker that Goexit ends leaves
// the rest to the others. The caller is the one worker a phase cannot do without,
// so it goes on in a deferred call, the last chance (see sequence.resume).
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

// stretch runs tasks until none is left to claim, or until one panicked and
// it reports that there may be more. One deferred call serves the whole
// stretch instead of every task.
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

// setLabels gives the labels of the phase to the goroutine of a worker of a team.
func (p *phase) setLabels(h *workerPhase) {
	if h.labels = p.labels; h.labels != nil {
		h.labels.Set()
	} else {
		pprof.SetGoroutineLabels(p.team)
	}
}

// takeNext takes one task for the worker and reports whether one was left.
func (p *phase) takeNext(h *workerPhase) bool {
	for {
		word := p.word.Load()
		left := uint32(word)
		if left == 0 || int64(h.worker) >= p.limit.Load() {
			return false
		}
		if seam.Worker != nil {
			seam.Worker(seam.BeforeClaim, h.worker)
		}
		if p.word.CompareAndSwap(word, word-1) {
			h.claimed++
			h.task = p.at(p.n-int(left), h.worker)
			return true
		}
	}
}

// at is the task at a position of the claim order or, without weights, one that
// the worker picks.
func (p *phase) at(position, worker int) int {
	if len(p.order) == 0 {
		return p.pick(worker)
	}
	return int(p.order[position])
}

// abandon gives up the task in the hand together with all that nobody has
// claimed yet.
func (p *phase) abandon(h *workerPhase) {
	word := p.word.Load()
	for !p.word.CompareAndSwap(word, word>>32<<32) {
		word = p.word.Load()
	}
	rest := int(uint32(word))
	h.task = idle
	h.claimed += rest
	p.skipped.Add(int64(rest) + 1)
}
