package store

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
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
