package store_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

func TestReduce_StopsWhenItsContextEnds(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{ChunkItems: 1})
	fill(t, s, table, 10)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	ran := 0
	got, err := store.Reduce(ctx, table, func(store.Chunk[item]) int {
		if ran++; ran == 3 {
			cancel(cause)
		}
		return 1
	}, addInt)
	if got != 0 || !errors.Is(err, cause) || ran != 3 {
		t.Errorf("%d, %v after %d chunks", got, err, ran)
	}
}

func TestReduce_ReturnsPanicOfLowestChunk(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 4}, store.TableOptions[item]{ChunkItems: 1})
	fill(t, s, table, 10)
	failures := []any{2: "two", 3: "three", 9: "nine"}
	for range 100 {
		got, err := store.Reduce(t.Context(), table, func(r store.Chunk[item]) int {
			if r.Index < len(failures) && failures[r.Index] != nil {
				panic(failures[r.Index])
			}
			return 1
		}, addInt)
		if p, ok := errors.AsType[*store.PanicError](err); got != 0 || !ok || p.Value != "two" {
			t.Fatalf("%d, %v", got, err)
		}
	}
}

// A Reduce over fewer chunks than the previous one combines its own results only, in order.
func TestReduce_CombinesEachChunkOnce(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{ChunkItems: 1})
	hs, order := fill(t, s, table, 30), "0123456789abcdefghijklmnopqrst"
	for n := 30; n > 0; n -= 5 {
		combined := 1
		got, err := store.Reduce(t.Context(), table, func(r store.Chunk[item]) string { return order[r.Index:][:1] },
			func(a, b string) string { combined++; return a + b })
		if err != nil || got != order[:n] || combined != n {
			t.Errorf("of %d chunks, got %d combined, %q, %v", n, combined, got, err)
		}
		q := queues(t, s, 1)[0]
		for _, h := range hs[n-5 : n] {
			table.Erase(q, h)
		}
		flush(t, s)
	}
}

// A Reduce in a task is part of the pass, at any depth.
func TestReduce_InsideATaskRunsOnItsGoroutine(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 4}, store.TableOptions[item]{ChunkItems: 1})
	other := register(t, s, store.TableOptions[item]{Name: "other", ChunkItems: 1})
	fill(t, s, table, 30)
	fill(t, s, other, 2)
	var within func(q store.Queue, depth int)
	within = func(q store.Queue, depth int) {
		task := check.Goroutine()
		q.Fail(onlyError(store.Reduce(q.Context(), table, func(r store.Chunk[item]) int {
			equal(t, "the goroutine of the task", check.Goroutine(), task)
			runtime.Gosched()
			if depth < 2 && r.Index == 0 {
				within(q, depth+1)
			}
			return 0
		}, addInt)))
	}
	inEach := func(ctx context.Context) error {
		return s.Each(ctx, 2, func(_ int, q store.Queue) { within(q, 0) })
	}
	inForEach := func(ctx context.Context) error {
		return other.ForEach(ctx, func(c store.Chunk[item]) { within(c.Queue, 0) })
	}
	for name, pass := range map[string]func(ctx context.Context) error{"Each": inEach, "ForEach": inForEach} {
		inWrite := func(ctx context.Context) error {
			return onlyError(s.Frame(ctx, func(ctx context.Context, _ *store.Writer) error { return pass(ctx) }))
		}
		wantError(t, name, errors.Join(pass(t.Context()), inWrite(t.Context())), nil)
	}
}
