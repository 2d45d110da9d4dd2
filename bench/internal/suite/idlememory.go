package suite

import (
	"context"
	"runtime"

	"handloom/bench/internal/measure"
	"handloom/store"
)

const idleTicks = 130

// idleMemory is the case of the bytes per item that a store keeps beyond its
// tables, idleTicks after a Put to every item.
func idleMemory(s set[item32]) []measure.Case {
	return []measure.Case{s.measured("memoryidle", "table", "B/item", func() float64 { return keptWhenIdle(s.n) })}
}

func keptWhenIdle(n int) float64 {
	before := heapInUse()
	st := newStore(2)
	t := store.Register(st, store.TableOptions[item32]{Shards: shards})
	ctx := context.Background()
	check(st.Inbox(func(q store.Queue) error {
		t.EmplaceItems(q, make([]item32, n), nil)
		return nil
	}))
	must(st.Flush(ctx))
	check(t.ForEach(ctx, func(c store.Chunk[item32]) {
		for i := range c.Items {
			t.Put(c.Queue, c.Handle(i), item32{v: 1})
		}
	}))
	must(st.Flush(ctx))
	for range idleTicks {
		check(st.Each(ctx, shards, func(int, store.Queue) {}))
		must(st.Flush(ctx))
	}
	kept := heapInUse() - before - st.Stats()[0].Bytes
	runtime.KeepAlive(t)
	return float64(kept) / float64(n)
}
