package store_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"handloom/batch"
	"handloom/store"
)

// lateEnd is a context that ends after it was asked a number of times.
type lateEnd struct {
	context.Context
	asks *atomic.Int64
}

func endAfter(asks int64) lateEnd {
	c := lateEnd{context.Background(), new(atomic.Int64)}
	c.asks.Store(asks)
	return c
}

func (c lateEnd) Err() error {
	if c.asks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// batchOn records a batch with commands of all kinds.
func batchOn(t tb, s *store.Store, table *store.Table[item], hs []store.Handle[item]) {
	q := queues(t, s, 1)[0]
	p := table.Emplace(q, item{Value: 1})
	table.EmplaceItems(q, make([]item, 500), nil)
	table.Put(q, p, item{Value: 2, Parent: p})
	table.Put(q, hs[0], item{Value: 3, Parent: p})
	table.EraseItems(q, hs[10:200])
	table.Erase(q, table.Emplace(q, item{Parent: p}))
}

// A context that ends is honoured up to the commit point and ignored after it,
// whenever that is: the state is either unchanged or that of the full batch.
func TestAFlushWhoseContextEndsAppliesAllOrNothing(t *testing.T) {
	for _, c := range []config{{workers: 1}, {workers: 4}, {workers: 4, shuffle: true}, {workers: 4, team: true}} {
		ran := map[bool]int{}
		for asks := range int64(10) {
			c.run(t, store.Options{}, func(r *trial) {
				table := register(r, r.Store, store.TableOptions[item]{Shards: 8})
				hs := fill(r, r.Store, table, 1000)
				before := digest(r, r.Store)
				batchOn(r, r.Store, table, hs)
				ctx := endAfter(asks)
				ctx.Context = r.ctx
				report, err := r.Flush(ctx)
				ran[err == nil]++
				if err == nil {
					if report.Epoch != 2 || table.Len() != 1000+501-190 {
						r.Errorf("ended after %d asks: %v and %d items", asks, report, table.Len())
					}
					return
				}
				if !errors.Is(err, context.Canceled) || digest(r, r.Store) != before || r.Epoch() != 1 {
					r.Errorf("ended after %d asks: %v, epoch %d", asks, err, r.Epoch())
				}
				// The batch is still there, and is applied once.
				if report := r.flush(); report.Total.Created != 501 || report.Total.Erased != 190 || table.Len() != 1311 {
					r.Errorf("after %d asks the second flush says %v, %d items", asks, report, table.Len())
				}
			})
		}
		if ran[true] == 0 || ran[false] < 2 {
			t.Errorf("%v: %d flushes succeeded and %d failed; want both", c, ran[true], ran[false])
		}
	}
}

func TestACancelledFlushAndANewOneEqualOneFlush(t *testing.T) {
	once := func(cancelled int) uint64 {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 8})
		hs := fill(t, s, table, 1000)
		batchOn(t, s, table, hs)
		for range cancelled {
			if _, err := s.Flush(ended{context.Background()}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		flush(t, s)
		return digest(t, s)
	}
	if a, b := once(0), once(3); a != b {
		t.Errorf("digest %x, without cancelled flushes %x", b, a)
	}
}

func TestTheCauseOfAnEndedContextIsReturned(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	table.Emplace(queues(t, s, 1)[0], item{})
	cause := errors.New("the player left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for what, call := range phases(s, table) {
		if err := call(ctx); !errors.Is(err, cause) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if report := flush(t, s); report.Total.Created != 1 {
		t.Error(report)
	}
}

// A phase that runs in a panicking worker before the commit point: every shard
// is planned or none.
func TestAFailureWhileAFlushPlansChangesNothing(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 3}, store.TableOptions[item]{Shards: 8})
	hs := fill(t, s, table, 1000)
	before := digest(t, s)
	batchOn(t, s, table, hs)
	for i := range 8 { // so that every shard is planned
		table.Put(queues(t, s, 1)[0], hs[i*125+99], item{Value: 4})
	}
	for task := range 8 {
		perturb(t, func(int) func(int) int {
			return func(i int) int {
				if i == task {
					panic("a fault of the test")
				}
				return i
			}
		})
		var fault *store.PanicError
		if _, err := s.Flush(t.Context()); !errors.As(err, &fault) {
			t.Fatalf("Flush: %v", err)
		}
		perturb(t, nil)
		if digest(t, s) != before {
			t.Fatalf("a failure in task %d changed the state", task)
		}
	}
	if report := flush(t, s); report.Total.Created != 501 || report.Total.Erased != 190 {
		t.Error(report)
	}
}

