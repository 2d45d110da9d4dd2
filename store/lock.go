package store

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"handloom/internal/check"
)

// lock is the gate of a store: held exclusively by one, or shared by any number, first
// come, first served. A [sync.RWMutex] does not stop waiting when a context ends; a
// semaphore.Weighted does not know its holder, so it refuses further shares while others
// wait.
//
// The low bits of the state count shares.
//
//   - L1 The state changes by compare-and-swap. Bit waiting changes only under the mutex,
//     and is set if and only if the queue is not empty.
//   - L2 While it is set, waiters get the gate in order; only tryPass overtakes them.
//   - L3 A release while it is set looks for the next waiter under the mutex.
//
// No wake-up is lost: a waiter sets the bit on a state that does not admit it, and a
// change to a state that does sees the bit (L1, L3).
type lock struct {
	state atomic.Int64

	mutex sync.Mutex
	queue list.List // of *waiter
}

const (
	heldExclusive = 1 << 32
	waiting       = 1 << 33
)

type waiter struct {
	takes int64 // added to the state: 1 or heldExclusive
	ready chan struct{}
}

// takes returns the number that a holder adds to the state.
func takes(shared bool) int64 {
	if shared {
		return 1
	}
	return heldExclusive
}

func admits(state, takes int64) bool {
	return state == 0 || takes == 1 && state < heldExclusive
}

// tryAcquire takes the gate unless it would wait.
func (l *lock) tryAcquire(shared bool) bool {
	takes := takes(shared)
	for {
		state := l.state.Load()
		if !admits(state, takes) {
			return false
		}
		if l.state.CompareAndSwap(state, state+takes) {
			return true
		}
	}
}

// tryPass takes a share unless the gate is held exclusively; it overtakes waiters. It is
// for very short use.
func (l *lock) tryPass() bool {
	for {
		state := l.state.Load()
		if state&heldExclusive != 0 {
			return false
		}
		if l.state.CompareAndSwap(state, state+1) {
			return true
		}
	}
}

func (l *lock) heldExclusive() bool { return l.state.Load()&heldExclusive != 0 }

// acquire waits for the gate until ctx ends, and reports whether it took it. It takes
// nothing when ctx has already ended.
func (l *lock) acquire(ctx context.Context, shared bool) bool {
	done := ctx.Done()
	if done != nil && isClosed(done) {
		return false
	}
	if l.tryAcquire(shared) {
		return true
	}
	w := &waiter{takes: takes(shared), ready: make(chan struct{})}
	place := l.enqueue(w)
	if place == nil {
		return true
	}
	select {
	case <-w.ready:
		if !isClosed(done) {
			return true
		}
	case <-done:
	}
	l.withdraw(place)
	return false
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// enqueue makes w wait, or returns nil when the gate is free for it now.
func (l *lock) enqueue(w *waiter) *list.Element {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for {
		switch state := l.state.Load(); {
		case admits(state, w.takes):
			if l.state.CompareAndSwap(state, state+w.takes) {
				return nil
			}
		case l.state.CompareAndSwap(state, state|waiting):
			return l.queue.PushBack(w)
		}
	}
}

// withdraw ends the wait of a waiter whose context has ended. It releases the gate if the
// waiter got it meanwhile.
func (l *lock) withdraw(place *list.Element) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	w := place.Value.(*waiter)
	if isClosed(w.ready) {
		l.state.Add(-w.takes)
	} else {
		l.queue.Remove(place)
		if l.queue.Len() == 0 {
			l.state.And(^int64(waiting))
		}
	}
	l.next() // the next waiter may share the gate now
}

func (l *lock) release(shared bool) {
	takes := takes(shared)
	for {
		state := l.state.Load()
		if state&waiting != 0 {
			break
		}
		if l.state.CompareAndSwap(state, state-takes) {
			return
		}
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.state.Add(-takes)
	l.next()
}

// next gives the gate to the longest waiters, as far as it admits them. The caller holds
// the mutex.
func (l *lock) next() {
	for l.queue.Len() > 0 {
		front := l.queue.Front()
		w := front.Value.(*waiter)
		state := l.state.Load()
		if !admits(state&^waiting, w.takes) {
			return
		}
		after := state + w.takes
		if l.queue.Len() == 1 {
			after &^= waiting
		}
		if l.state.CompareAndSwap(state, after) { // fails while tryPass changes the state
			l.queue.Remove(front)
			close(w.ready)
		}
	}
}

// phaseGoroutines records, with the build tag handloom_check, the goroutines that run
// functions of open phases: the callers of phases and the workers of tasks. A call from
// such a goroutine that waits at the gate, with a context from outside, would wait for
// its own phase. Goroutines that a function starts are unknown.
//
// A normal build does not record them: reading a goroutine's number from a stack trace
// takes ten times as long as an empty pass. Tasks that wait at the gate prove nothing,
// because any goroutine may wait there. The race detector does not turn this on, because
// the mutex would order tasks and hide races.
type phaseGoroutines struct {
	mutex  sync.Mutex
	phases map[uint64][]*phase // by goroutine number; the innermost is last
}

// enter records that the calling goroutine runs a function of p, until leave.
func (g *phaseGoroutines) enter(p *phase) {
	number := check.Goroutine()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.phases == nil {
		g.phases = make(map[uint64][]*phase)
	}
	g.phases[number] = append(g.phases[number], p)
}

func (g *phaseGoroutines) leave() {
	number := check.Goroutine()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	phases := g.phases[number]
	if len(phases) == 1 {
		delete(g.phases, number)
		return
	}
	g.phases[number] = phases[:len(phases)-1]
}

func (g *phaseGoroutines) around(p *phase, task func(int) error) func(int) error {
	return func(n int) error {
		g.enter(p)
		defer g.leave()
		return task(n)
	}
}

// innermost returns the innermost phase whose function the calling goroutine runs, or
// nil. Options.AfterFlush counts only for Submit, because it may open phases.
func (g *phaseGoroutines) innermost(asks operation) *phase {
	number := check.Goroutine()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, p := range slices.Backward(g.phases[number]) {
		if p.op != opAfterFlush || asks == opSubmit {
			return p
		}
	}
	return nil
}

// inReduce reports whether the calling goroutine runs the function of a Reduce.
func (g *phaseGoroutines) inReduce() bool {
	p := g.innermost(opReduce)
	return p != nil && p.op == opReduce
}

// waits returns an error if p would wait forever at the gate for the phase of its own
// goroutine, with a context that has no deadline. If both phases are shared, p only waits
// for another goroutine that waits for the outer phase: forever, too.
func (g *phaseGoroutines) waits(p *phase) error {
	in := g.innermost(p.op)
	if _, ends := p.Deadline(); in == nil || ends || p.Err() != nil {
		return nil
	}
	instead := fmt.Sprintf("pass it the context that %v gave to its function", in.op)
	if !operations[in.op].givesContext {
		instead = fmt.Sprintf("call it when %v has returned", in.op)
	}
	return fmt.Errorf("store: %v inside %v, with a context from outside: %w: it would wait forever; %s", p.op, in.op, ErrPhase, instead)
}
