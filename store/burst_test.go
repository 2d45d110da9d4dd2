package store_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

// heap returns how many bytes are reachable.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools held is gone after the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// swollen is a store that a burst of commands has gone through, and a table that
// nothing else uses.
type swollen struct {
	*store.Store
	table, other *store.Table[item]
}

const burstItems = 100_000

// bursts make queues of every kind, or what flushes keep, large.
var bursts = map[string]func(t tb, s swollen){
	"creates that are cancelled": func(t tb, s swollen) {
		q := queues(t, s.Store, 1)[0]
		s.table.EraseItems(q, s.table.EmplaceItems(q, make([]item, burstItems), nil))
	},
	"creates": func(t tb, s swollen) {
		s.table.EmplaceItems(queues(t, s.Store, 1)[0], make([]item, burstItems), nil)
	},
	"erases": func(t tb, s swollen) {
		hs := s.table.EmplaceItems(queues(t, s.Store, 1)[0], make([]item, burstItems), nil)
		flush(t, s.Store)
		q := queues(t, s.Store, 1)[0]
		for _, p := range hs {
			s.table.Erase(q, resolve(t, s.table, p))
		}
	},
	"stale erases": func(t tb, s swollen) {
		s.table.EraseItems(queues(t, s.Store, 1)[0], make([]store.Handle[item], 2*burstItems))
	},
	"unrouted": func(t tb, s swollen) {
		q := queues(t, s.Store, 1)[0]
		for range 2 * burstItems {
			q.Erase(compose(9000, 1, 1))
		}
	},
	"puts": func(t tb, s swollen) {
		q := queues(t, s.Store, 1)[0]
		for range burstItems {
			s.table.Put(q, store.Handle[item]{}, item{})
		}
	},
	"queues": func(t tb, s swollen) {
		for _, q := range queues(t, s.Store, burstItems/100) {
			s.table.Emplace(q, item{})
		}
	},
	"creates of some queues": func(t tb, s swollen) {
		for _, q := range queues(t, s.Store, 16) {
			s.table.EmplaceItems(q, make([]item, burstItems/16), nil)
		}
	},
	"passes": func(t tb, s swollen) {
		for range burstItems / 100 {
			s.table.Emplace(queues(t, s.Store, 1)[0], item{})
		}
	},
	"creates of some passes": func(t tb, s swollen) {
		for range 16 {
			s.table.EmplaceItems(queues(t, s.Store, 1)[0], make([]item, burstItems/16), nil)
		}
	},
	"calls of the inbox": func(t tb, s swollen) {
		for range burstItems / 100 {
			_ = s.Inbox(func(q store.Queue) error { s.table.Emplace(q, item{}); return nil })
		}
	},
	"creates of some calls": func(t tb, s swollen) {
		for range 16 {
			_ = s.Inbox(func(q store.Queue) error {
				s.table.EmplaceItems(q, make([]item, burstItems/16), nil)
				return nil
			})
		}
	},
	"calls that fail": func(t tb, s swollen) {
		_ = s.Inbox(func(q store.Queue) error {
			s.table.EmplaceItems(q, make([]item, burstItems), nil)
			return errTask
		})
	},
	"another table": func(t tb, s swollen) {
		q := queues(t, s.Store, 1)[0]
		s.other.EraseItems(q, s.other.EmplaceItems(q, make([]item, burstItems), nil))
		s.other.EraseItems(q, make([]store.Handle[item], burstItems))
	},
}

// small are the batches after which the heap has to shrink.
func (s swollen) small() map[string]func(ctx context.Context) error {
	call := func(q store.Queue) error {
		s.table.Erase(q, s.table.Emplace(q, item{}))
		s.table.Put(q, store.Handle[item]{}, item{})
		return nil
	}
	task := func(_ context.Context, _ int, q store.Queue) error { return call(q) }
	return map[string]func(ctx context.Context) error{
		"a pass": func(ctx context.Context) error { return s.Each(ctx, 1, task) },
		"a call": func(context.Context) error { return s.Inbox(call) },
	}
}

func TestMemoryOfABurstIsGivenBack(t *testing.T) {
	if check.Full {
		t.Skip("a checked build allocates")
	}
	for burst, record := range bursts {
		for _, by := range []string{"a pass", "a call"} {
			s := swollen{Store: newStore(t, store.Options{Workers: 1})}
			s.table = register(t, s.Store, store.TableOptions[item]{Name: "table", Changes: true})
			s.other = register(t, s.Store, store.TableOptions[item]{Name: "other"})
			step := s.small()[by]
			frame := func(ctx context.Context) {
				if err := step(ctx); err != nil {
					t.Error(err)
				}
				if _, err := s.Flush(ctx); err != nil {
					t.Error(err)
				}
			}
			frame(t.Context())
			before := heap()
			record(t, s)
			flush(t, s.Store)
			s.empty(t)
			if swell := heap() - before; swell < 500<<10 {
				t.Errorf("%s: the heap grew by %d KiB, which shows nothing", burst, swell>>10)
			}
			for range 300 {
				frame(t.Context())
			}
			s.empty(t)
			if left := heap() - before; left > 64<<10 {
				t.Errorf("%s: %d KiB are left after small batches of %s", burst, left>>10, by)
			}
			if n := allocations(t.Context(), frame); n > 2*frameCount+slack && !raceDetector {
				t.Errorf("%s: %d small batches of %s allocate %d objects", burst, frameCount, by, n)
			}
		}
	}
}