func TestALimitReachedInOneOfEightShardsAppliesNothing(t *testing.T) {
	setWidths(t, 2, 16)
	for victim := range 8 {
		s, table := newTable(t, store.Options{Workers: 4}, store.TableOptions[item]{Shards: 8})
		hs := fill(t, s, table, 8*16)
		// Deplete one slot of one shard: it can hold one item less than the others.
		h := hs[victim*16]
		for range 2 {
			q := queues(t, s, 1)[0]
			table.Erase(q, h)
			p := table.Emplace(q, item{})
			report, err := s.Flush(t.Context())
			if err != nil {
				break // its last generation: the new item no longer fits
			}
			if report.Total.Created == 1 {
				h = resolve(t, table, p)
			}
		}
		if err := s.Discard(); err != nil {
			t.Fatal(err)
		}
		table.Erase(queues(t, s, 1)[0], h)
		if report := flush(t, s); report.Total.Depleted != 1 {
			t.Fatalf("%v", report)
		}
		before, items := digest(t, s), table.Len()

		q := queues(t, s, 1)[0]
		table.Put(q, hs[(victim*16+20)%128], item{Value: 1})
		table.Emplace(q, item{})
		if _, err := s.Flush(t.Context()); !errors.Is(err, store.ErrFull) {
			t.Fatalf("Flush: %v", err)
		}
		if digest(t, s) != before || table.Len() != items {
			t.Errorf("a flush that failed with ErrFull changed the state")
		}
		if err := s.Discard(); err != nil {
			t.Fatal(err)
		}
		table.Erase(queues(t, s, 1)[0], hs[(victim*16+20)%128])
		if report := flush(t, s); report.Total != (batch.Counts{Erased: 1}) {
			t.Errorf("the flush after Discard: %v", report)
		}
	}
}

func TestMaxItemsCountsAllShardsAndWhatTheBatchErases(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 3, MaxItems: 10})
	hs := fill(t, s, table, 10)
	before := digest(t, s)
	for _, more := range []int{3, 4, 2} { // two are erased
		q := queues(t, s, 1)[0]
		table.EraseItems(q, hs[:2])
		table.EmplaceItems(q, make([]item, more), nil)
		_, err := s.Flush(t.Context())
		if (err == nil) != (more == 2) || err != nil && (!errors.Is(err, store.ErrFull) || digest(t, s) != before) {
			t.Errorf("%d for two: %v, digest %x", more, err, digest(t, s))
		}
		if err := s.Discard(); err != nil {
			t.Fatal(err)
		}
	}
	if table.Len() != 10 {
		t.Errorf("%d items", table.Len())
	}
	err := s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
		_, err := table.Insert(w, item{})
		return err
	})
	if !errors.Is(err, store.ErrFull) || table.Len() != 10 {
		t.Errorf("Insert into a full table: %v", err)
	}
}

// Tables fail together: a limit in the last one leaves the first untouched.
func TestALimitInOneTableLeavesTheOthersUntouched(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	small := register(t, s, store.TableOptions[item]{Name: "small", MaxItems: 1})
	q := queues(t, s, 1)[0]
	table.Emplace(q, item{})
	small.EmplaceItems(q, make([]item, 2), nil)
	before := digest(t, s)
	if _, err := s.Flush(t.Context()); !errors.Is(err, store.ErrFull) || digest(t, s) != before || table.Len() != 0 {
		t.Errorf("%v, %d items", err, table.Len())
	}
}

func TestTheLimitOfAQueueIsExact(t *testing.T) {
	const limit = 10
	for _, more := range []int{0, 1} {
		for what, record := range map[string]func(*store.Table[item], store.Queue, int){
			"one by one": func(table *store.Table[item], q store.Queue, n int) {
				for range n {
					table.Emplace(q, item{})
				}
			},
			"in bulk": func(table *store.Table[item], q store.Queue, n int) { table.EmplaceItems(q, make([]item, n), nil) },
			"erases": func(table *store.Table[item], q store.Queue, n int) {
				table.EraseItems(q, make([]store.Handle[item], n))
			},
			"unrouted": func(_ *store.Table[item], q store.Queue, n int) {
				for range n {
					q.Erase(compose(9000, 1, 1))
				}
			},
			"of several kinds": func(table *store.Table[item], q store.Queue, n int) {
				for i := range n {
					switch i % 3 {
					case 0:
						table.Emplace(q, item{})
					case 1:
						table.Put(q, store.Handle[item]{}, item{})
					default:
						table.Erase(q, store.Handle[item]{})
					}
				}
			},
		} {
			t.Run(fmt.Sprintf("more=%d/%s", more, what), func(t *testing.T) {
				s, table := newTable(t, store.Options{QueueLimit: limit}, store.TableOptions[item]{})
				checkLimit(t, s, table, more > 0, func(q store.Queue) { record(table, q, limit+more) })
			})
		}
	}
}

