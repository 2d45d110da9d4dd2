package store_test

import (
	"context"
	"errors"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

// withItems makes a table with items of the values 0 to n-1, and their handles.
func withItems(t tb, stable bool, o store.Options, to store.TableOptions[item], n int) (*store.Store, itemTable, []store.Handle[item]) {
	t.Helper()
	s := newStore(t, o)
	table := registerKind(t, s, to, stable)
	q := queues(t, s, 1)[0]
	var hs []store.Handle[item]
	for i := range n {
		hs = append(hs, table.Emplace(q, item{Value: uint64(i)}))
	}
	flush(t, s)
	for i, p := range hs {
		hs[i] = resolve(t, table, p)
	}
	return s, table, hs
}

func TestEraseAllErasesWhatLivesAndCountsIt(t *testing.T) {
	for _, c := range []struct {
		name   string
		record func(table itemTable, q store.Queue, hs []store.Handle[item])
		want   batch.Counts
		left   []uint64
	}{
		{"alone", func(table itemTable, q store.Queue, _ []store.Handle[item]) { table.EraseAll(q) }, batch.Counts{Erased: 10}, nil},
		{"twice", func(table itemTable, q store.Queue, _ []store.Handle[item]) {
			table.EraseAll(q)
			table.EraseAll(q)
		}, batch.Counts{Erased: 10, Redundant: 1}, nil},
		{"with erases", func(table itemTable, q store.Queue, hs []store.Handle[item]) {
			table.Erase(q, hs[3])
			table.EraseAll(q)
			table.EraseItems(q, []store.Handle[item]{hs[3], hs[4], {}})
		}, batch.Counts{Erased: 10, Redundant: 3, Stale: 1}, nil},
		{"with puts", func(table itemTable, q store.Queue, hs []store.Handle[item]) {
			table.Put(q, hs[3], item{Value: 30})
			table.EraseAll(q)
			table.Put(q, hs[3], item{Value: 31})
			table.Put(q, store.Handle[item]{}, item{})
		}, batch.Counts{Erased: 10, Dropped: 2, Stale: 1}, nil},
		{"with creates", func(table itemTable, q store.Queue, _ []store.Handle[item]) {
			table.Emplace(q, item{Value: 100})
			table.EraseAll(q)
			table.Put(q, table.Emplace(q, item{}), item{Value: 101})
			table.Erase(q, table.Emplace(q, item{}))
		}, batch.Counts{Created: 2, Erased: 10, Put: 1, CancelledOut: 2}, []uint64{100, 101}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, stable bool) {
				s, table, hs := withItems(t, stable, store.Options{}, store.TableOptions[item]{}, 10)
				c.record(table, queues(t, s, 1)[0], hs)
				if report := flush(t, s); report.Total != c.want {
					t.Errorf("%v, want %v", report.Total, c.want)
				}
				var left []uint64
				for _, v := range table.All() {
					left = append(left, v.Value)
				}
				if len(left) != len(c.left) || len(left) > 0 && (left[0] != c.left[0] || left[1] != c.left[1]) {
					t.Errorf("the items left are %v, want %v", left, c.left)
				}
				for _, h := range hs {
					if table.Has(h) {
						t.Errorf("%v lives", h)
					}
				}
			})
		})
	}
}

// There is nothing to count, but the flush was one with commands.
func TestEraseAllOfAnEmptyTableCountsNothing(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s, table, _ := withItems(t, stable, store.Options{}, store.TableOptions[item]{Shards: 3}, 0)
		table.EraseAll(queues(t, s, 1)[0])
		if n := s.Pending().Commands; n != 1 {
			t.Errorf("%d commands are pending", n)
		}
		if report := flush(t, s); report.Total != (batch.Counts{}) || report.Epoch != 1 || len(report.Tables) != 1 {
			t.Errorf("%v", report)
		}
	})
}