// A table that has rested keeps memory again as soon as it has work, and has to give
// that up again.
func TestATableThatRestsAndWakesGivesItsMemoryBackEachTime(t *testing.T) {
	if check.Full {
		t.Skip("a checked build allocates")
	}
	s := swollen{Store: newStore(t, store.Options{Workers: 1})}
	s.table = register(t, s.Store, store.TableOptions[item]{Name: "table"})
	s.other = register(t, s.Store, store.TableOptions[item]{Name: "other", Changes: true})
	frame := s.small()["a pass"]
	rest := func() {
		for range 300 {
			if err := frame(t.Context()); err != nil {
				t.Fatal(err)
			}
			flush(t, s.Store)
		}
	}
	rest()
	before := heap()
	for wake := range 3 {
		bursts["another table"](t, s)
		flush(t, s.Store)
		if swell := heap() - before; swell < 500<<10 {
			t.Errorf("wake %d: the heap grew by %d KiB, which shows nothing", wake, swell>>10)
		}
		rest()
		if left := heap() - before; left > 64<<10 {
			t.Errorf("wake %d: %d KiB are left when the table rests", wake, left>>10)
		}
	}
}

// A table that has work now and then keeps the memory for it.
func TestATableWithWorkNowAndThenDoesNotRest(t *testing.T) {
	if check.Full || raceDetector {
		t.Skip("checks allocate, and the race detector empties pools at random")
	}
	s := swollen{Store: newStore(t, store.Options{Workers: 1})}
	s.table = register(t, s.Store, store.TableOptions[item]{Name: "table"})
	s.other = register(t, s.Store, store.TableOptions[item]{Name: "other", Shards: 4, Changes: true})
	small, flushes := s.small()["a pass"], 0
	items := make([]item, 1000)
	names := make([]store.Handle[item], 0, len(items))
	now := func(_ context.Context, _ int, q store.Queue) error {
		names = s.other.EmplaceItems(q, items, names[:0])
		s.other.EraseItems(q, names)
		return nil
	}
	frame := func(ctx context.Context) {
		err := small(ctx)
		if flushes++; flushes%20 == 0 {
			err = errors.Join(err, s.Each(ctx, 1, now))
		}
		if _, err2 := s.Flush(ctx); err != nil || err2 != nil {
			t.Error(err, err2)
		}
	}
	for range 200 {
		frame(t.Context())
	}
	if n := allocations(t.Context(), frame); n > 2*frameCount+20+slack {
		t.Errorf("%d frames, of which some have work for the table, allocate %d objects", frameCount, n)
	}
}

