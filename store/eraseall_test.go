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