// EraseAll is short for erases of all items: state, lists, names and what comes after are
// the same, in tables of any kind and while slots are depleted.
func TestEraseAllIsErasesOfAllItems(t *testing.T) {
	for _, narrow := range []bool{false, true} {
		bothKinds(t, func(t *testing.T, stable bool) {
			if narrow {
				setWidths(t, 3, 300)
			}
			var digests [2][]uint64
			for all := range 2 {
				s, table, _ := withItems(t, stable, store.Options{}, store.TableOptions[item]{Shards: 3, MinFree: 2, Changes: true}, 150)
				for round := range 4 {
					var hs []store.Handle[item]
					for h := range table.All() {
						hs = append(hs, h)
					}
					q := queues(t, s, 1)[0]
					for i := range 60 + round {
						table.Emplace(q, item{Value: uint64(i)})
					}
					if round%2 == 0 { // gaps, and slots of many generations
						table.EraseItems(q, hs[len(hs)/3:len(hs)/2])
					} else if all == 1 {
						table.EraseAll(q)
					} else {
						table.EraseItems(q, hs)
					}
					flush(t, s)
					digests[all] = append(digests[all], digest(t, s))
					for _, c := range changesOf(table).erased {
						digests[all] = append(digests[all], uint64(c.id), c.value.Value)
					}
				}
			}
			if len(digests[0]) != len(digests[1]) {
				t.Fatalf("%d and %d digests", len(digests[0]), len(digests[1]))
			}
			for i := range digests[0] {
				if digests[0][i] != digests[1][i] {
					t.Fatalf("the %d-th is %x with erases, %x with EraseAll", i, digests[0][i], digests[1][i])
				}
			}
		})
	}
}

// It erases what lives when the flush begins, not when it was recorded; a Discard or a
// pass that fails forgets it.
func TestEraseAllIsARecordedCommand(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s, table, _ := withItems(t, stable, store.Options{}, store.TableOptions[item]{}, 10)
		table.EraseAll(queues(t, s, 1)[0])
		if err := s.Discard(); err != nil {
			t.Fatal(err)
		}
		err := s.Each(t.Context(), 1, func(_ context.Context, _ int, q store.Queue) error {
			table.EraseAll(q)
			return errTask
		})
		if !errors.Is(err, errTask) {
			t.Errorf("%v", err)
		}
		if report := flush(t, s); report.Total.Commands() != 0 || table.Len() != 10 {
			t.Errorf("%v", report)
		}
		send(t, s, func(q store.Queue) { table.EraseAll(q) })
		write(t, s, func(_ context.Context, w *store.Writer) error {
			_, err := table.Insert(w, item{})
			return err
		})
		if report := flush(t, s); report.Total != (batch.Counts{Erased: 11}) {
			t.Errorf("%v", report)
		}
	})
}

func TestEraseAllCountsForTheLimitOfAQueue(t *testing.T) {
	s, table, _ := withItems(t, false, store.Options{QueueLimit: 3}, store.TableOptions[item]{}, 2)
	for n := range 6 {
		err := s.Each(t.Context(), 1, func(_ context.Context, _ int, q store.Queue) error {
			for range n {
				table.EraseAll(q)
			}
			return nil
		})
		if errors.Is(err, store.ErrQueueFull) != (n > 3) {
			t.Errorf("%d commands in a queue of 3: %v", n, err)
		}
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
}

// Only what the table's system says may be erased.
func TestEraseAllIsSomethingToEmit(t *testing.T) {
	if !check.Cheap {
		t.Skip("a normal build does not look")
	}
	s, table, _ := withItems(t, false, store.Options{}, store.TableOptions[item]{}, 2)
	frame := newSchedule(t, s, store.System{Name: "it", Reads: on(table), Run: func(ctx context.Context) error {
		return s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			table.EraseAll(q)
			return nil
		})
	}})
	if _, err := frame.Run(t.Context()); !errors.Is(err, store.ErrUndeclared) {
		t.Errorf("%v", err)
	}
}

func TestEraseAllIsTheSameEverywhere(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		sameEverywhere(t, store.Options{}, func(r *trial) {
			table := registerKind(r, r.Store, store.TableOptions[item]{Shards: 5, Changes: true}, stable)
			for round := range 6 {
				err := r.Each(r.ctx, 8, func(_ context.Context, task int, q store.Queue) error {
					table.EmplaceItems(q, make([]item, 3*task), nil)
					if round%2 == 1 && task%3 == 0 {
						table.EraseAll(q)
					}
					return nil
				})
				if err != nil {
					r.Fatal(err)
				}
				r.flush()
			}
		})
	})
}

func TestEraseAllAllocatesNothingInTheSteadyState(t *testing.T) {
	if check.Full || raceDetector {
		t.Skip("checks allocate, and so does the race detector")
	}
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
	values := make([]item, 1000)
	names := make([]store.Handle[item], 0, 1000)
	tick := func(record func(q store.Queue)) func() {
		return func() {
			_ = s.Each(context.Background(), 1, func(_ context.Context, _ int, q store.Queue) error {
				record(q)
				return nil
			})
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
	if without := testing.AllocsPerRun(100, tick(func(q store.Queue) { q.Erase(0) })); with > without {
		t.Errorf("a tick allocates %v objects, one that does nothing %v", with, without)
	}
}
