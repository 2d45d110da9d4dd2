package world_test

import (
	"context"
	"flag"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

var costState = flag.Int("coststate", 0, "MB of state of the world that TestCost measures")

// TestCost measures the bytes that a world writes:
//
//	go test ./world -run TestCost -v -coststate 100
func TestCost(t *testing.T) {
	if *costState == 0 {
		t.Skip("-coststate is 0")
	}
	type blob [1000]byte
	s := store.New(store.Options{})
	blobs := store.Register(s, store.TableOptions[blob]{Name: "blob", Shards: 8})
	var all []store.Handle[blob]
	j, err := journal.Open(t.TempDir(), journal.Options{})
	noError(t, err)
	var records, saves atomic.Int64 // bytes and snapshots
	var took time.Duration
	m := &faulty{Log: j, append: func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
		records.Add(int64(len(rec)))
		return j.Append(ctx, prev, rec)
	}, save: func(ctx context.Context, at uint64, write func(io.Writer) error) error {
		begun := time.Now()
		err := j.Save(ctx, at, write)
		took = time.Since(begun)
		saves.Add(1)
		return err
	}}
	w, err := world.Open(t.Context(), s, m, world.Options{
		Hz: 60,
		Init: func(_ context.Context, w *store.Writer) error {
			for range *costState * 1000 {
				all = append(all, blobs.Insert(w, blob{}))
			}
			return nil
		},
		Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) error { return errorOf(s.Flush(ctx)) },
	})
	noError(t, err)
	r := runWorld(nil, w)
	records.Store(0)
	saves.Store(0)
	time.Sleep(time.Minute)
	t.Logf("idle for 60 s: %d bytes of records, %d snapshots, tick %d", records.Load(), saves.Load(), w.Status().Tick)
	failIf(t, saves.Load() > 0 || records.Load() > 1<<20, "%d bytes of records, want at most 1 MiB", records.Load())

	records.Store(0)
	for n := 0; saves.Load() < 4; n += 100 { // 1 % of the items change
		noError(t, errorOf(w.Submit(t.Context(), func(q store.Queue) error {
			for i := range 100 {
				blobs.Put(q, all[(n+i)%(len(all)/100)], blob{byte(n)})
			}
			return nil
		})))
	}
	status := w.Status()
	r.end(t)
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	runtime.KeepAlive(w)
	runtime.KeepAlive(all)
	total := records.Load() + 4*status.SavedBytes
	t.Logf("busy: %d bytes of records, 4 snapshots of %d bytes, %.2f times the records", records.Load(), status.SavedBytes, float64(total)/float64(records.Load()))
	disk, err := j.DiskBytes()
	noError(t, err)
	t.Logf("disk use %d bytes, live heap %d bytes, %d bytes from the system, the last save took %v", disk, memory.HeapAlloc, memory.Sys, took)
	failIf(t, total > 4*records.Load(), "records and snapshots are %d bytes, want at most 4 times the records", total)
	noError(t, j.Close())
}
