package store_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"handloom/store"
)

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

func batchOn(t tb, s *store.Store, table *store.Table[item], hs []store.Handle[item]) {
	q := queues(t, s, 1)[0]
	p := table.Emplace(q, item{Value: 1})
	table.EmplaceItems(q, make([]item, 500), nil)
	table.Put(q, p, item{Value: 2, Parent: p})
	table.Put(q, hs[0], item{Value: 3, Parent: p})
	table.EraseItems(q, hs[10:200])
	table.Erase(q, table.Emplace(q, item{Parent: p}))
}

// A context may end a flush up to the commit point.
func TestFlush_EndedContextAppliesAllOrNothing(t *testing.T) {
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
					equal(r, "report.Epoch", report.Epoch, 2)
					equal(r, "table.Len", table.Len(), 1000+501-190)
					return
				}
				if !errors.Is(err, context.Canceled) || digest(r, r.Store) != before || r.Epoch() != 1 {
					r.Errorf("ended after %d asks: %v, epoch %d", asks, err, r.Epoch())
				}
				// The batch is still there, and is applied once.
				if report := flushIn(r, r.Store, r.ctx); report.Total.Created != 501 || report.Total.Erased != 190 || table.Len() != 1311 {
					r.Errorf("after %d asks the second flush says %v, %d items", asks, report, table.Len())
				}
			})
		}
		if ran[true] == 0 || ran[false] < 2 {
			t.Errorf("%v: %d flushes succeeded and %d failed; want both", c, ran[true], ran[false])
		}
	}
}

// A worker panics before the commit point: every shard is planned or none.
func TestFlush_FailurePlanningChangesNothing(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 3}, store.TableOptions[item]{Shards: 8})
	hs := fill(t, s, table, 1000)
	before := digest(t, s)
	batchOn(t, s, table, hs)
	for i := range 8 {
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
		equal(t, fmt.Sprintf("digest after a failure in task %d", task), digest(t, s), before)
	}
	if report := flush(t, s); report.Total.Created != 501 || report.Total.Erased != 190 {
		t.Error(report)
	}
}

func TestChunkItems_OfAnySizeWork(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 2, ChunkItems: math.MaxInt})
	fill(t, s, table, 7)
	var chunks atomic.Int64
	err := table.ForEach(t.Context(), func(store.Chunk[item]) {
		chunks.Add(1)
	})
	wantError(t, "the call", err, nil)
	equal(t, "chunks.Load", chunks.Load(), 2)
}

// The error of a flush is the error of its passes, whatever calls are in the batch.
func TestFlush_ErrorIsOfThePasses(t *testing.T) {
	const limit = 2
	faults := map[string]func(q store.Queue, small *store.Table[item], keyed *store.Table[twoKeys]){
		"nothing": func(q store.Queue, small *store.Table[item], keyed *store.Table[twoKeys]) {
			keyed.Emplace(q, twoKeys{})
		},
		"full": func(q store.Queue, small *store.Table[item], keyed *store.Table[twoKeys]) {
			small.EmplaceItems(q, make([]item, limit+1), nil)
		},
		"duplicate": func(q store.Queue, small *store.Table[item], keyed *store.Table[twoKeys]) {
			keyed.EmplaceItems(q, []twoKeys{{Keys: [2]uint8{1}}, {Keys: [2]uint8{1}}}, nil)
		},
		"panic": func(q store.Queue, small *store.Table[item], keyed *store.Table[twoKeys]) {
			keyed.Emplace(q, twoKeys{N: 666})
		},
	}
	faults["full and duplicate"] = func(q store.Queue, small *store.Table[item], keyed *store.Table[twoKeys]) {
		faults["duplicate"](q, small, keyed)
		faults["full"](q, small, keyed)
	}
	for pass, record := range faults {
		var want string
		for _, call := range []string{"", "nothing", "full", "duplicate", "panic", "full and duplicate"} {
			s := newStore(t, store.Options{InboxLimit: 10})
			keyed := register(t, s, store.TableOptions[twoKeys]{})
			store.AddIndex(keyed, "key", func(v *twoKeys) (uint8, bool) {
				if v.N == 666 {
					panic("a bad key")
				}
				return v.Keys[0], v.Keys[0] > 0
			})
			small := register(t, s, store.TableOptions[item]{MaxItems: limit})
			record(queues(t, s, 1)[0], small, keyed)
			if call != "" {
				noError(t, s.Inbox(callOf(func(q store.Queue) { faults[call](q, small, keyed) })))
			}
			_, err := s.Flush(t.Context())
			if call == "" {
				want = fmt.Sprint(err)
				equal(t, pass+" fails", err != nil, pass != "nothing")
			}
			equal(t, fmt.Sprintf("the error of a pass with %s and a call with %s", pass, call), fmt.Sprint(err), want)
		}
	}
}
