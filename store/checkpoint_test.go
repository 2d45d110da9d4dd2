package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

func checkpoint(t tb, s *store.Store, into *store.Checkpoint) {
	t.Helper()
	if err := s.Checkpoint(context.Background(), into); err != nil {
		t.Fatal(err)
	}
}

// rollback goes back, which must succeed, and verifies the store.
func rollback(t tb, s *store.Store, c *store.Checkpoint) {
	t.Helper()
	if err := s.Rollback(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestHandlesFromBeforeACheckpointNameTheirItemsAgain(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[item]{Shards: 3}, stable)
		create := func(value uint64) store.Handle[item] {
			p := table.Emplace(queues(t, s, 1)[0], item{Value: value})
			flush(t, s)
			h, _ := table.Resolve(p)
			return h
		}
		erased, kept := create(1), create(2)
		table.Erase(queues(t, s, 1)[0], erased)
		flush(t, s)
		var c store.Checkpoint
		checkpoint(t, s, &c)
		before := digest(t, s)

		after := create(3)
		q := queues(t, s, 1)[0]
		table.Erase(q, kept)
		flush(t, s)
		rollback(t, s, &c)
		if v, ok := table.Get(kept); !ok || v.Value != 2 || table.Has(erased) || table.Has(after) || table.Len() != 1 {
			t.Errorf("%v names %+v, %v names an item: %t, %v: %t", kept, v, erased, table.Has(erased), after, table.Has(after))
		}
		if digest(t, s) != before {
			t.Error("the digest is another one")
		}
		// The name that was dropped comes again, for another item.
		if again := create(4); again != after {
			t.Errorf("%v was issued before, and %v now", after, again)
		} else if v, ok := table.Get(after); !ok || v.Value != 4 {
			t.Errorf("%v names %+v", after, v)
		}
	})
}

func TestARollbackDropsThePendingBatchAndForgetsNames(t *testing.T) {
	for _, inWrite := range []bool{false, true} {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		other := register(t, s, store.TableOptions[item]{Name: "other"})
		fill(t, s, other, 1)
		var c store.Checkpoint
		checkpoint(t, s, &c)
		q := queues(t, s, 1)[0]
		flushed := table.Emplace(q, item{})
		flush(t, s)
		q = queues(t, s, 1)[0]
		pending := table.Emplace(q, item{})
		resolve(t, table, flushed)
		if inWrite {
			err := s.Write(t.Context(), func(ctx context.Context, w *store.Writer) error {
				if err := s.Rollback(ctx, &c); err != nil {
					return err
				}
				_, err := table.Insert(w, item{}) // the Writer goes on
				table.Clear(w)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		} else {
			rollback(t, s, &c)
		}
		refused(t, table, q, "kept past its flush")
		if report := flush(t, s); report.Total != (batch.Counts{}) || report.Epoch != 1 || s.Epoch() != 1 {
			t.Errorf("after the rollback a flush reports %v", report)
		}
		// An epoch that was there before comes again, without the names it had.
		fill(t, s, other, 1)
		q = queues(t, s, 1)[0]
		if s.Epoch() != 2 {
			t.Errorf("the epoch is %d", s.Epoch())
		}
		for what, p := range map[string]store.Handle[item]{"flushed": flushed, "pending": pending} {
			if h, ok := table.Resolve(p); ok {
				t.Errorf("the name of a %s item resolves to %v", what, h)
			}
			table.Erase(q, p)
		}
		if report := flush(t, s); report.Total != (batch.Counts{Stale: 2}) {
			t.Errorf("names from before the rollback: %v", report)
		}
	}
}

func TestNamesOfTheFlushBeforeACheckpointResolveNoMoreAfterARollback(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	p := table.Emplace(queues(t, s, 1)[0], item{})
	flush(t, s)
	var c store.Checkpoint
	checkpoint(t, s, &c)
	resolve(t, table, p)
	rollback(t, s, &c)
	if h, ok := table.Resolve(p); ok {
		t.Errorf("%v resolves to %v", p, h)
	}
}

func TestACheckpointLeavesThePendingBatchAlone(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	q := queues(t, s, 1)[0]
	p := table.Emplace(q, item{})
	var c store.Checkpoint
	checkpoint(t, s, &c)
	table.Emplace(q, item{})
	if report := flush(t, s); report.Total.Created != 2 {
		t.Errorf("%v", report)
	}
	resolve(t, table, p)
	rollback(t, s, &c)
	if table.Len() != 0 {
		t.Errorf("the checkpoint has %d items", table.Len())
	}
}

func TestARollbackDropsCallsOfTheInboxAndChangeLists(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Changes: true})
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	hs := fill(t, s, table, 3)
	var c store.Checkpoint
	checkpoint(t, s, &c)
	q := queues(t, s, 1)[0]
	table.Erase(q, hs[0])
	table.Put(q, hs[1], item{})
	table.Emplace(q, item{})
	flush(t, s)
	err := s.Inbox(func(q store.Queue) error {
		table.Emplace(q, item{})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rollback(t, s, &c)
	if pending := s.Pending(); pending.Commands != 0 {
		t.Errorf("%+v wait for a flush", pending)
	}
	for range 2 { // the second time at the epoch that the lists were of
		for what, list := range map[string]itemSeq{"created": store.Created(table), "replaced": store.Replaced(table), "erased": store.Erased(table)} {
			for h, v := range list {
				t.Errorf("at epoch %d %v with %+v counts as %s", s.Epoch(), h, v, what)
			}
		}
		fill(t, s, other, 1)
	}
	if table.Len() != 3 {
		t.Errorf("%d items", table.Len())
	}
}

func TestStatsAreOfTheStateRolledBackTo(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 2})
	hs := fill(t, s, table, 9)
	table.EraseItems(queues(t, s, 1)[0], hs[:4])
	flush(t, s)
	want := s.Stats()
	var c store.Checkpoint
	checkpoint(t, s, &c)
	fill(t, s, table, 100)
	rollback(t, s, &c)
	got := s.Stats()
	got.Tables[0].Bytes = want.Tables[0].Bytes // rooms stay
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A history of checkpoints, gone back to in any order and more than once; some
// hold the state of others.
func TestCheckpointsAreIndependentOfEachOther(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{Workers: 3})
		table := registerKind(t, s, store.TableOptions[item]{Shards: 2}, stable)
		history := make([]store.Checkpoint, 6)
		digests := make([]uint64, len(history))
		for i := range history {
			table.EmplaceItems(queues(t, s, 1)[0], make([]item, 7*i), nil)
			flush(t, s)
			checkpoint(t, s, &history[i])
			digests[i] = digest(t, s)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 60 {
			i := r.IntN(len(history))
			rollback(t, s, &history[i])
			if digest(t, s) != digests[i] || s.Epoch() != uint64(i) {
				t.Fatalf("checkpoint %d holds another state, or epoch %d", i, s.Epoch())
			}
			if j := r.IntN(len(history)); r.IntN(4) == 0 && j != i && i != 0 {
				checkpoint(t, s, &history[j]) // of a state that was rolled back to
				digests[j] = digests[i]
				rollback(t, s, &history[j])
				if digest(t, s) != digests[i] || s.Epoch() != uint64(i) {
					t.Fatal("the checkpoint of a state rolled back to holds another one")
				}
				checkpoint(t, s, &history[i])
				return
			}
		}
	})
}

