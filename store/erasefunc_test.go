package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"handloom/batch"
	"handloom/store"
)

// drawTable registers a table with a random kind, number of shards and chunk size.
func drawTable[T any](t *rapid.T, s *store.Store, name string) anyTable[T] {
	return registerKind(t, s, store.TableOptions[T]{
		Name:   name,
		Shards: rapid.IntRange(1, 5).Draw(t, name+" shards"), ChunkItems: rapid.IntRange(0, 7).Draw(t, name+" chunk"),
	}, rapid.Bool().Draw(t, name+" is stable"))
}

// drawStore returns a store with a random number of workers and task order.
func drawStore(t *rapid.T) *store.Store {
	s := newStore(t, store.Options{Workers: rapid.IntRange(1, 8).Draw(t, "workers")})
	noError(t, s.Shuffle(rapid.Uint64Range(0, 3).Draw(t, "order")))
	return s
}

func itemsOf(table itemTable) map[store.Handle[item]]item {
	all := make(map[store.Handle[item]]item)
	for h, v := range table.All() {
		all[h] = *v
	}
	return all
}

func wantItems(t tb, table itemTable, want map[store.Handle[item]]item) {
	t.Helper()
	if got := itemsOf(table); !maps.Equal(got, want) {
		t.Errorf("items: %v, want %v", got, want)
	}
}

func TestErase_RecordsNothingAfterAPanic(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{Workers: 4})
		table := registerKind(t, s, store.TableOptions[item]{ChunkItems: 10}, stable)
		other := register(t, s, store.TableOptions[item]{Name: "other"})
		fill(t, s, table, 100)
		for h, v := range table.All() {
			v.Parent.ID = h.ID + 1000
		}
		panics := func(v *item) {
			if v.Value >= 35 {
				panic(v.Value)
			}
		}
		key := func(v *item) store.Handle[item] { panics(v); return v.Parent }
		for what, erase := range map[string]func(ctx context.Context) error{
			"EraseFunc": func(ctx context.Context) error {
				return store.EraseFunc(ctx, table, func(v *item) bool { panics(v); return true })
			},
			"EraseOrphans":            func(ctx context.Context) error { return store.EraseOrphans(ctx, table, table, key) },
			"EraseOrphans of another": func(ctx context.Context) error { return store.EraseOrphans(ctx, table, other, key) },
		} {
			err := erase(t.Context())
			var p *store.PanicError
			if !errors.As(err, &p) || p.Task != 3 || p.Value != uint64(35) {
				t.Errorf("%s: %v, want the panic of task 3 with 35", what, err)
			}
			wantError(t, what+" with an ended context", erase(ended{t.Context()}), context.Canceled)
		}
		_, stranger := newTable(t, store.Options{}, store.TableOptions[item]{})
		wantIn(t, "tables of two stores", panicOf(func() { _ = store.EraseOrphans(t.Context(), table, stranger, parent) }), "of another store")
		equal(t, "pending commands", s.Pending().Commands, 0)
		usable(t, s, other)
	})
}

// isOrphan follows the keys of an item. A cycle of keys has no orphans.
func isOrphan(table itemTable, h store.Handle[item], path map[store.Handle[item]]bool) bool {
	next := table.At(h).Parent
	if next.ID.IsZero() || path[next] {
		return false
	}
	path[next] = true
	return !table.Has(next) || isOrphan(table, next, path)
}