// checkLimit records into a queue of a pass, between passes that are in order,
// and into one of Queues.
func checkLimit(t *testing.T, s *store.Store, table *store.Table[item], exceeds bool, record func(store.Queue)) {
	t.Helper()
	err := s.Each(t.Context(), 3, func(_ context.Context, task int, q store.Queue) error {
		if task == 1 {
			record(q)
		} else {
			table.Emplace(q, item{})
		}
		return nil
	})
	if errors.Is(err, store.ErrQueueFull) != exceeds || (err == nil) == exceeds {
		t.Fatalf("Each: %v", err)
	}
	table.Emplace(queues(t, s, 1)[0], item{Value: 1})
	if report := flush(t, s); exceeds && report.Total.Commands() != 1 || !exceeds && report.Total.Commands() != 13 {
		t.Fatalf("%v", report)
	}

	items := table.Len()
	qs := queues(t, s, 2)
	table.Emplace(qs[1], item{})
	record(qs[0])
	_, err = s.Flush(t.Context())
	if errors.Is(err, store.ErrQueueFull) != exceeds || (err == nil) == exceeds {
		t.Fatalf("Flush: %v", err)
	}
	if !exceeds {
		return
	}
	if _, again := s.Flush(t.Context()); !errors.Is(again, store.ErrQueueFull) || table.Len() != items {
		t.Errorf("Flush once more: %v, %d items", again, table.Len())
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	table.Emplace(queues(t, s, 1)[0], item{})
	if report := flush(t, s); report.Total != (batch.Counts{Created: 1}) {
		t.Errorf("after Discard: %v", report)
	}
}

// A queue looks at its limit when an array of it has to grow, so that it names a
// few more creates; none of them is ever applied.
func TestAQueueBeyondItsLimitSoonNamesNothing(t *testing.T) {
	s, table := newTable(t, store.Options{QueueLimit: 2}, store.TableOptions[item]{})
	q := queues(t, s, 1)[0]
	table.EmplaceItems(q, make([]item, 2), nil)
	var names []store.Handle[item]
	for h := table.Emplace(q, item{}); !h.ID.IsZero(); h = table.Emplace(q, item{}) {
		if names = append(names, h); len(names) > 1000 {
			t.Fatal("the queue goes on and on")
		}
	}
	if hs := table.EmplaceItems(q, make([]item, 1), nil); len(hs) != 0 {
		t.Errorf("EmplaceItems gave %v", hs)
	}
	called := false
	if h := store.EmplaceFunc(table, q, func(store.Handle[item], *item) { called = true }); !h.ID.IsZero() || called {
		t.Errorf("EmplaceFunc gave %v, called %t", h, called)
	}
	table.Erase(q, store.Handle[item]{})
	table.Put(q, store.Handle[item]{}, item{})
	if n := s.Pending().Commands; n != 0 {
		t.Errorf("a queue that failed holds %d commands", n)
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	table.Emplace(queues(t, s, 1)[0], item{})
	flush(t, s)
	for _, h := range names {
		if _, ok := table.Resolve(h); ok {
			t.Errorf("%v was applied", h)
		}
	}
}

func TestCountsOfACommandSumToTheCommandsRecorded(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 3})
	hs := fill(t, s, table, 1000)
	batchOn(t, s, table, hs)
	batchOn(t, s, table, hs)
	if report, want := flush(t, s), 2*(1+500+1+1+190+2); report.Total.Commands() != want {
		t.Errorf("%v: %d commands, want %d", report, report.Total.Commands(), want)
	}
}

func TestChunkItemsOfAnySizeWork(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 2, ChunkItems: math.MaxInt})
	fill(t, s, table, 7)
	var chunks atomic.Int64
	err := table.ForEach(t.Context(), func(context.Context, store.Chunk[item]) error {
		chunks.Add(1)
		return nil
	})
	if err != nil || chunks.Load() != 2 {
		t.Errorf("%d chunks, %v; want one per shard", chunks.Load(), err)
	}
}

func TestAContextThatEndsWhileAFlushPlansIsHonouredAndLaterIgnored(t *testing.T) {
	for step := range 3 { // plan, apply, link: no memory is needed
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 2})
		h := fill(t, s, table, 9)[3]
		before := digest(t, s)
		table.Put(queues(t, s, 1)[0], h, item{Value: 77})
		ctx, cancel := context.WithCancel(t.Context())
		steps := 0
		perturb(t, func(int) func(int) int {
			if steps == step {
				cancel()
			}
			steps++
			return func(i int) int { return i }
		})
		_, err := s.Flush(ctx)
		cancel()
		perturb(t, nil)
		if step == 0 && (!errors.Is(err, context.Canceled) || digest(t, s) != before) {
			t.Errorf("ended while the flush planned: %v", err)
		}
		if step > 0 && (err != nil || table.At(h).Value != 77) {
			t.Errorf("ended in step %d: %v", step, err)
		}
	}
}

func TestAContextThatEndsAfterThePlanIsHonoured(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	h := fill(t, s, table, 9)[3]
	table.Erase(queues(t, s, 1)[0], h)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	perturb(t, func(int) func(int) int {
		return func(i int) int { cancel(); return i } // inside the first task
	})
	if _, err := s.Flush(ctx); !errors.Is(err, context.Canceled) || !table.Has(h) {
		t.Errorf("Flush: %v", err)
	}
}
