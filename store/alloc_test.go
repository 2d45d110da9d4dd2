package store_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"testing"

	"handloom/internal/check"
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
			heapAtMost(t, what+", then "+how+": bytes beyond items and names", empty+s.Stats()[0].Bytes+int64(c.names*n), 2*n)
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
		bytesOf[i] = s.Stats()[0].Bytes
		digests[i] = digest(t, s)
	}
	equal(t, "the digest after Load", digests[1], digests[0])
	const slots = 100_000 * (8 + 4) // words and freelist of the slots used
	atMost(t, "bytes after Load", bytesOf[1], slots*5/4)
	atLeast(t, "bytes before", bytesOf[0], 100_000*32)
}

// A lookup in a table must cost no more than a lookup in a map.
func TestLookup_Inlines(t *testing.T) {
	if check.Cheap {
		t.Skip("the compiler is the same in this build")
	}
	// A generic method is compiled where it is instantiated: in testdata.
	out, err := exec.Command("go", "build", "-gcflags=-m", "./testdata/inline").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if element := regexp.MustCompile(`lookup\.go:.*inlining call to store\.\(\*Column\[.*\]\)\.Get\n`); !element.Match(out) {
		t.Errorf("the compiler does not inline Get of a Column:\n%s", out)
	}
	for table, container := range map[string]string{"Table": "dense", "StableTable": "paged"} {
		for _, method := range []string{"Get", "Has"} {
			inlined := regexp.MustCompile(`lookup\.go:.*inlining call to store\.\(\*` + table + `\[.*\]\)\.` + method + `\n`)
			inner := regexp.MustCompile(`inlining call to ` + container + `\.Find\[.*\]\n`)
			if !inlined.Match(out) || !inner.Match(out) {
				t.Errorf("the compiler does not inline %s of a %s:\n%s", method, table, out)
			}
		}
	}
}
