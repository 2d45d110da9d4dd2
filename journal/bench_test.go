package journal_test

import (
	"context"
	"fmt"
	"testing"

	"handloom/journal"
)

// BenchmarkAppend is what a tick waits for its record.
func BenchmarkAppend(b *testing.B) {
	for _, sync := range []struct {
		name string
		sync journal.Sync
	}{{"always", journal.Always}, {"never", journal.Never}} {
		for _, size := range []int{1 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("op=append/sync=%s/size=%d", sync.name, size), func(b *testing.B) {
				j, err := journal.Open(b.TempDir(), journal.Options{Sync: sync.sync})
				if err != nil {
					b.Fatal(err)
				}
				defer j.Close()
				rec := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				var at uint64
				for b.Loop() {
					if at, err = j.Append(context.Background(), at, rec); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
