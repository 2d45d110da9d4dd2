package store_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"weak"

	"handloom/internal/check"
	"handloom/store"
)

// agent shares its path with copies by assignment.
type agent struct {
	Name string
	Path []int
}

func cloneAgent(dst, src *agent) {
	path := append(dst.Path[:0], src.Path...)
	*dst = *src
	dst.Path = path
}

// agents is a store with n agents in a table of either kind and as many items,
// which are copied in bulk.
type agents struct {
	*store.Store
	All     func() iter.Seq2[store.Handle[agent], *agent]
	Emplace func(q store.Queue, v agent) store.Handle[agent]
	items   *store.Table[item]
}

func newAgents(t tb, n, workers int, stable bool, clone func(dst, src *agent)) agents {
	t.Helper()
	s := newStore(t, store.Options{Workers: workers})
	items := register(t, s, store.TableOptions[item]{Name: "items"})
	fill(t, s, items, n)
	a := agents{Store: s, items: items}
	o := store.TableOptions[agent]{Name: "agents", Shards: 3, Clone: clone, Changes: true}
	if stable {
		table := registerStable(t, s, o)
		a.All, a.Emplace = table.All, table.Emplace
	} else {
		table := register(t, s, o)
		a.All, a.Emplace = table.All, table.Emplace
	}
	q := queues(t, s, 1)[0]
	for i := range n {
		a.Emplace(q, agent{Name: fmt.Sprint(i), Path: []int{i, i, i}})
	}
	flush(t, s)
	return a
}

// walk changes every agent's path in place and adds to it.
func (a agents) walk() {
	for _, v := range a.All() {
		v.Path[0] = -1
		v.Path = append(v.Path, 7)
		v.Name += "!"
	}
}

func TestClonedItemsAreIndependentOfTheStore(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		a := newAgents(t, 20, 3, stable, cloneAgent)
		before := digest(t, a.Store)
		var first, second store.Checkpoint
		checkpoint(t, a.Store, &first)
		a.walk()
		after := digest(t, a.Store)
		checkpoint(t, a.Store, &second)
		for range 3 {
			a.walk()
			rollback(t, a.Store, &first)
			if digest(t, a.Store) != before {
				t.Fatal("changes in place changed the checkpoint")
			}
			a.walk()
			rollback(t, a.Store, &second)
			if digest(t, a.Store) != after {
				t.Fatal("changes in place changed the later checkpoint")
			}
		}
	})
}

// What a program gave an item may belong to others as well.
func TestRollbackWritesToNoMemoryThatLiveItemsHold(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		a := newAgents(t, 20, 3, stable, cloneAgent)
		var c store.Checkpoint
		checkpoint(t, a.Store, &c)
		shared := []int{5, 5, 5, 5}
		for _, v := range a.All() {
			v.Path = shared
		}
		rollback(t, a.Store, &c)
		if !slices.Equal(shared, []int{5, 5, 5, 5}) {
			t.Errorf("the shared path is %v", shared)
		}
	})
}

func TestCheckpointsUseWhatCloneMadeAgain(t *testing.T) {
	if raceDetector {
		t.Log("the race detector empties pools at random; nothing to measure")
		return
	}
	bothKinds(t, func(t *testing.T, stable bool) {
		a := newAgents(t, 1000, 1, stable, cloneAgent)
		var c store.Checkpoint
		n := allocations(t.Context(), func(context.Context) { checkpoint(t, a.Store, &c) })
		each := uint64(1)
		if check.Full {
			each = 20 // to note who is inside, whatever the number of items
		}
		if n > frameCount*each+slack {
			t.Errorf("%d checkpoints allocate %d objects", frameCount, n)
		}
	})
}

func TestWithoutCloneTheErrorNamesEveryTableAndItsField(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "fine"})
	fill(t, s, table, 3)
	var c store.Checkpoint
	checkpoint(t, s, &c)
	fill(t, s, table, 3)
	register(t, s, store.TableOptions[agent]{Name: "first"})
	registerStable(t, s, store.TableOptions[agent]{Name: "second"})
	before := digest(t, s)
	for what, err := range map[string]error{"Checkpoint": s.Checkpoint(t.Context(), &c), "Rollback": s.Rollback(t.Context(), &c)} {
		if !errors.Is(err, store.ErrCheckpoint) {
			t.Fatalf("%s: %v", what, err)
		}
		for _, says := range []string{`table "first"`, `table "second"`, "store_test.agent.Path of kind slice", "TableOptions.Clone"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v; it should say %q", what, err, says)
			}
		}
		if strings.Contains(err.Error(), "fine") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if digest(t, s) != before || table.Len() != 6 {
		t.Error("the state has changed")
	}
}

// faulty is a clone of agents that fails on the n-th call from now on.
type faulty struct {
	left atomic.Int64
	fail func()
}

func (f *faulty) clone(dst, src *agent) {
	if f.left.Add(-1) == 0 {
		dst.Name = "half"
		f.fail()
	}
	cloneAgent(dst, src)
}

// eachFault calls test with a clone that panics at each item in turn, once armed,
// with few workers and many.
func eachFault(t *testing.T, test func(t *testing.T, a agents, arm func(), stable bool)) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, workers := range []int{1, 4} {
			for at := int64(1); at <= 12; at++ {
				f := &faulty{fail: func() { panic("no") }}
				test(t, newAgents(t, 12, workers, stable, f.clone), func() { f.left.Store(at) }, stable)
			}
		}
	})
}

