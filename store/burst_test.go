package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// heapAtMost fails the test unless the heap has at most most bytes more than before.
func heapAtMost(t tb, what string, before, most int64) {
	t.Helper()
	if !check.Collected(func() bool { return heap()-before <= most }) {
		t.Errorf("%s: got %d, want at most %d", what, heap()-before, most)
	}
}

type swollen struct {
	*store.Store
	table, other *store.Table[item]
	blank        []byte // a snapshot without items
}

const burstItems = 100_000

func newSwollen(t tb, o store.TableOptions[item]) swollen {
	s := swollen{Store: newStore(t, store.Options{Workers: 1})}
	o.Name = "table"
	s.table = register(t, s.Store, o)
	s.other = register(t, s.Store, store.TableOptions[item]{Name: "other", Shards: 4, Changes: true})
	s.blank = image(t, s.Store)
	return s
}

func oneQueue(record func(s swollen, q store.Queue)) func(t tb, s swollen) {
	return func(t tb, s swollen) { record(s, queues(t, s.Store, 1)[0]) }
}

var bursts = map[string]func(t tb, s swollen){
	"creates that are cancelled": oneQueue(func(s swollen, q store.Queue) {
		s.table.EraseItems(q, s.table.EmplaceItems(q, make([]item, burstItems), nil))
	}),
	"creates": oneQueue(func(s swollen, q store.Queue) { s.table.EmplaceItems(q, make([]item, burstItems), nil) }),
	"erases": func(t tb, s swollen) {
		hs := s.table.EmplaceItems(queues(t, s.Store, 1)[0], make([]item, burstItems), nil)
		flush(t, s.Store)
		q := queues(t, s.Store, 1)[0]
		for _, p := range hs {
			s.table.Erase(q, resolve(t, s.table, p))
		}
	},
	"stale erases": oneQueue(func(s swollen, q store.Queue) { s.table.EraseItems(q, make([]store.Handle[item], 2*burstItems)) }),
	"unrouted": oneQueue(func(_ swollen, q store.Queue) {
		for range 2 * burstItems {
			q.Erase(compose(9000, 1, 1))
		}
	}),
	"puts": oneQueue(func(s swollen, q store.Queue) {
		for range burstItems {
			s.table.Put(q, store.Handle[item]{}, item{})
		}
	}),
	"another table": oneQueue(func(s swollen, q store.Queue) {
		s.other.EraseItems(q, s.other.EmplaceItems(q, make([]item, burstItems), nil))
		s.other.EraseItems(q, make([]store.Handle[item], burstItems))
	}),
	"queues":                 func(t tb, s swollen) { s.record(queues(t, s.Store, burstItems/100)...) },
	"creates of some queues": func(t tb, s swollen) { s.record(queues(t, s.Store, 16)...) },
	"passes":                 passesOf(burstItems / 100),
	"creates of some passes": passesOf(16),
	"calls of the inbox":     callsOf(burstItems/100, nil),
	"creates of some calls":  callsOf(16, nil),
	"calls that fail":        callsOf(1, errTask),
}

func (s swollen) record(qs ...store.Queue) {
	for _, q := range qs {
		s.table.EmplaceItems(q, creates(len(qs)), nil)
	}
}

// creates returns the items of one of n recordings: one item if n is large.
func creates(n int) []item {
	if n > 16 {
		return make([]item, 1)
	}
	return make([]item, burstItems/n)
}

func passesOf(n int) func(t tb, s swollen) {
	return func(t tb, s swollen) {
		for range n {
			s.table.EmplaceItems(queues(t, s.Store, 1)[0], creates(n), nil)
		}
	}
}

func callsOf(n int, err error) func(t tb, s swollen) {
	return func(_ tb, s swollen) {
		for range n {
			_ = s.Inbox(func(q store.Queue) error {
				s.table.EmplaceItems(q, creates(n), nil)
				return err
			})
		}
	}
}

// small returns batches after which the heap has to shrink.
func (s swollen) small() map[string]func(ctx context.Context) error {
	call := callOf(func(q store.Queue) {
		s.table.Erase(q, s.table.Emplace(q, item{}))
		s.table.Put(q, store.Handle[item]{}, item{})
	})
	task := func(_ int, q store.Queue) { q.Fail(call(q)) }
	return map[string]func(ctx context.Context) error{
		"a pass": func(ctx context.Context) error { return s.Each(ctx, 1, task) },
		"a call": func(context.Context) error { return s.Inbox(call) },
	}
}

