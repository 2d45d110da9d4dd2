package store_test

import (
	"context"
	"testing"

	"handloom/store"
)

func TestEraseAll_AllocatesNothing(t *testing.T) {
	plainBuild(t)
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
	values := make([]item, 1000)
	names := make([]store.Handle[item], 0, 1000)
	tick := func(record func(q store.Queue)) func() {
		return func() {
			_ = s.Do(context.Background(), func(q store.Queue) {
				record(q)
			})
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
	if without := testing.AllocsPerRun(100, tick(func(q store.Queue) { q.Erase(0) })); with > without {
		t.Errorf("a tick allocates %v objects, one that does nothing %v", with, without)
	}
}
