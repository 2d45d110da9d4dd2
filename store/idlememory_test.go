package store_test

import (
	"bytes"
	"context"
	"runtime"
	"testing"

	"handloom/store"
)

// Without work, a store keeps the items and the handles of the last frame with commands.
func TestIdle_ReleasesMemory(t *testing.T) {
	plainBuild(t)
	const n, handleBytes = 100_000, 8
	type chunk = store.Chunk[item]
	put := func(table *store.Table[item], c chunk) {
		for i := range c.Items {
			table.Put(c.Queue, c.Handle(i), item{Value: 1})
		}
	}
	erase := func(_ *store.Table[item], c chunk) {
		for i := range c.Items {
			c.Erase(i)
		}
	}
	for what, c := range map[string]struct {
		changes bool
		last    func(table *store.Table[item], c chunk)
		names   int
	}{
		"created": {last: func(table *store.Table[item], c chunk) {
			table.EmplaceItems(c.Queue, make([]item, len(c.Items)), nil)
		}, names: handleBytes},
		"put":            {last: put},
		"put, listed":    {changes: true, last: put},
		"erased":         {last: erase},
		"erased, listed": {changes: true, last: erase},
		"written": {changes: true, last: func(_ *store.Table[item], c chunk) {
			for i := range c.Items {
				c.Wrote(i)
			}
			c.Erase(0)
		}},
	} {
		for how, tick := range map[string]func(ctx context.Context, s *store.Store) error{
			"flush": func(context.Context, *store.Store) error { return nil },
			"pass": func(ctx context.Context, s *store.Store) error {
				return s.Each(ctx, 8, func(int, store.Queue) {})
			},
			"call of the inbox": func(_ context.Context, s *store.Store) error {
				return s.Inbox(func(store.Queue) error { return nil })
			},
		} {
			if how != "flush" && what != "created" {
				continue // equal by definition
			}
			empty := heap()
			s := newStore(t, store.Options{Workers: 2})
			table := register(t, s, store.TableOptions[item]{Shards: 4, Changes: c.changes})
			for range 8 {
				_ = s.Inbox(func(q store.Queue) error { table.EmplaceItems(q, make([]item, n/8), nil); return nil })
			}
			flush(t, s)
			noError(t, table.ForEach(t.Context(), func(ch chunk) { c.last(table, ch) }))
			flush(t, s)
			for range 130 {
				noError(t, tick(t.Context(), s))
				flush(t, s)
			}
			heapAtMost(t, what+", then "+how+": bytes beyond items and names", empty+s.Stats().Tables[0].Bytes+int64(c.names*n), 2*n)
			runtime.KeepAlive(table)
		}
	}
}

func TestSnapshot_IntoNewStoreGivesMemoryBack(t *testing.T) {
	var saved bytes.Buffer
	var bytesOf [2]int64
	var digests [2]uint64
	for i := range bytesOf {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		if i == 0 {
			hs := fill(t, s, table, 100_000)
			noError(t, s.Do(t.Context(), func(q store.Queue) { table.EraseItems(q, hs[100:]) }))
			flush(t, s)
			noError(t, s.Snapshot(t.Context(), &saved))
		} else {
			noError(t, s.Load(t.Context(), &saved))
		}
		bytesOf[i] = s.Stats().Tables[0].Bytes
		digests[i] = digest(t, s)
	}
	equal(t, "the digest after Load", digests[1], digests[0])
	const slots = 100_000 * (8 + 4) // words and freelist of the slots used
	atMost(t, "bytes after Load", bytesOf[1], slots*5/4)
	atLeast(t, "bytes before", bytesOf[0], 100_000*32)
}
