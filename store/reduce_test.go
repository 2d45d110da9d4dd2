package store_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

func TestAFloatingPointSumDoesNotDependOnWorkers(t *testing.T) {
	var want uint64
	for i, c := range append([]config{alone}, configs()...) {
		c.run(t, store.Options{}, func(r *trial) {
			table := register(r, r.Store, store.TableOptions[float64]{Shards: 3, ChunkItems: 7})
			q := queues(r, r.Store, 1)[0]
			for n := range 1000 {
				table.Emplace(q, math.Pow(-1.7, float64(n%60)))
			}
			r.flush()
			got, err := store.Reduce(r.ctx, table, func(_ context.Context, rows store.Rows[float64]) (sum float64, err error) {
				for _, v := range rows.Items {
					sum += v
				}
				return sum, nil
			}, func(a, b float64) float64 { return a + b })
			if err != nil {
				r.Fatal(err)
			}
			if i == 0 {
				want = math.Float64bits(got)
			}
			if math.Float64bits(got) != want {
				r.Errorf("%v: %x, want %x", c, math.Float64bits(got), want)
			}
		})
	}
}

func TestReduceCombinesInTheOrderOfChunks(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 4}, store.TableOptions[item]{Shards: 2, ChunkItems: 3})
	fill(t, s, table, 20)
	var want []store.ID
	for h := range table.All() {
		want = append(want, h.ID)
	}
	got, err := store.Reduce(t.Context(), table, func(_ context.Context, r store.Rows[item]) (ids []store.ID, err error) {
		for i := range r.Items {
			ids = append(ids, r.Handle(i).ID)
		}
		if len(r.Items) > 3 || r.Index > 7 || cap(r.Items) != len(r.Items) {
			t.Errorf("rows %d: %d of capacity %d", r.Index, len(r.Items), cap(r.Items))
		}
		return ids, nil
	}, func(a, b []store.ID) []store.ID { return append(a[:len(a):len(a)], b...) })
	if err != nil || len(got) != 20 {
		t.Fatalf("%d handles, %v", len(got), err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

func TestReduceOfAnEmptyTableIsZero(t *testing.T) {
	_, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 3})
	if got, err := sum(t.Context(), table); got != 0 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
}

func TestReduceStopsBetweenChunksWhenItsContextEnds(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{ChunkItems: 1})
	fill(t, s, table, 10)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	ran := 0
	got, err := store.Reduce(ctx, table, func(context.Context, store.Rows[item]) (int, error) {
		if ran++; ran == 3 {
			cancel(cause)
		}
		return 1, nil
	}, func(a, b int) int { return a + b })
	if got != 0 || !errors.Is(err, cause) || ran != 3 {
		t.Errorf("%d, %v after %d chunks", got, err, ran)
	}
}

func TestReduceReturnsTheErrorOfTheLowestChunk(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 4}, store.TableOptions[item]{ChunkItems: 1})
	fill(t, s, table, 10)
	failures := []error{2: errors.New("two"), 3: errors.New("three"), 9: errors.New("nine")}
	for range 100 {
		got, err := store.Reduce(t.Context(), table, func(_ context.Context, r store.Rows[item]) (int, error) {
			return 1, failures[r.Index]
		}, func(a, b int) int { return a + b })
		if got != 0 || err == nil || err.Error() != "two" {
			t.Fatalf("%d, %v", got, err)
		}
	}
}

// The workers are busy with the pass, which a Reduce in one of its tasks is part of,
// however deep.
func TestAReduceInsideATaskRunsOnTheGoroutineOfTheTask(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 4}, store.TableOptions[item]{ChunkItems: 1})
	other := register(t, s, store.TableOptions[item]{Name: "other", ChunkItems: 1})
	fill(t, s, table, 30)
	fill(t, s, other, 2)
	var within func(ctx context.Context, depth int) error
	within = func(ctx context.Context, depth int) error {
		task := check.Goroutine()
		_, err := store.Reduce(ctx, table, func(ctx context.Context, r store.Rows[item]) (int, error) {
			if runs := check.Goroutine(); runs != task {
				t.Errorf("at depth %d the task of goroutine %d is helped by goroutine %d", depth, task, runs)
			}
			runtime.Gosched()
			if depth < 2 && r.Index == 0 {
				return 0, within(ctx, depth+1)
			}
			return 0, nil
		}, addInt)
		return err
	}
	inEach := func(ctx context.Context) error {
		return s.Each(ctx, 2, func(ctx context.Context, _ int, _ store.Queue) error { return within(ctx, 0) })
	}
	inForEach := func(ctx context.Context) error {
		return other.ForEach(ctx, func(ctx context.Context, _ store.Chunk[item]) error { return within(ctx, 0) })
	}
	inReduce := func(ctx context.Context) error {
		_, err := store.Reduce(ctx, other, func(ctx context.Context, _ store.Rows[item]) (int, error) { return 0, within(ctx, 0) }, addInt)
		return err
	}
	for name, pass := range map[string]func(ctx context.Context) error{"Each": inEach, "ForEach": inForEach, "Reduce": inReduce} {
		inRead := func(ctx context.Context) error { return s.Read(ctx, inReduce) }
		inWrite := func(ctx context.Context) error {
			return s.Write(ctx, func(ctx context.Context, _ *store.Writer) error { return pass(ctx) })
		}
		if err := errors.Join(pass(t.Context()), inRead(t.Context()), inWrite(t.Context())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAResultOfReduceIsNotChangedByTheNext(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{ChunkItems: 4})
	fill(t, s, table, 40)
	values := func() ([]uint64, error) {
		return store.Reduce(t.Context(), table, func(_ context.Context, r store.Rows[item]) (vs []uint64, err error) {
			for i := range r.Items {
				vs = append(vs, r.Items[i].Value)
			}
			return vs, nil
		}, func(a, b []uint64) []uint64 { return append(a, b...) })
	}
	first, err := values()
	again, err2 := values()
	if err := errors.Join(err, err2); err != nil || len(first) != 40 || len(again) != 40 {
		t.Fatal(err, first, again)
	}
	for i := range first {
		if first[i] != again[i] {
			t.Fatalf("%v, then %v", first, again)
		}
	}
}
