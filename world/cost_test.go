package world_test

import (
	"context"
	"errors"
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

// A meter counts the bytes that a world gives to its log.
type meter struct {
	world.Log
	records, snapshots int64 // bytes
	pages              int64 // of 4 KiB, at least one for each record
	saves              atomic.Int64
}

func (m *meter) Append(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
	m.records += int64(len(rec))
	m.pages += int64(len(rec)/4096 + 1)
	return m.Log.Append(ctx, prev, rec)
}

func (m *meter) Save(ctx context.Context, at uint64, write func(w io.Writer) error) error {
	err := m.Log.Save(ctx, at, func(w io.Writer) error { return write(io.MultiWriter(w, m)) })
	m.saves.Add(1)
	return err
}

func (m *meter) Write(b []byte) (int, error) {
	m.snapshots += int64(len(b))
	return len(b), nil
}

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
	log, err := journal.Open(t.TempDir(), journal.Options{})
	noError(t, err)
	m := &meter{Log: log}
	w, err := world.Open(t.Context(), s, m, world.Options{
		Hz: 60,
		Init: func(_ context.Context, w *store.Writer) error {
			for range *costState * 1000 {
				all = append(all, blobs.Insert(w, blob{}))
			}
			return nil
		},
		Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
			_, err := s.Flush(ctx)
			return err
		},
	})
	noError(t, err)
	m.records, m.pages = 0, 0
	m.saves.Store(0)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if err := w.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	t.Logf("idle for 60 s: %d bytes of records on %d pages, %d snapshots, tick %d", m.records, m.pages, m.saves.Load(), w.Status().Tick)
	failIf(t, m.saves.Load() > 0 || m.pages*4096 > 1<<20, "%d pages written, want at most 1 MiB", m.pages)

	m.records, m.snapshots = 0, 0
	ctx, stop = context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- w.Run(ctx) }()
	for n := 0; m.saves.Load() < 4; n += 100 { // 1 % of the items change
		_, err := w.Submit(t.Context(), func(q store.Queue) error {
			for i := range 100 {
				blobs.Put(q, all[(n+i)%(len(all)/100)], blob{byte(n)})
			}
			return nil
		})
		noError(t, err)
	}
	stop()
	<-ran
	status := w.Status()
	crash(t, w)
	var memory, live runtime.MemStats
	runtime.ReadMemStats(&memory)
	runtime.GC()
	runtime.ReadMemStats(&live)
	runtime.KeepAlive(w)
	runtime.KeepAlive(all)
	total := m.records + m.snapshots
	t.Logf("busy: %d bytes of records, %d snapshots of %d bytes, %.2f times the records", m.records, m.saves.Load(), status.SavedBytes, float64(total)/float64(m.records))
	disk, err := log.DiskBytes()
	noError(t, err)
	t.Logf("disk use %d bytes, live heap %d bytes, %d bytes from the system", disk, live.HeapAlloc, memory.Sys)
	failIf(t, total > 4*m.records, "records and snapshots are %d bytes, want at most 4 times the records", total)
	mustCloseJournal(t, log)
}