// givesBack fails the test unless rest releases, each time, the memory that a burst takes.
func givesBack(t *testing.T, what string, times int, rest, burst func()) {
	t.Helper()
	rest()
	before := heap()
	for wake := range times {
		burst()
		atLeast(t, fmt.Sprintf("%s %d: bytes of growth", what, wake), heap()-before, 300<<10)
		rest()
		heapAtMost(t, fmt.Sprintf("%s %d: bytes after the rest", what, wake), before, 72<<10) // the runtime takes 6 KiB now and then
	}
}

func TestBurst_MemoryIsReleased(t *testing.T) {
	if check.Full {
		t.Skip("a checked build allocates")
	}
	for burst, record := range bursts {
		for _, by := range []string{"a pass", "a call"} {
			s := newSwollen(t, store.TableOptions[item]{Changes: true})
			step := s.small()[by]
			frame := func(ctx context.Context) {
				wantError(t, "", errors.Join(step(ctx), onlyError(s.Flush(ctx))), nil)
			}
			rest := func() {
				for range 300 {
					frame(t.Context())
				}
				s.empty(t)
			}
			givesBack(t, burst+", then "+by, 1, rest, func() {
				record(t, s)
				flush(t, s.Store)
				s.empty(t)
			})
			if n := allocations(t.Context(), frame); n > 2*frameCount+slack && !check.Cheap && testing.CoverMode() == "" {
				t.Errorf("%s: %d small batches of %s allocate %d objects", burst, frameCount, by, n)
			}
		}
	}
}

// Small flushes have one task for keys. They release the plans of the other tasks, too.
func TestBurst_PlansOfKeysAreReleased(t *testing.T) {
	if check.Full {
		t.Skip("a checked build allocates")
	}
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 8})
	store.AddIndex(table, "key", func(v *item) (uint64, bool) { return v.Value, true })
	var hs []store.Handle[item]
	write(t, s, func(w *store.Writer) {
		for i := range uint64(40_000) {
			hs = append(hs, table.Insert(w, item{Value: i}))
		}
	})
	put := func(n int) {
		q := queues(t, s, 1)[0]
		for i := range n {
			table.Put(q, hs[i], item{Value: uint64(i)})
		}
		flush(t, s)
	}
	givesBack(t, "puts", 2, func() {
		for range 300 {
			put(1)
		}
	}, func() { put(len(hs)) })
}

// A table keeps its memory again after it gets work.
func TestBurst_IdleTableReleasesMemory(t *testing.T) {
	if check.Full {
		t.Skip("a checked build allocates")
	}
	s := newSwollen(t, store.TableOptions[item]{})
	frame := s.small()["a pass"]
	rest := func() {
		for range 300 {
			noError(t, frame(t.Context()))
			flush(t, s.Store)
		}
	}
	givesBack(t, "another table", 3, rest, func() {
		bursts["another table"](t, s)
		flush(t, s.Store)
	})
}

func TestTable_OccasionalWorkAllocatesNothing(t *testing.T) {
	plainBuild(t)
	s := newSwollen(t, store.TableOptions[item]{})
	small, flushes := s.small()["a pass"], 0
	items := make([]item, 1000)
	names := make([]store.Handle[item], 0, len(items))
	now := taskOf(func(q store.Queue) {
		names = s.other.EmplaceItems(q, items, names[:0])
		s.other.EraseItems(q, names)
	})
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
	atMost(t, "objects", allocations(t.Context(), frame), 2*frameCount+20+slack)
}

func TestBurst_SkippedSystemReleasesMemory(t *testing.T) {
	if check.Full {
		t.Skip("a checked build allocates")
	}
	s := newSwollen(t, store.TableOptions[item]{})
	runs := false
	burst := taskOf(func(q store.Queue) { s.table.EraseItems(q, s.table.EmplaceItems(q, make([]item, burstItems), nil)) })
	c := newSchedule(
		t, s.Store,
		store.System{Name: "rests", Emits: on(s.table), If: func() bool { return runs }, Run: func(ctx context.Context) error {
			return s.Each(ctx, 1, burst)
		}},
		store.System{Name: "works", Emits: on(s.table), Run: s.small()["a pass"]},
	)
	frames := func(n int) {
		for range n {
			noError(t, onlyError(c.Run(t.Context())))
		}
	}
	givesBack(t, "a system", 3, func() { frames(300) }, func() {
		runs = true
		frames(1)
		runs = false
	})
}

func TestBurst_TouchedRowsAreReleased(t *testing.T) {
	s := newSwollen(t, store.TableOptions[item]{ChunkItems: 16 << 10}) // more rows than the memory that is always kept
	s.table.EmplaceItems(queues(t, s.Store, 1)[0], make([]item, burstItems), nil)
	flush(t, s.Store)
	givesBack(t, "a pass", 1, func() {
		for range 300 {
			s.touch(t, 1)
		}
	}, func() { s.touch(t, burstItems) })
}

