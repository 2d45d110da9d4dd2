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

type agent struct {
	Name string
	Path []int
}

func cloneAgent(dst, src *agent) {
	path := append(dst.Path[:0], src.Path...)
	*dst = *src
	dst.Path = path
}

// agents is a store with n agents in a table of one kind, and n items.
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

func (a agents) walk() {
	for _, v := range a.All() {
		v.Path[0] = -1
		v.Path = append(v.Path, 7)
		v.Name += "!"
	}
}

func TestCheckpoint_SharesNothingWithItems(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		a := newAgents(t, 20, 3, stable, cloneAgent)
		shared := []int{5, 5, 5, 5}
		var saved [2]store.Checkpoint
		var digests [2]uint64
		for i := range saved {
			digests[i] = digest(t, a.Store)
			checkpoint(t, a.Store, &saved[i])
			a.walk()
		}
		for i := range 6 {
			rollback(t, a.Store, &saved[i%2])
			equal(t, "digest after changes in place", digest(t, a.Store), digests[i%2])
			a.walk()
			for _, v := range a.All() {
				v.Path = shared
			}
		}
		equalLists(t, "the shared path", shared, 5, 5, 5, 5)
	})
}

func TestCheckpoint_ReusesClones(t *testing.T) {
	plainBuild(t)
	bothKinds(t, func(t *testing.T, stable bool) {
		a := newAgents(t, 1000, 1, stable, cloneAgent)
		var c store.Checkpoint
		n := allocations(t.Context(), func(context.Context) { checkpoint(t, a.Store, &c) })
		atMost(t, "objects", n, frameCount+slack)
	})
}

func TestCheckpoint_WithoutCloneNamesTablesAndFields(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "fine"})
	fill(t, s, table, 3)
	var c store.Checkpoint
	checkpoint(t, s, &c)
	fill(t, s, table, 3)
	register(t, s, store.TableOptions[agent]{Name: "first"})
	registerStable(t, s, store.TableOptions[agent]{Name: "second"})
	before := digest(t, s)
	for what, err := range map[string]error{"Checkpoint": s.Checkpoint(t.Context(), &c), "Rollback": s.Rollback(t.Context(), &c)} {
		wantError(t, what, err, store.ErrCheckpoint, `table "first"`, `table "second"`, "store_test.agent.Path of kind slice", "TableOptions.Clone")
		if strings.Contains(err.Error(), "fine") {
			t.Errorf("%s: %v", what, err)
		}
	}
	equal(t, "digest", digest(t, s), before)
	equal(t, "table.Len", table.Len(), 6)
}

// faulty is a clone function that fails on the n-th call.
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

// Clone panics or ends its goroutine at any item. The state is unchanged, or the checkpoint
// after a Rollback.
func TestClone_FailureLeavesAnEmptyCheckpoint(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, workers := range []int{1, 4} {
			for at := int64(1); at <= 12; at++ {
				failingClone(t, stable, workers, at, "Checkpoint", func() { panic("no") })
				failingClone(t, stable, workers, at, "Rollback", func() { panic("no") })
			}
			failingClone(t, stable, workers, 5, "Checkpoint", runtime.Goexit)
			failingClone(t, stable, workers, 5, "Rollback", runtime.Goexit)
		}
	})
}

func failingClone(t *testing.T, stable bool, workers int, at int64, what string, fail func()) {
	t.Helper()
	f := &faulty{fail: fail}
	a := newAgents(t, 12, workers, stable, f.clone)
	before, epoch := digest(t, a.Store), a.Epoch()
	addresses := maps.Collect(a.All())
	var c store.Checkpoint
	checkpoint(t, a.Store, &c)
	call := func() error { return a.Checkpoint(context.Background(), &c) }
	if what == "Rollback" {
		call = func() error { return a.Rollback(context.Background(), &c) }
		a.walk()
		q := queues(t, a.Store, 1)[0]
		for range 30 {
			a.Emplace(q, agent{Path: make([]int, 1)})
		}
		flush(t, a.Store)
		fill(t, a.Store, a.items, 5)
	}
	f.left.Store(at)
	err, returned := apart(call)
	var panicked *store.PanicError
	if returned && !errors.Is(err, store.ErrGoexit) && (!errors.As(err, &panicked) || panicked.Value != "no") {
		t.Fatalf("%s at %d: %v", what, at, err)
	}
	if err := a.Verify(t.Context()); err != nil || digest(t, a.Store) != before || a.Epoch() != epoch || a.Stats().Tables[1].Live != 12 {
		t.Fatalf("%s at %d: epoch %d, %+v, %v", what, at, a.Epoch(), a.Stats(), err)
	}
	for h, v := range a.All() {
		if stable && addresses[h] != v {
			t.Errorf("%s at %d: %v moved", what, at, h)
		}
	}
	wantError(t, fmt.Sprintf("%s at %d, then Rollback", what, at), a.Rollback(t.Context(), &c), store.ErrCheckpoint)
	checkpoint(t, a.Store, &c)
	a.walk()
	rollback(t, a.Store, &c)
	equal(t, fmt.Sprintf("%s at %d: digest of the next checkpoint", what, at), digest(t, a.Store), before)
}

func TestRollback_ReleasesDroppedItems(t *testing.T) {
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
			if h.ID.Slot()%2 == 0 {
				q.Erase(h.ID)
			}
		}
		flush(t, a.Store)
		rollback(t, a.Store, &c)
		if !check.Collected(func() bool {
			return !slices.ContainsFunc(dropped, func(ref weak.Pointer[int]) bool { return ref.Value() != nil })
		}) {
			t.Fatal("what an item held that was rolled back is still held")
		}
		runtime.KeepAlive(a)
		runtime.KeepAlive(&c)
	})
}
