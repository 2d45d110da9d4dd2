package store

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

type waiterCall struct {
	cancel context.CancelFunc
	done   chan bool
}

func wait(l *lock, shared bool) waiterCall {
	ctx, cancel := context.WithCancel(context.Background())
	w := waiterCall{cancel, make(chan bool, 1)}
	go func() { w.done <- l.acquire(ctx, shared) }()
	synctest.Wait()
	return w
}

func (w waiterCall) outcome() string {
	synctest.Wait()
	select {
	case got := <-w.done:
		w.done <- got
		w.cancel()
		if got {
			return "has it"
		}
		return "gave up"
	default:
		return "waits"
	}
}

func expectOutcomes(t *testing.T, ws []waiterCall, want ...string) {
	t.Helper()
	for i, w := range ws {
		if got := w.outcome(); got != want[i] {
			t.Errorf("waiter %d %s; it should be: %s", i, got, want[i])
		}
	}
}

func expectFree(t *testing.T, l *lock) {
	t.Helper()
	if state := l.state.Load(); state != 0 || l.queue.Len() > 0 {
		t.Errorf("the state is %#x, and %d wait", state, l.queue.Len())
	}
}

func TestLock_IsFIFO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lock
		if !l.tryAcquire(false) || l.tryAcquire(true) || l.tryAcquire(false) || l.tryPass() {
			t.Fatal("held alone")
		}
		ws := []waiterCall{wait(&l, true), wait(&l, true), wait(&l, false), wait(&l, true), wait(&l, false)}
		for _, step := range []struct {
			shared bool // the kind of holder that releases
			have   int
		}{{false, 2}, {true, 2}, {true, 3}, {false, 4}, {true, 5}, {false, 5}} {
			l.release(step.shared)
			for i, w := range ws {
				if got := w.outcome(); (got == "has it") != (i < step.have) {
					t.Errorf("waiter %d %s; %d should have it", i, got, step.have)
				}
			}
			if step.have < 5 && l.tryAcquire(true) {
				t.Error("a share overtakes those who wait")
			}
		}
		expectFree(t, &l)
	})
}

func TestLock_PassingShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lock
		l.tryAcquire(true)
		ws := []waiterCall{wait(&l, false), wait(&l, true)}
		if !l.tryPass() {
			t.Fatal("nobody holds it alone")
		}
		l.release(true)
		expectOutcomes(t, ws, "waits", "waits") // for the passing share
		l.release(true)
		expectOutcomes(t, ws, "has it", "waits")
		l.release(false)
		expectOutcomes(t, ws, "has it", "has it")
		l.release(true)
		expectFree(t, &l)
	})
}

// A waiter that gets the gate at the moment its context ends releases it.
func TestLock_LosesNoShareWhenContextsEnd(t *testing.T) {
	var l lock
	var inside [2]atomic.Int64
	var all sync.WaitGroup
	for seed := range uint64(8) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, 0))
			for range 5000 {
				shared := random.IntN(2) == 0
				ctx, cancel := context.WithCancel(context.Background())
				if random.IntN(3) == 0 {
					go cancel()
				}
				var got bool
				switch random.IntN(4) {
				case 0:
					got = l.tryAcquire(shared)
				case 1:
					shared = true
					got = l.tryPass()
				default:
					got = l.acquire(ctx, shared)
				}
				if got {
					kind := 0
					if shared {
						kind = 1
					}
					inside[kind].Add(1)
					if alone := inside[0].Load(); !shared && (alone != 1 || inside[1].Load() != 0) || shared && alone != 0 {
						t.Error("somebody is beside one who holds the gate alone")
					}
					inside[kind].Add(-1)
					l.release(shared)
				}
				cancel()
			}
		})
	}
	all.Wait()
	expectFree(t, &l)
}
