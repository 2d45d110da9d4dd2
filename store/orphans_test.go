package store_test

import (
	"context"
	"errors"
	"testing"

	"handloom/store"

	"pgregory.net/rapid"
)

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