func TestItemsOfAStableTableAreAtTheirAddressesAfterARollback(t *testing.T) {
	for _, clone := range []func(dst, src *item){nil, func(dst, src *item) { *dst = *src }} {
		s, table := newStable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 3, Clone: clone})
		hs := fillStable(t, s, table, 5000)
		q := queues(t, s, 1)[0]
		table.EraseItems(q, hs[1000:2000])
		flush(t, s)
		addresses := maps.Collect(table.All())
		var c store.Checkpoint
		checkpoint(t, s, &c)
		for range 5 {
			fillStable(t, s, table, 3000)
			q := queues(t, s, 1)[0]
			for _, h := range hs[2000:] {
				if h.ID.Slot()%64 != 0 { // some stay on every page
					table.Erase(q, h)
				}
			}
			flush(t, s)
			err := s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
				for _, m := range store.StableMaps(table, w) {
					m.Shrink()
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			rollback(t, s, &c)
			for h, v := range table.All() {
				if addresses[h] != v {
					t.Fatalf("%v was at %p and is at %p", h, addresses[h], v)
				}
			}
			if table.Len() != len(addresses) {
				t.Fatalf("%d items of %d", table.Len(), len(addresses))
			}
		}
	}
}

func TestATableRegisteredWhenCheckpointsExistIsInLaterOnes(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 3)
	var c store.Checkpoint
	checkpoint(t, s, &c)
	late := register(t, s, store.TableOptions[item]{Name: "late", Shards: 2})
	fill(t, s, late, 5)
	before := digest(t, s)
	if err := s.Rollback(t.Context(), &c); !errors.Is(err, store.ErrCheckpoint) || digest(t, s) != before || s.Epoch() != 2 {
		t.Errorf("Rollback to a checkpoint without one of the tables: %v", err)
	}
	checkpoint(t, s, &c)
	fill(t, s, late, 5)
	rollback(t, s, &c)
	if digest(t, s) != before || late.Len() != 5 {
		t.Errorf("the later table has %d items", late.Len())
	}
}

func TestSteadyCheckpointsAndRollbacksAllocateNothingThatGrows(t *testing.T) {
	if check.Full {
		t.Skip("a checked build allocates")
	}
	if raceDetector {
		t.Log("the race detector empties pools at random; nothing to measure")
		return
	}
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, items := range []int{500, 20_000} {
			s := newStore(t, store.Options{Workers: 1})
			frame := steady(t, s, items, stable)
			var c store.Checkpoint
			n := allocations(t.Context(), func(ctx context.Context) {
				checkpoint(t, s, &c)
				frame(ctx)
				if err := s.Rollback(ctx, &c); err != nil {
					t.Error(err)
				}
			})
			if n > frameCount*(phasesInFrame+2)+slack {
				t.Errorf("%d rounds over %d items allocate %d objects", frameCount, items, n)
			}
		}
	})
}

func TestReadersGoOnBetweenCheckpointsAndRollbacks(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 2})
	hs := fill(t, s, table, 500)
	stop := make(chan struct{})
	reader := begin(func() error {
		for {
			select {
			case <-stop:
				return nil
			default:
			}
			err := s.Read(context.Background(), func(ctx context.Context) error { return look(ctx, t, s, table, hs) })
			if err != nil {
				return err
			}
			s.Stats()
			s.Epoch()
		}
	})
	var c store.Checkpoint
	for range 50 {
		checkpoint(t, s, &c)
		table.EmplaceItems(queues(t, s, 1)[0], make([]item, 10), nil)
		flush(t, s)
		if err := s.Rollback(t.Context(), &c); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := reader.result(); err != nil {
		t.Error(err)
	}
	if table.Len() != 500 {
		t.Errorf("%d items", table.Len())
	}
}
