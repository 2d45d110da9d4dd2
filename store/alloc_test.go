package store_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"handloom/store"
)

const (
	warmUp        = 20
	frameCount    = 100
	phasesInFrame = 8
	chunkItems    = 64
	// The collector empties pools, and the runtime allocates for itself.
	slack = 40
)

type worked struct {
	itemTable
	age, count, mean func(ctx context.Context) error
}

func addInt(a, b int) int { return a + b }

func addFloat(a, b float64) float64 { return a + b }

func workPacked(t tb, s *store.Store, o store.TableOptions[item]) worked {
	table := register(t, s, o)
	age := func(c store.Chunk[item]) {
		for i := range c.Items {
			switch v := &c.Items[i]; {
			case i%4 == 0:
				c.Erase(i)
				table.Emplace(c.Queue, item{Value: v.Value, Parent: c.Handle(i)})
			case i%4 == 1:
				table.Put(c.Queue, c.Handle(i), item{Value: v.Value + 1, Links: v.Links})
			}
		}
	}
	count := func(r store.Chunk[item]) int { return len(r.Items) }
	mean := func(r store.Chunk[item]) float64 { return float64(r.Items[0].Value) }
	return worked{
		itemTable: packedTable{table},
		age:       func(ctx context.Context) error { return table.ForEach(ctx, age) },
		count:     func(ctx context.Context) error { _, err := store.Reduce(ctx, table, count, addInt); return err },
		mean:      func(ctx context.Context) error { _, err := store.Reduce(ctx, table, mean, addFloat); return err },
	}
}

func workStable(t tb, s *store.Store, o store.TableOptions[item]) worked {
	table := registerStable(t, s, o)
	age := func(c store.StableChunk[item]) {
		for h, v := range c.All() {
			switch h.ID.Slot() % 4 {
			case 0:
				table.Erase(c.Queue, h)
				table.Emplace(c.Queue, item{Value: v.Value, Parent: h})
			case 1:
				table.Put(c.Queue, h, item{Value: v.Value + 1, Links: v.Links})
			}
		}
	}
	count := func(r store.StableChunk[item]) (n int) {
		for range r.All() {
			n++
		}
		return n
	}
	mean := func(r store.StableChunk[item]) (sum float64) {
		for _, v := range r.All() {
			sum += float64(v.Value)
		}
		return sum
	}
	return worked{
		itemTable: stableTable{table},
		age:       func(ctx context.Context) error { return table.ForEach(ctx, age) },
		count:     func(ctx context.Context) error { _, err := store.Reduce(ctx, table, count, addInt); return err },
		mean:      func(ctx context.Context) error { _, err := store.Reduce(ctx, table, mean, addFloat); return err },
	}
}

// steady returns a frame that erases as much as it creates.
func steady(t *testing.T, s *store.Store, items int, stable bool) func(ctx context.Context) {
	work := workPacked
	if stable {
		work = workStable
	}
	table := work(t, s, store.TableOptions[item]{Shards: 2, ChunkItems: chunkItems})
	table.EmplaceItems(queues(t, s, 1)[0], make([]item, items), nil)
	flush(t, s)
	stale := compose(1, 60000, 0)
	names := make([]store.Handle[item], 0, items)
	values := make([]item, items/8)
	launch := func(task int, q store.Queue) {
		if task == 0 {
			names = table.EmplaceItems(q, values, names[:0])
			table.EraseItems(q, names)
			q.Erase(stale)
			table.Erase(q, handleOf(stale))
		}
	}
	look := func(context.Context) error { return nil }
	change := func(*store.Writer) {}
	tick := func(context.Context, *store.Writer) error { return nil }
	return func(ctx context.Context) {
		check := func(err error) {
			wantError(t, "", err, nil)
		}
		check(table.age(ctx))
		check(s.Each(ctx, 4, launch))
		check(s.Read(ctx, look))
		check(s.Write(ctx, change))
		check(onlyError(s.Frame(ctx, tick)))
		check(table.count(ctx))
		check(table.mean(ctx))
		_, err := s.Flush(ctx)
		check(err)
	}
}

// allocations returns the number of objects that 100 frames allocate.
func allocations(ctx context.Context, frame func(context.Context)) uint64 {
	for range warmUp {
		frame(ctx)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range frameCount {
		frame(ctx)
	}
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// The phase of a flush is reused because no caller gets it.
func TestTick_AllocatesOnePhase(t *testing.T) {
	plainBuild(t)
	s := newStore(t, store.Options{Workers: 1})
	const tables = 8
	var all [tables]*store.Table[item]
	for i := range all {
		all[i] = register(t, s, store.TableOptions[item]{Name: fmt.Sprint(i)})
	}
	record := func(_ int, q store.Queue) {
		for _, table := range all {
			table.Erase(q, table.Emplace(q, item{}))
		}
	}
	n := allocations(t.Context(), func(ctx context.Context) {
		noError(t, s.Each(ctx, 1, record))
		noError(t, onlyError(s.Flush(ctx)))
	})
	atMost(t, "objects", n, frameCount+slack)
}

func TestFrame_AllocatesOneObjectPerPhase(t *testing.T) {
	plainBuild(t)
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, items := range []int{500, 20_000} {
			t.Run(fmt.Sprintf("workers=1/items=%d", items), func(t *testing.T) {
				s := newStore(t, store.Options{Workers: 1})
				checkSteady(t, t.Context(), steady(t, s, items, stable))
			})
			t.Run(fmt.Sprintf("team/items=%d", items), func(t *testing.T) {
				s := newStore(t, store.Options{Workers: 3})
				frame := steady(t, s, items, stable)
				noError(t, s.Team(t.Context(), func(ctx context.Context) error {
					checkSteady(t, ctx, frame)
					return nil
				}))
			})
		}
	})
}

func checkSteady(t *testing.T, ctx context.Context, frame func(context.Context)) {
	t.Helper()
	atMost(t, "objects", allocations(ctx, frame), frameCount*phasesInFrame+slack)
}

func TestFrame_WithoutTeamAllocatesAConstant(t *testing.T) {
	plainBuild(t)
	bothKinds(t, func(t *testing.T, stable bool) {
		var counts []uint64
		for _, items := range []int{2_000, 20_000} {
			s := newStore(t, store.Options{Workers: 3})
			counts = append(counts, allocations(t.Context(), steady(t, s, items, stable)))
		}
		const perPhase = 15 // goroutines and their joins
		if counts[1] > frameCount*phasesInFrame*perPhase || counts[1] > counts[0]+counts[0]/2 {
			t.Errorf("%d objects with few items, %d with ten times as many", counts[0], counts[1])
		}
	})
}