func TestEraseOrphans_ErasesAllDescendants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStore(t)
		table := drawTable[item](t, s, "parts")
		stranger := register(t, s, store.TableOptions[item]{Name: "stranger"})
		keys := append(fill(t, s, stranger, 1), store.Handle[item]{}, store.Handle[item]{})
		for range rapid.IntRange(1, 4).Draw(t, "frames") {
			q := queues(t, s, 1)[0]
			for range rapid.IntRange(0, 40).Draw(t, "new") {
				// Recent items are the parents of most items, so trees are deep.
				at := max(0, len(keys)-1-rapid.IntRange(0, 9).Draw(t, "parent"))
				keys = append(keys, table.Emplace(q, item{Parent: keys[at]}))
			}
			flush(t, s)
			for i, h := range keys {
				if r, ok := table.Resolve(h); ok {
					keys[i] = r
				}
			}
			for _, v := range table.All() {
				if rapid.IntRange(0, 19).Draw(t, "rewired") == 0 {
					v.Parent = rapid.SampledFrom(keys).Draw(t, "to")
				}
			}
			var erased []store.Handle[item]
			for h := range table.All() {
				if rapid.IntRange(0, 9).Draw(t, "erased") == 0 {
					erased = append(erased, h)
				}
			}
			noError(t, onlyError(s.Frame(context.Background(), func(ctx context.Context, w *store.Writer) error {
				err := s.Do(ctx, func(q store.Queue) { table.EraseItems(q, erased) })
				if err = errors.Join(err, onlyError(s.Flush(ctx))); err != nil {
					return err
				}
				want := itemsOf(table)
				for h := range table.All() {
					if isOrphan(table, h, map[store.Handle[item]]bool{}) {
						delete(want, h)
					}
				}
				before := table.Len()
				err = store.EraseOrphans(ctx, table, table, parent)
				equal(t, "recorded erases", s.Pending().Commands, before-len(want))
				err = errors.Join(err, onlyError(s.Flush(ctx)))
				wantItems(t, table, want)
				return errors.Join(err, store.EraseOrphans(ctx, table, table, parent))
			})))
			equal(t, "erases of a second call", s.Pending().Commands, 0)
		}
	})
}

func TestEraseOrphans_OfAnotherTableErasesChildren(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStore(t)
		targets, shots := drawTable[item](t, s, "targets"), drawTable[shot](t, s, "shots")
		q := queues(t, s, 1)[0]
		keys := []store.Handle[item]{{}}
		for range rapid.IntRange(0, 30).Draw(t, "targets") {
			keys = append(keys, targets.Emplace(q, item{Parent: keys[len(keys)/2]}))
		}
		for range rapid.IntRange(0, 60).Draw(t, "shots") {
			shots.Emplace(q, shot{Target: rapid.SampledFrom(keys).Draw(t, "target")})
		}
		flush(t, s)
		q = queues(t, s, 1)[0]
		for h := range targets.All() {
			if rapid.Bool().Draw(t, "erased") {
				targets.Erase(q, h)
			}
		}
		flush(t, s)
		parents, left := targets.Len(), 0
		for _, v := range shots.All() {
			if v.Target.ID.IsZero() || targets.Has(v.Target) {
				left++
			}
		}
		noError(t, store.EraseOrphans(context.Background(), shots, targets, targetOf))
		flush(t, s)
		equal(t, "shots", shots.Len(), left)
		equal(t, "targets", targets.Len(), parents)
		for h, v := range shots.All() {
			if !v.Target.ID.IsZero() && !targets.Has(v.Target) {
				t.Errorf("%v has a target that is gone", h)
			}
		}
	})
}

// One call erases a chain, in rounds that double the length.
func TestEraseOrphans_ErasesALongChain(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 4}, store.TableOptions[item]{Shards: 3, ChunkItems: 100})
	hs := fill(t, s, table, 5000)
	for i, h := range hs[1:] {
		table.At(h).Parent = hs[i]
	}
	table.At(hs[4000]).Parent = hs[4999]
	table.Erase(queues(t, s, 1)[0], hs[1000])
	flush(t, s)
	noError(t, store.EraseOrphans(t.Context(), table, table, parent))
	flush(t, s)
	for i, h := range hs {
		if want := i < 1000 || i >= 4000; table.Has(h) != want {
			t.Fatalf("item %d lives: %t, want %t", i, !want, want)
		}
	}
}

