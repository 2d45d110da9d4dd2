package bench

import (
	"context"
	"fmt"
	"testing"

	"handloom/store"
)

type particle struct {
	v uint64
	_ [3]uint64
}

func newTable(b *testing.B, workers, shards int) (*store.Store, *store.Table[particle]) {
	b.Helper()
	s, err := store.New(store.Options{Workers: workers})
	if err != nil {
		b.Fatal(err)
	}
	t, err := store.Register(s, store.TableOptions[particle]{Shards: shards})
	if err != nil {
		b.Fatal(err)
	}
	return s, t
}

// BenchmarkRecord measures what recording one command costs, in the steady
// state: the batch is discarded after each pass.
func BenchmarkRecord(b *testing.B) {
	const n = 100_000
	record := func(op string, f func(t *store.Table[particle], q store.Queue, hs []store.Handle[particle])) {
		b.Run("op=record/kind="+op, func(b *testing.B) {
			s, t := newTable(b, 1, 8)
			hs := make([]store.Handle[particle], n)
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				_ = s.Each(ctx, 1, func(ctx context.Context, task int, q store.Queue) error {
					f(t, q, hs)
					return nil
				})
				b.StopTimer()
				_ = s.Discard()
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/item")
		})
	}
	record("emplace", func(t *store.Table[particle], q store.Queue, hs []store.Handle[particle]) {
		for i := range hs {
			hs[i] = t.Emplace(q, particle{v: uint64(i)})
		}
	})
	record("erase", func(t *store.Table[particle], q store.Queue, hs []store.Handle[particle]) {
		for i := range hs {
			t.Erase(q, hs[i])
		}
	})
}

// BenchmarkFlush measures a flush of half creates and half erases over 8 shards.
func BenchmarkFlush(b *testing.B) {
	const n = 1_000_000
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("op=flush/n=%d/workers=%d", n, workers), func(b *testing.B) {
			s, t := newTable(b, workers, 8)
			_ = s.Team(b.Context(), func(ctx context.Context) error {
				fill := func(ctx context.Context, task int, q store.Queue) error {
					for i := range n / 2 / 8 {
						t.Emplace(q, particle{v: uint64(i)})
					}
					return nil
				}
				_ = s.Each(ctx, 8, fill)
				_, _ = s.Flush(ctx)
				for b.Loop() {
					b.StopTimer()
					_ = t.ForEach(ctx, func(ctx context.Context, c store.Chunk[particle]) error {
						for i := range c.Items {
							c.Erase(i)
						}
						return nil
					})
					_ = s.Each(ctx, 8, fill)
					b.StartTimer()
					_, _ = s.Flush(ctx)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/item")
				return nil
			})
		})
	}
}

// BenchmarkPass measures an empty pass over a small table.
func BenchmarkPass(b *testing.B) {
	b.Run("op=pass/n=10", func(b *testing.B) {
		s, t := newTable(b, 2, 1)
		ctx := b.Context()
		_ = s.Each(ctx, 1, func(ctx context.Context, task int, q store.Queue) error {
			for range 10 {
				t.Emplace(q, particle{})
			}
			return nil
		})
		_, _ = s.Flush(ctx)
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			_ = t.ForEach(ctx, func(ctx context.Context, c store.Chunk[particle]) error { return nil })
			if i++; i%1000 == 0 {
				_, _ = s.Flush(ctx)
			}
		}
	})
}
