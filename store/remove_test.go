package store_test

import (
	"context"
	"testing"

	"handloom/store"
)

func TestRemoveErasesAtOnceAndOnlyWhatTheHandleNames(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[item]{Shards: 3}, stable)
		other := registerKind(t, s, store.TableOptions[item]{Name: "other"}, stable)
		q := queues(t, s, 1)[0]
		var hs []store.Handle[item]
		for i := range uint64(9) {
			hs = append(hs, table.Emplace(q, item{Value: i}))
		}
		elsewhere := other.Emplace(q, item{})
		flush(t, s)
		for i := range hs {
			hs[i] = resolve(t, table, hs[i])
		}
		elsewhere = resolve(t, other, elsewhere)
		recorded := table.Emplace(queues(t, s, 1)[0], item{Value: 99})

		err := s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
			for _, h := range []store.Handle[item]{{}, elsewhere, recorded, handleOf(compose(hs[0].ID.TypeID(), 9, 0)), handleOf(compose(32767, 1, 0))} {
				if table.Remove(w, h) {
					t.Errorf("Remove(%v) removed", h)
				}
			}
			for i := 0; i < len(hs); i += 2 {
				if !table.Remove(w, hs[i]) || table.Has(hs[i]) || table.Remove(w, hs[i]) {
					t.Errorf("%v is not removed once", hs[i])
				}
			}
			return nil
		})
		if err != nil || table.Len() != 4 || other.Len() != 1 || s.Stats().Tables[0].Live != 4 {
			t.Errorf("%v, %d and %d items, %+v", err, table.Len(), other.Len(), s.Stats().Tables)
		}
		for i, h := range hs {
			if v, ok := table.Get(h); ok != (i%2 == 1) || ok && v.Value != uint64(i) {
				t.Errorf("item %d: %v, %t", i, v, ok)
			}
		}
		if report := flush(t, s); report.Total.Created != 1 || table.Len() != 5 {
			t.Errorf("%v, %d items", report, table.Len())
		}
	})
}
