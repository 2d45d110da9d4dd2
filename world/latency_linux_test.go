package world_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

var latency = flag.Bool("latency", false, "compare Submit without Hz to a loop of appends to a file")

// TestLatency_OfSubmit reports the latency and the rate of Submit on a journal with Hz 0, next to
// a loop of writes of 256 bytes, each with fdatasync, in turn:
//
//	go test ./world -run Latency -latency -v
func TestLatency_OfSubmit(t *testing.T) {
	if !*latency {
		t.Skip("needs -latency")
	}
	const turn = 2 * time.Second
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "plain"))
	noError(t, err)
	defer file.Close()
	noError(t, errorOf(file.Write(make([]byte, 64<<20))))
	noError(t, file.Sync())
	noError(t, errorOf(file.Seek(0, 0)))
	record := make([]byte, 256)
	j, err := journal.Open(filepath.Join(dir, "log"), journal.Options{})
	noError(t, err)
	s, marks, o := marking(t)
	o.Hz, o.Shadow, o.DigestTicks, o.SnapshotTicks = 0, 0, 0, 0
	tick := o.Tick
	o.Tick = func(ctx context.Context, writer *store.Writer, n world.Tick) error {
		marks.Clear(writer)
		return tick(ctx, writer, n)
	}
	w, err := world.Open(t.Context(), s, j, o)
	noError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	call := func() error {
		return errorOf(w.Submit(ctx, func(q store.Queue) error {
			marks.Emplace(q, mark{1})
			return nil
		}))
	}
	plain := func() error { return errors.Join(errorOf(file.Write(record)), syscall.Fdatasync(int(file.Fd()))) }
	for range 5 {
		alone := callers(t, 1, turn, plain)
		many := callers(t, 1000, turn, call)
		both := callers(t, 1, turn, plain, call)
		t.Logf("plain loop %.0f/s; 1,000 clients %.0f/s, %.1f times as many; one client %v, plain %v, %.2f times as long",
			alone.rate, many.rate, many.rate/alone.rate, both.medians[1], both.medians[0], float64(both.medians[1])/float64(both.medians[0]))
	}
	stop()
	<-ended
	mustClose(t, w)
	noError(t, j.Close())
}

type measured struct {
	medians []time.Duration // of each call
	rate    float64         // per second
}

// callers runs calls in turn in n goroutines.
func callers(t *testing.T, n int, d time.Duration, calls ...func() error) (m measured) {
	var group sync.WaitGroup
	var mutex sync.Mutex
	all, count := make([][]time.Duration, len(calls)), 0
	begun := time.Now()
	for range n {
		group.Go(func() {
			took := make([][]time.Duration, len(calls))
			for time.Since(begun) < d {
				for i, call := range calls {
					begun := time.Now()
					if err := call(); err != nil {
						t.Error(err)
						return
					}
					took[i] = append(took[i], time.Since(begun))
				}
			}
			mutex.Lock()
			defer mutex.Unlock()
			for i := range calls {
				all[i] = append(all[i], took[i]...)
				count += len(took[i])
			}
		})
	}
	group.Wait()
	m.rate = float64(count) / time.Since(begun).Seconds()
	for _, a := range all {
		slices.Sort(a)
		m.medians = append(m.medians, a[len(a)/2])
	}
	return m
}
