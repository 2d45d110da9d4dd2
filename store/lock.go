package store

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
)

// lock is the gate of a store: held by one alone, or shared by any number, first
// come, first served. A [sync.RWMutex] does not stop waiting when a context ends;
// a semaphore.Weighted cannot tell who holds it, so that it refuses a further
// share while somebody waits.
//
// The state has the number of shares in its low bits.
//
//   - L1 It changes by compare-and-swap. Bit waiting changes under the mutex alone,
//     and is set if and only if the queue is not empty.
//   - L2 While it is set the gate is given to those who wait, in their order; only
//     a share in passing is taken beside them.
//   - L3 Who gives the gate back while it is set looks, under the mutex, who is next.
//
// So no wake-up is lost: to wait is to set the bit on a state that does not admit
// one, and the change to a state that does sees the bit (L1, L3).
type lock struct {
	state atomic.Int64

	mutex sync.Mutex
	queue list.List // of *waiter
}

const (
	heldExclusive = 1 << 32
	waiting       = 1 << 33
)

// waiter is somebody in the queue.
type waiter struct {
	takes int64 // what is added to the state: 1 or heldExclusive
	ready chan struct{}
}

// takes is what a holder adds to the state.
func takes(shared bool) int64 {
	if shared {
		return 1
	}
	return heldExclusive
}

// admits reports whether the gate can be taken as it is.
func admits(state, takes int64) bool {
	return state == 0 || takes == 1 && state < heldExclusive
}

// tryAcquire takes the gate unless that would have to wait.
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

// tryPass takes a share unless somebody holds the gate alone; it does not matter
// who waits. It is for what is over at once.
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

// heldExclusive reports whether somebody holds the gate alone.
func (l *lock) heldExclusive() bool { return l.state.Load()&heldExclusive != 0 }

// acquire takes the gate, for which it waits until ctx ends, and reports whether it
// did. It takes nothing when ctx has ended before.
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

// enqueue has w wait, or returns nil when the gate is free for it by now.
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

// withdraw ends the wait of one whose context has ended. If the gate was given to
// it meanwhile, it gives it back.
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
	l.next() // who is behind may be let in beside those who have the gate
}

// release gives the gate back.
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

// next gives the gate to those who have waited longest, as far as it admits them.
// It is called under the mutex.
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
		if l.state.CompareAndSwap(state, after) { // otherwise somebody passes
			l.queue.Remove(front)
			close(w.ready)
		}
	}
}
