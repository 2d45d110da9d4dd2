package store_test

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"testing"

	"handloom/store"

	"pgregory.net/rapid"
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

func TestEraseFunc_MatchesAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStore(t)
		table := drawTable[item](t, s, "items")
		for range rapid.IntRange(1, 4).Draw(t, "frames") {
			q := queues(t, s, 1)[0]
			for range rapid.IntRange(0, 60).Draw(t, "items") {
				table.Emplace(q, item{Value: rapid.Uint64Range(0, 9).Draw(t, "value")})
			}
			flush(t, s)
			want, most := itemsOf(table), rapid.Uint64Range(0, 10).Draw(t, "most")
			removed := rapid.Bool().Draw(t, "removes before and after the pass")
			noError(t, onlyError(s.Frame(context.Background(), func(ctx context.Context, w *store.Writer) error {
				remove := func() {
					for h, v := range table.All() {
						if removed && v.Value%3 == 0 {
							table.Remove(w, h)
							delete(want, h)
							break
						}
					}
				}
				remove()
				var calls atomic.Int64
				err := store.EraseFunc(ctx, table, func(v *item) bool { calls.Add(1); return v.Value >= most })
				equal(t, "calls", int(calls.Load()), len(want))
				wantItems(t, table, want)
				remove()
				for h, v := range want {
					if v.Value >= most {
						delete(want, h)
					}
				}
				return errors.Join(err, onlyError(s.Flush(ctx)))
			})))
			wantItems(t, table, want)
		}
	})
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