func TestEraseAll_AllocatesNothing(t *testing.T) {
	plainBuild(t)
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
	values := make([]item, 1000)
	names := make([]store.Handle[item], 0, 1000)
	tick := func(record func(q store.Queue)) func() {
		return func() {
			_ = s.Do(context.Background(), record)
			_, _ = s.Flush(context.Background())
		}
	}
	all := tick(func(q store.Queue) {
		table.EraseAll(q)
		table.EmplaceItems(q, values, names)
	})
	for range 100 {
		all()
	}
	with := testing.AllocsPerRun(100, all)
	atMost(t, "objects in a tick", with, testing.AllocsPerRun(100, tick(func(q store.Queue) { q.Erase(0) })))
}

func TestProvisional_ResolvesUntilNextFlush(t *testing.T) { bothKinds(t, resolvesUntilNextFlush) }

func resolvesUntilNextFlush(t *testing.T, stable bool) {
	s := newStore(t, store.Options{})
	table := registerKind(t, s, store.TableOptions[item]{}, stable)
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	p := table.Emplace(queues(t, s, 1)[0], item{})
	equal(t, "it resolves before the flush", found(table.Resolve(p)), false)
	flush(t, s)
	h := resolve(t, table, p)
	steps := []struct {
		what string
		do   func()
	}{
		{"an empty flush", func() { flush(t, s) }},
		{"an empty flush of a pass", func() { queues(t, s, 3); flush(t, s) }},
		{"recording", func() { other.Emplace(queues(t, s, 1)[0], item{}) }},
		{"a flush that fails", func() {
			wantError(t, "", onlyError(s.Flush(ended{context.Background()})), context.Canceled)
		}},
		{"discarding", func() { _ = s.Discard() }},
	}
	for _, step := range steps {
		step.do()
		equal(t, "the name after "+step.what, resolve(t, table, p), h)
	}
	other.Emplace(queues(t, s, 1)[0], item{}) // nothing for the table of p
	flush(t, s)
	equal(t, "it resolves after a flush with commands", found(table.Resolve(p)), false)
}

// No create gets a handle that was given before, however many batches are flushed, discarded or
// rolled back.
func TestProvisional_StaysStale(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	old := table.Emplace(queues(t, s, 1)[0], item{})
	flush(t, s)
	var start store.Checkpoint
	checkpoint(t, s, &start)
	const batches = 1<<16 + 10
	for i := range batches {
		q := queues(t, s, 1)[0]
		p := table.Emplace(q, item{Value: 1})
		table.Erase(q, old)
		table.Put(q, old, item{Value: 2})
		if i > 0 && i < batches-20 {
			noError(t, s.Discard())
			continue
		}
		wantFlush(t, s, batch.Counts{Created: 1, Stale: 2})
		equal(t, "the name of the first create resolves", found(table.Resolve(old)), false)
		equal(t, fmt.Sprintf("value after %d batches", i), table.At(resolve(t, table, p)).Value, 1)
		if i%2 == 0 {
			rollback(t, s, &start)
		}
	}
}

// A handle in a live item stays stale in a store that loads the snapshot.
func TestProvisional_StaleAfterLoadIntoAnotherStore(t *testing.T) {
	ctx := context.Background()
	first, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "items", Shards: 2})
	old := table.Emplace(queues(t, first, 1)[0], item{Value: 1})
	flush(t, first)
	var saved bytes.Buffer
	noError(t, first.Snapshot(ctx, &saved))
	second, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "items", Shards: 2})
	noError(t, second.Load(ctx, &saved))
	q := queues(t, second, 1)[0]
	mine := table.Emplace(q, item{Value: 2})
	table.Erase(q, old)
	table.Put(q, old, item{Value: 3})
	wantFlush(t, second, batch.Counts{Created: 1, Stale: 2})
	equal(t, "the name of the store before resolves", found(table.Resolve(old)), false)
	equal(t, "value of the create", table.At(resolve(t, table, mine)).Value, 2)
}
