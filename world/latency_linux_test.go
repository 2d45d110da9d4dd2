package world_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// BenchmarkSubmit measures calls on a journal, without Hz. Calls of one client
// alternate with writes of 256 bytes, each with fdatasync:
//
//	go test ./world -run - -bench Submit
func BenchmarkSubmit(b *testing.B) {
	dir, record := b.TempDir(), make([]byte, 256)
	file, err := os.Create(filepath.Join(dir, "plain"))
	noError(b, err)
	defer file.Close()
	noError(b, errorOf(file.Write(make([]byte, 64<<20))))
	noError(b, file.Sync())
	noError(b, errorOf(file.Seek(0, 0)))
	j, err := journal.Open(filepath.Join(dir, "log"), journal.Options{})
	noError(b, err)
	s, marks, o := marking(b)
	o.Hz, o.Shadow, o.DigestTicks, o.SnapshotTicks = 0, 0, 0, 0
	tick := o.Tick
	o.Tick = func(ctx context.Context, writer *store.Writer, n world.Tick) error {
		marks.Clear(writer)
		return tick(ctx, writer, n)
	}
	w, err := world.Open(b.Context(), s, j, o)
	noError(b, err)
	r := runWorld(nil, w)
	call := func() error {
		return errorOf(w.Submit(b.Context(), func(q store.Queue) error {
			marks.Emplace(q, mark{1})
			return nil
		}))
	}
	b.Run("clients=1", func(b *testing.B) {
		var plain, calls time.Duration
		for b.Loop() {
			begun := time.Now()
			noError(b, errors.Join(errorOf(file.Write(record)), syscall.Fdatasync(int(file.Fd()))))
			written := time.Now()
			noError(b, call())
			plain, calls = plain+written.Sub(begun), calls+time.Since(written)
		}
		b.ReportMetric(float64(calls)/float64(plain), "calls/plain")
	})
	b.Run("clients=1000", func(b *testing.B) {
		b.SetParallelism(1000)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := call(); err != nil {
					b.Error(err)
				}
			}
		})
	})
	r.end(b)
	noError(b, j.Close())
}