func expectPanic(t *testing.T, err error) {
	t.Helper()
	var panicked *store.PanicError
	if !errors.As(err, &panicked) || panicked.Value != "no" {
		t.Fatalf("the error is %v", err)
	}
}

// expectSaved takes a checkpoint and expects that it can be gone back to.
func (a agents) expectSaved(t *testing.T, c *store.Checkpoint) {
	t.Helper()
	before := digest(t, a.Store)
	checkpoint(t, a.Store, c)
	a.walk()
	rollback(t, a.Store, c)
	if digest(t, a.Store) != before {
		t.Fatal("the next checkpoint holds another state")
	}
}

func TestACloneThatPanicsInACheckpointLeavesTheStoreUntouchedAndTheCheckpointEmpty(t *testing.T) {
	eachFault(t, func(t *testing.T, a agents, arm func(), _ bool) {
		before := digest(t, a.Store)
		var c store.Checkpoint
		checkpoint(t, a.Store, &c) // not empty before
		arm()
		expectPanic(t, a.Checkpoint(t.Context(), &c))
		if err := a.Rollback(t.Context(), &c); !errors.Is(err, store.ErrCheckpoint) {
			t.Fatalf("Rollback: %v", err)
		}
		if digest(t, a.Store) != before {
			t.Fatal("the store has changed")
		}
		a.expectSaved(t, &c)
	})
}

func TestACloneThatPanicsInARollbackLeavesAStoreRolledBackAndNoCheckpoint(t *testing.T) {
	eachFault(t, func(t *testing.T, a agents, arm func(), stable bool) {
		before, epoch := digest(t, a.Store), a.Epoch()
		addresses := maps.Collect(a.All())
		var c store.Checkpoint
		checkpoint(t, a.Store, &c)
		a.walk()
		q := queues(t, a.Store, 1)[0]
		for range 30 {
			a.Emplace(q, agent{Path: make([]int, 1)})
		}
		flush(t, a.Store)
		fill(t, a.Store, a.items, 5)
		arm()
		expectPanic(t, a.Rollback(t.Context(), &c))
		if err := a.Verify(t.Context()); err != nil || digest(t, a.Store) != before || a.Epoch() != epoch || a.Stats().Tables[1].Live != 12 {
			t.Fatalf("the store is not that of the checkpoint: epoch %d, %+v, %v", a.Epoch(), a.Stats(), err)
		}
		for h, v := range a.All() {
			if stable && addresses[h] != v {
				t.Errorf("%v moved", h)
			}
		}
		if err := a.Rollback(t.Context(), &c); !errors.Is(err, store.ErrCheckpoint) {
			t.Fatalf("a second Rollback: %v", err)
		}
		a.expectSaved(t, &c) // shares nothing with what the store took
	})
}

func TestACloneThatEndsItsGoroutineLeavesNothingHalfDone(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, workers := range []int{1, 4} {
			f := &faulty{fail: runtime.Goexit}
			a := newAgents(t, 12, workers, stable, f.clone)
			before := digest(t, a.Store)
			var c store.Checkpoint
			// The error is there unless it was the caller's goroutine that ended.
			fails := func(what string, do func() error) {
				f.left.Store(5)
				done := make(chan error, 1)
				go func() {
					defer close(done)
					done <- do()
				}()
				if err, ended := <-done; ended && !errors.Is(err, store.ErrGoexit) {
					t.Errorf("%s: %v", what, err)
				}
			}
			fails("Checkpoint", func() error { return a.Checkpoint(context.Background(), &c) })
			if err := a.Rollback(t.Context(), &c); !errors.Is(err, store.ErrCheckpoint) || digest(t, a.Store) != before {
				t.Errorf("Rollback: %v", err)
			}
			checkpoint(t, a.Store, &c)
			a.walk()
			fails("Rollback", func() error { return a.Rollback(context.Background(), &c) })
			if err := a.Verify(t.Context()); err != nil || digest(t, a.Store) != before {
				t.Errorf("the store is not that of the checkpoint, %v", err)
			}
		}
	})
}

func TestWhatWasRolledBackIsCollected(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		a := newAgents(t, 0, 2, stable, cloneAgent)
		create := func(n int) (refs []weak.Pointer[int]) {
			q := queues(t, a.Store, 1)[0]
			for range n {
				path := make([]int, 100)
				refs = append(refs, weak.Make(&path[0]))
				a.Emplace(q, agent{Path: path})
			}
			flush(t, a.Store)
			return refs
		}
		var c store.Checkpoint
		create(3)
		checkpoint(t, a.Store, &c)
		dropped := create(20)
		q := queues(t, a.Store, 1)[0]
		for h := range a.All() {
			if h.ID.Slot()%2 == 0 { // these are on change lists then
				q.Erase(h.ID)
			}
		}
		flush(t, a.Store)
		rollback(t, a.Store, &c)
		runtime.GC()
		runtime.GC()
		for _, ref := range dropped {
			if ref.Value() != nil {
				t.Fatal("what an item held that was rolled back is still held")
			}
		}
		runtime.KeepAlive(a)
		runtime.KeepAlive(&c)
	})
}