func (s swollen) touch(t *testing.T, rows int) {
	t.Helper()
	noError(t, s.table.ForEach(t.Context(), func(c store.Chunk[item]) {
		for i := range min(rows, len(c.Items)) {
			c.Wrote(i)
		}
	}))
	flush(t, s.Store) // or the queues of all passes are kept
}

func TestBurst_ChunkNotesAreReleased(t *testing.T) {
	s := newSwollen(t, store.TableOptions[item]{ChunkItems: 8})
	frame := func() {
		q := queues(t, s.Store, 1)[0]
		s.table.Erase(q, s.table.Emplace(q, item{}))
		s.touch(t, 1)
	}
	givesBack(t, "a pass", 1, func() {
		s.empty(t)
		fill(t, s.Store, s.table, 1)
		for range 300 {
			frame()
		}
	}, func() {
		s.table.EmplaceItems(queues(t, s.Store, 1)[0], make([]item, burstItems), nil)
		flush(t, s.Store)
		frame()
	})
}

// empty also releases the memory of the items.
func (s swollen) empty(t tb) {
	t.Helper()
	noError(t, s.Load(context.Background(), bytes.NewReader(s.blank)))
}

// A full queue refuses commands, and memory stays within the limit.
func TestLimits_BoundMemoryOfFastProducers(t *testing.T) {
	const limit = 2_000
	s, table := newTable(t, store.Options{InboxLimit: limit, QueueLimit: limit, BatchLimit: limit}, store.TableOptions[item]{})
	refused, stop := new(atomic.Int64), make(chan struct{})
	var measured sync.RWMutex
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
				err := s.Inbox(callOf(func(q store.Queue) { table.EraseItems(q, table.EmplaceItems(q, batch, nil)) }))
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
	before, most := heap(), int64(0)
	measured.Unlock()
	for flushes := 0; flushes < 20; {
		err := s.Each(t.Context(), 2, taskOf(func(q store.Queue) { table.EraseItems(q, table.EmplaceItems(q, make([]item, 10), nil)) }))
		if err == nil || refused.Load() == 0 {
			runtime.Gosched()
			continue
		}
		wantError(t, "", err, store.ErrQueueFull)
		measured.Lock()
		most = max(most, heap()-before)
		measured.Unlock()
		atMost(t, "pending commands", s.Pending().Commands, 3*limit)
		atLeast(t, "flushed commands", batch.Commanded(flush(t, s).Total), limit)
		flushes++
		refused.Store(0)
	}
	close(stop)
	wg.Wait()
	// Factor 2 for arrays that double, and as much for calls in progress.
	if bound := int64(4*3*limit) * (itemBytes + 8); most > bound {
		t.Errorf("the heap grew by %d KiB, more than %d KiB", most>>10, bound>>10)
	}
}

func TestShrink_KeepsAllButMemory(t *testing.T) {
	s := newStore(t, store.Options{Workers: 1})
	table := register(t, s, store.TableOptions[uint64]{Name: "table", Shards: 4, Changes: true})
	index := store.AddIndex(table, "key", func(v *uint64) (uint64, bool) { return *v, true })
	data := store.AddSparse(table, store.ColumnOptions[uint64]{Name: "data"})
	stable := store.RegisterStable(s, store.TableOptions[uint64]{Name: "stable"})
	before, ctx, dead := heap(), t.Context(), func(v *uint64) bool { return *v != 7 }
	noError(t, s.Do(ctx, func(q store.Queue) {
		for v := range uint64(burstItems) {
			data.Set(q, table.Emplace(q, v), v)
			stable.Emplace(q, v)
		}
	}))
	flush(t, s)
	noError(t, errors.Join(store.EraseFunc(ctx, table, dead), store.EraseFunc(ctx, stable, dead)))
	flush(t, s)
	look := func() string {
		h, _ := index.Find(7)
		part, _ := data.Get(h)
		return fmt.Sprint(s.DigestTables(), h, *table.At(h), *part, maps.Collect(stable.All()), len(maps.Collect(store.Erased(table))))
	}
	seen := look()
	noError(t, errors.Join(s.Inbox(func(q store.Queue) error { table.Emplace(q, 9); return nil }), s.Shrink(ctx)))
	heapAtMost(t, "bytes with the list of erased items", before, 60*burstItems)
	equal(t, "what is seen", look(), seen)
	equal(t, "calls of the inbox", flush(t, s).Total.Created, 1)
	noError(t, s.Shrink(ctx))
	heapAtMost(t, "bytes", before, 36*burstItems) // both kinds keep slots, and the data an index by slot
}
