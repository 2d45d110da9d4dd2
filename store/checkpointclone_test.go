package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"
	"weak"

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
	All     func() func(yield func(store.Handle[agent], *agent) bool)
	Get     func(h store.Handle[agent]) (*agent, bool)
	Emplace func(q store.Queue, v agent) store.Handle[agent]
	items   *store.Table[item]
}

func newAgents(t tb, n, workers int, stable bool, clone func(dst, src *agent)) agents {
	t.Helper()
	s := newStore(t, store.Options{Workers: workers})
	items := register(t, s, store.TableOptions[item]{Name: "items"})
	fill(t, s, items, n)
	a := agents{Store: s, items: items}
	o := store.TableOptions[agent]{Name: "agents", Shards: 3, Clone: clone}
	if stable {
		table := registerStable(t, s, o)
		a.All = func() func(func(store.Handle[agent], *agent) bool) { return table.All() }
		a.Get, a.Emplace = table.Get, table.Emplace
	} else {
		table := register(t, s, o)
		a.All = func() func(func(store.Handle[agent], *agent) bool) { return table.All() }
		a.Get, a.Emplace = table.Get, table.Emplace
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
		if n > frameCount+slack {
			t.Errorf("%d checkpoints allocate %d objects", frameCount, n)
		}
	})
}

func TestWithoutCloneTheErrorNamesTableAndField(t *testing.T) {
	type inner struct {
		_ [0]*int
		n [2]struct{ f func() }
	}
	for name, add := range map[string]func(t tb, s *store.Store) error{
		"store_test.agent.Path of kind slice":   refuse[agent],
		"[]int of kind slice":                   refuse[[]int],
		"store_test.inner.n[0].f of kind func":  refuse[inner],
		"io.Reader of kind interface":           refuse[io.Reader],
		"[1]map[string]int[0] of kind map":      refuse[[1]map[string]int],
		"struct { c chan int }.c of kind chan":  refuse[struct{ c chan int }],
		"*int of kind ptr":                      refuse[*int],
		"unsafe.Pointer of kind unsafe.Pointer": refuse[unsafe.Pointer],
		"struct { s string; p *int }.p of kind p": refuse[struct {
			s string
			p *int
		}],
		"": refuse[struct {
			s string
			a [3]uintptr
			e [0]*int
			h store.Handle[agent]
			b bool
			c complex64
			f float32
			_ struct{}
		}],
	} {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		fill(t, s, table, 3)
		var c store.Checkpoint
		checkpoint(t, s, &c)
		before := digest(t, s)
		fill(t, s, table, 3)
		err := add(t, s)
		if name == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		for what, err := range map[string]error{"Checkpoint": err, "Rollback": s.Rollback(t.Context(), &c)} {
			if !errors.Is(err, store.ErrCheckpoint) || !strings.Contains(err.Error(), `table "refused"`) ||
				!strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "TableOptions.Clone") {
				t.Errorf("%s with items of %s: %v", what, name, err)
			}
		}
		if digest(t, s) == before {
			t.Error("a Rollback that failed changed the state")
		}
	}
}

// refuse returns the error of a checkpoint of a store that has a table of T.
func refuse[T any](t tb, s *store.Store) error {
	register(t, s, store.TableOptions[T]{Name: "refused"})
	return s.Checkpoint(context.Background(), new(store.Checkpoint))
}

func TestAnErrorNamesEveryTableThatCannotBeCopied(t *testing.T) {
	s := newStore(t, store.Options{})
	register(t, s, store.TableOptions[agent]{Name: "first"})
	register(t, s, store.TableOptions[item]{Name: "fine"})
	registerStable(t, s, store.TableOptions[*int]{Name: "second"})
	err := s.Checkpoint(t.Context(), new(store.Checkpoint))
	for _, name := range []string{"first", "second"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v", err)
		}
	}
	if strings.Contains(err.Error(), "fine") {
		t.Errorf("%v", err)
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

func TestACloneThatPanicsInACheckpointLeavesTheStoreUntouchedAndTheCheckpointEmpty(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, workers := range []int{1, 4} {
			for at := int64(1); at <= 12; at++ {
				f := &faulty{fail: func() { panic("no") }}
				a := newAgents(t, 12, workers, stable, f.clone)
				before := digest(t, a.Store)
				var c store.Checkpoint
				checkpoint(t, a.Store, &c) // not empty before
				f.left.Store(at)
				err := a.Checkpoint(t.Context(), &c)
				var panicked *store.PanicError
				if !errors.As(err, &panicked) || panicked.Value != "no" {
					t.Fatalf("Checkpoint: %v", err)
				}
				if err := a.Rollback(t.Context(), &c); !errors.Is(err, store.ErrCheckpoint) {
					t.Fatalf("Rollback: %v", err)
				}
				if digest(t, a.Store) != before {
					t.Fatal("the store has changed")
				}
				checkpoint(t, a.Store, &c) // usable again
				a.walk()
				rollback(t, a.Store, &c)
				if digest(t, a.Store) != before {
					t.Fatal("the next checkpoint holds another state")
				}
			}
		}
	})
}

func TestACloneThatPanicsInARollbackLeavesAStoreRolledBackAndNoCheckpoint(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, workers := range []int{1, 4} {
			for at := int64(1); at <= 12; at++ {
				f := &faulty{fail: func() { panic("no") }}
				a := newAgents(t, 12, workers, stable, f.clone)
				before := digest(t, a.Store)
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
				f.left.Store(at)
				err := a.Rollback(t.Context(), &c)
				var panicked *store.PanicError
				if !errors.As(err, &panicked) || panicked.Value != "no" {
					t.Fatalf("Rollback: %v", err)
				}
				if err := a.Verify(t.Context()); err != nil || digest(t, a.Store) != before || a.Epoch() != 2 || a.Stats().Tables[1].Live != 12 {
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
				checkpoint(t, a.Store, &c) // shares nothing with what the store took
				a.walk()
				rollback(t, a.Store, &c)
				if digest(t, a.Store) != before {
					t.Fatal("the next checkpoint holds another state")
				}
			}
		}
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
	type holder struct{ p *[64]*int }
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		o := store.TableOptions[holder]{Clone: func(dst, src *holder) { *dst = *src }}
		var emplace func(q store.Queue, v holder) store.Handle[holder]
		if stable {
			emplace = registerStable(t, s, o).Emplace
		} else {
			emplace = register(t, s, o).Emplace
		}
		hold := func(n int) (refs []weak.Pointer[[64]*int]) {
			q := queues(t, s, 1)[0]
			for range n {
				p := new([64]*int)
				refs = append(refs, weak.Make(p))
				emplace(q, holder{p})
			}
			flush(t, s)
			return refs
		}
		kept := hold(3)
		var c store.Checkpoint
		checkpoint(t, s, &c)
		dropped := hold(20)
		rollback(t, s, &c)
		runtime.GC()
		runtime.GC()
		for _, ref := range dropped {
			if ref.Value() != nil {
				t.Fatal("an item that was rolled back is still held")
			}
		}
		for _, ref := range kept {
			if ref.Value() == nil {
				t.Fatal("an item of the checkpoint was collected")
			}
		}
		runtime.KeepAlive(s)
		runtime.KeepAlive(&c)
	})
}
