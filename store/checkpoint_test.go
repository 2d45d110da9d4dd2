package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

func checkpoint(t tb, s *store.Store, into *store.Checkpoint) {
	t.Helper()
	noError(t, s.Checkpoint(context.Background(), into))
}

func rollback(t tb, s *store.Store, c *store.Checkpoint) {
	t.Helper()
	noError(t, s.Rollback(context.Background(), c))
	noError(t, s.Verify(context.Background()))
}

func TestRollback_KeepsStableAddresses(t *testing.T) {
	for _, clone := range []func(dst, src *item){nil, func(dst, src *item) { *dst = *src }} {
		s, table := newStable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 3, Clone: clone})
		hs := fill(t, s, table, 5000)
		q := queues(t, s, 1)[0]
		table.EraseItems(q, hs[1000:2000])
		flush(t, s)
		addresses := maps.Collect(table.All())
		var c store.Checkpoint
		checkpoint(t, s, &c)
		saved := image(t, s)
		for range 5 {
			fill(t, s, table, 3000)
			q := queues(t, s, 1)[0]
			for _, h := range hs[2000:] {
				if h.ID.Slot()%64 != 0 { // each page keeps some items
					table.Erase(q, h)
				}
			}
			flush(t, s)
			rollback(t, s, &c)
			for h, v := range table.All() {
				if addresses[h] != v {
					t.Fatalf("%v was at %p and is at %p", h, addresses[h], v)
				}
			}
			equal(t, "items", table.Len(), len(addresses))
		}
		noError(t, s.Load(t.Context(), bytes.NewReader(saved)))
		equal(t, "items after Load", table.Len(), len(addresses))
		for h, old := range addresses { // Load makes new pages
			v := table.At(h)
			equal(t, "the item is at the old address", v == old, false)
			old.Value += 1000
			equal(t, "the item after a write to the old address", v.Value, old.Value-1000)
		}
	}
}

func TestCheckpoint_CoversTablesRegisteredLater(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 3)
	var c store.Checkpoint
	checkpoint(t, s, &c)
	late := register(t, s, store.TableOptions[item]{Name: "late", Shards: 2})
	fill(t, s, late, 5)
	before := digest(t, s)
	if err := s.Rollback(t.Context(), &c); !errors.Is(err, store.ErrCheckpoint) || digest(t, s) != before || s.Epoch() != 2 {
		t.Errorf("Rollback to a checkpoint without one of the tables: %v", err)
	}
	checkpoint(t, s, &c)
	fill(t, s, late, 5)
	rollback(t, s, &c)
	equal(t, "digest", digest(t, s), before)
	equal(t, "late.Len", late.Len(), 5)
}

func TestCheckpoint_AllocatesAConstant(t *testing.T) {
	plainBuild(t)
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, items := range []int{500, 20_000} {
			s := newStore(t, store.Options{Workers: 1})
			frame := steady(t, s, items, stable)
			var c store.Checkpoint
			n := allocations(t.Context(), func(ctx context.Context) {
				checkpoint(t, s, &c)
				frame(ctx)
				wantError(t, "", s.Rollback(ctx, &c), nil)
			})
			atMost(t, "objects", n, frameCount*(phasesInFrame+2)+slack)
		}
	})
}

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
	if err := a.Verify(t.Context()); err != nil || digest(t, a.Store) != before || a.Epoch() != epoch || a.Stats()[1].Live != 12 {
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

func TestRollback_RefusesUnusableCheckpoints(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 3)
	stranger, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
	var zero, foreign store.Checkpoint
	checkpoint(t, stranger, &foreign)
	q := queues(t, s, 1)[0]
	p := table.Emplace(q, item{})
	before := digest(t, s)
	for says, call := range map[string]func() error{
		"empty":                    func() error { return s.Rollback(t.Context(), &zero) },
		"another store":            func() error { return s.Rollback(t.Context(), &foreign) },
		"nil":                      func() error { return s.Rollback(t.Context(), nil) },
		"belongs to another store": func() error { return s.Checkpoint(t.Context(), &foreign) },
		"the address of one":       func() error { return s.Checkpoint(t.Context(), nil) },
		"no Checkpoint into":       func() error { return onlyError(zero.WriteTo(io.Discard)) },
	} {
		wantError(t, "", call(), store.ErrCheckpoint, says)
	}
	equal(t, "digest", digest(t, s), before)
	equal(t, "s.Epoch", s.Epoch(), 1)
	wantError(t, "to the other store the checkpoint is good no more", stranger.Rollback(t.Context(), &foreign), nil)
	table.Emplace(q, item{}) // the batch is still open
	wantFlush(t, s, batch.Counts{Created: 2})
	resolve(t, table, p)
}

// While a call uses a checkpoint, every other call refuses it and leaves it whole.
func TestCheckpoint_ServesOneCall(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 3)
	before := digest(t, s)
	file := image(t, s)
	var c store.Checkpoint
	checkpoint(t, s, &c)
	fill(t, s, table, 5)
	var written bytes.Buffer
	_, err := c.WriteTo(writerFunc(func(b []byte) (int, error) {
		for name, call := range map[string]func() error{
			"Checkpoint":     func() error { return s.Checkpoint(t.Context(), &c) },
			"Rollback":       func() error { return s.Rollback(t.Context(), &c) },
			"ReadCheckpoint": func() error { return s.ReadCheckpoint(t.Context(), bytes.NewReader(file), &c) },
			"WriteTo":        func() error { return onlyError(c.WriteTo(io.Discard)) },
		} {
			wantError(t, name, call(), store.ErrCheckpoint, "another call uses it")
		}
		return written.Write(b)
	}))
	noError(t, err)
	equal(t, "items", table.Len(), 8)
	for _, back := range []func() error{
		func() error { return s.Rollback(t.Context(), &c) },
		func() error { return s.Load(t.Context(), &written) },
	} {
		fill(t, s, table, 1)
		noError(t, back())
		equal(t, "digest", digest(t, s), before)
	}
}

func TestCheckpoint_EndedContextChangesNothing(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 3)
	var c store.Checkpoint
	checkpoint(t, s, &c)
	old := digest(t, s)
	fill(t, s, table, 3)
	before := digest(t, s)
	table.Emplace(queues(t, s, 1)[0], item{})
	ctx := ended{t.Context()} // ends after the gate is taken
	wantError(t, "Checkpoint", s.Checkpoint(ctx, &c), context.Canceled)
	wantError(t, "Rollback", s.Rollback(ctx, &c), context.Canceled)
	equal(t, "digest", digest(t, s), before)
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errTask)
	wantError(t, "Rollback", s.Rollback(cancelled, &c), errTask)
	equal(t, "digest", digest(t, s), before)
	wantFlush(t, s, batch.Counts{Created: 1})
	rollback(t, s, &c)
	equal(t, "digest after a Checkpoint that did not begin", digest(t, s), old)
}

func TestCheckpoint_GoVetReportsCopies(t *testing.T) {
	for f := range reflect.TypeFor[store.Checkpoint]().Fields() {
		locker := reflect.TypeFor[sync.Locker]()
		if reflect.PointerTo(f.Type).Implements(locker) && !f.Type.Implements(locker) {
			return
		}
	}
	t.Error("no field looks like a lock")
}
