package store_test

import (
	"context"
	"fmt"
	"testing"

	"handloom/store"
)

// BenchmarkFrame measures a frame that replaces a table: flushes of equal size erase and
// create 16,384 items together. A further flush of a frame has to know what those before
// it did only where changes are kept.
func BenchmarkFrame(b *testing.B) {
	const items = 1 << 14
	for _, changes := range []bool{false, true} {
		for _, flushes := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("op=frame/n=%d/flushes=%d/changes=%t/workers=1", items, flushes, changes), func(b *testing.B) {
				s, table := newTable(b, store.Options{Workers: 1}, store.TableOptions[item]{Changes: changes})
				n := items / flushes
				values := make([]item, n)
				hs := fill(b, s, table, items)
				frame := func(ctx context.Context, _ *store.Writer) error {
					for i := range flushes {
						mine := hs[i*n : (i+1)*n]
						err := s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
							table.EraseItems(q, mine)
							table.EmplaceItems(q, values, mine[:0])
							return nil
						})
						if err != nil {
							return err
						}
						if _, err := s.Flush(ctx); err != nil {
							return err
						}
						for k, p := range mine {
							mine[k], _ = table.Resolve(p)
						}
					}
					return nil
				}
				b.ReportAllocs()
				for b.Loop() {
					noError(b, s.Write(b.Context(), frame))
				}
			})
		}
	}
}