// So does a system that its condition keeps from running.
func TestASystemThatRestsGivesTheMemoryOfItsQueuesBack(t *testing.T) {
	if check.Full {
		t.Skip("a checked build allocates")
	}
	s := swollen{Store: newStore(t, store.Options{Workers: 1})}
	s.table = register(t, s.Store, store.TableOptions[item]{Name: "table"})
	runs := false
	burst := func(_ context.Context, _ int, q store.Queue) error {
		s.table.EraseItems(q, s.table.EmplaceItems(q, make([]item, burstItems), nil))
		return nil
	}
	c := newSchedule(
		t, s.Store,
		store.System{Name: "rests", Emits: on(s.table), If: func() bool { return runs }, Run: func(ctx context.Context) error {
			return s.Each(ctx, 1, burst)
		}},
		store.System{Name: "works", Emits: on(s.table), Run: s.small()["a pass"]},
	)
	frames := func(n int) {
		for range n {
			if _, err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	frames(300)
	before := heap()
	for wake := range 3 {
		runs = true
		frames(1)
		runs = false
		if swell := heap() - before; swell < 500<<10 {
			t.Errorf("wake %d: the heap grew by %d KiB, which shows nothing", wake, swell>>10)
		}
		frames(300)
		if left := heap() - before; left > 64<<10 {
			t.Errorf("wake %d: %d KiB are left when the system rests", wake, left>>10)
		}
	}
}

// What tasks touched is noted in memory of the table.
func TestTheMemoryOfManyTouchedRowsIsGivenBack(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{ChunkItems: 16 << 10}) // more rows than are noted in memory that is kept anyway
	table.EmplaceItems(queues(t, s, 1)[0], make([]item, burstItems), nil)
	flush(t, s)
	pass := func(rows int) {
		err := table.ForEach(t.Context(), func(_ context.Context, c store.Chunk[item]) error {
			for i := range min(rows, len(c.Items)) {
				c.Touch(i)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		flush(t, s) // or the queues of all passes are kept for it
	}
	rest := func() {
		for range 300 {
			pass(1)
		}
	}
	rest() // from the flush, too
	before := heap()
	pass(burstItems)
	if swell := heap() - before; swell < 300<<10 {
		t.Errorf("the heap grew by %d KiB, which shows nothing", swell>>10)
	}
	rest()
	if left := heap() - before; left > 64<<10 {
		t.Errorf("%d KiB are left after passes that touch little", left>>10)
	}
}

// Of a table that was large, what was noted by chunk is given up, too.
func TestTheMemoryOfPassesOverManyChunksIsGivenBack(t *testing.T) {
	s := swollen{Store: newStore(t, store.Options{Workers: 1})}
	s.table = register(t, s.Store, store.TableOptions[item]{Name: "table", ChunkItems: 8})
	frame := func() {
		err := s.table.ForEach(t.Context(), func(_ context.Context, c store.Chunk[item]) error {
			c.Touch(0)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		q := queues(t, s.Store, 1)[0]
		s.table.Erase(q, s.table.Emplace(q, item{}))
		flush(t, s.Store)
	}
	few := func() {
		s.empty(t)
		fill(t, s.Store, s.table, 1)
		for range 300 {
			frame()
		}
	}
	few()
	before := heap()
	s.table.EmplaceItems(queues(t, s.Store, 1)[0], make([]item, burstItems), nil)
	flush(t, s.Store)
	frame()
	if swell := heap() - before; swell < 500<<10 {
		t.Errorf("the heap grew by %d KiB, which shows nothing", swell>>10)
	}
	few()
	if left := heap() - before; left > 64<<10 {
		t.Errorf("%d KiB are left after passes over few chunks", left>>10)
	}
}

// empty erases all items and gives back their memory, which is no part of what is
// measured.
func (s swollen) empty(t tb) {
	t.Helper()
	err := s.Write(context.Background(), func(_ context.Context, w *store.Writer) error {
		s.table.Clear(w)
		m := store.Maps(s.table, w)[0]
		m.Reset()
		m.Shrink()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Producers that outrun flushes are refused when a limit is reached, and what
// waits for a flush stays within it.
func TestMemoryStaysBoundedWhileProducersOutrunFlushes(t *testing.T) {
	const limit = 2_000
	s, table := newTable(t, store.Options{InboxLimit: limit, QueueLimit: limit, BatchLimit: limit}, store.TableOptions[item]{})
	refused, stop := new(atomic.Int64), make(chan struct{})
	var measured sync.RWMutex // producers leave garbage all the time, but not meanwhile
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			batch := make([]item, 50)
			for {
				select {
				case <-stop:
					return
				default:
				}
				measured.RLock()
				err := s.Inbox(func(q store.Queue) error {
					table.EraseItems(q, table.EmplaceItems(q, batch, nil))
					return nil
				})
				measured.RUnlock()
				if errors.Is(err, store.ErrQueueFull) {
					refused.Add(1)
					runtime.Gosched()
				} else if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	measured.Lock()
	before, most, commands := heap(), int64(0), 0
	measured.Unlock()
	for flushes := 0; flushes < 20; {
		// The frame loop records as long as it is let, and then waits until the
		// producers were refused, too.
		err := s.Each(t.Context(), 2, func(_ context.Context, _ int, q store.Queue) error {
			table.EraseItems(q, table.EmplaceItems(q, make([]item, 10), nil))
			return nil
		})
		if err == nil || refused.Load() == 0 {
			runtime.Gosched()
			continue
		}
		if !errors.Is(err, store.ErrQueueFull) {
			t.Fatal(err)
		}
		measured.Lock()
		most = max(most, heap()-before)
		measured.Unlock()
		if pending := s.Pending().Commands; pending > 3*limit {
			t.Errorf("%d commands are pending", pending)
		}
		commands += flush(t, s).Total.Commands()
		flushes++
		refused.Store(0)
	}
	close(stop)
	wg.Wait()
	// Twice for arrays that double, and as much for calls that record.
	if bound := int64(4*3*limit) * (itemBytes + 8); most > bound {
		t.Errorf("the heap grew by %d KiB, more than %d KiB", most>>10, bound>>10)
	}
	if commands < 20*limit {
		t.Errorf("%d commands were flushed", commands)
	}
}
