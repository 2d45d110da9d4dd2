package scenario

import (
	"context"
	"errors"
	"sync"
	"time"

	"handloom/internal/histogram"
)

const (
	lookups  = 500 // of one Read
	readRest = time.Millisecond
)

// readers are goroutines that look items up beside the ticks, as an inspector or
// a server's handlers do. What they find decides nothing.
type readers struct {
	end  context.CancelFunc
	done sync.WaitGroup

	lock  sync.Mutex
	times histogram.Histogram // of a Read, its wait at the gate included
	err   error
}

// startReaders starts n of them; stop ends them.
func startReaders(ctx context.Context, w *world, n int) *readers {
	ctx, end := context.WithCancel(ctx)
	r := &readers{end: end}
	for i := range n {
		r.done.Go(func() { r.loop(ctx, w, mix(uint64(i))) })
	}
	return r
}

// stop ends the readers and returns what went wrong in one of them.
func (r *readers) stop() error {
	r.end()
	r.done.Wait()
	return r.err
}

func (r *readers) loop(ctx context.Context, w *world, seed uint64) {
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select {
		case <-rest.C:
		case <-ctx.Done():
			return
		}
		began := time.Now()
		err := w.store.Read(ctx, func(context.Context) error {
			seed = w.look(seed)
			return nil
		})
		if ctx.Err() != nil {
			return
		}
		r.lock.Lock()
		r.times.Add(time.Since(began))
		r.err = errors.Join(r.err, err)
		r.lock.Unlock()
		if err != nil {
			return
		}
		rest.Reset(readRest)
	}
}

// look looks known items up, and returns the next seed, which depends on what it
// found so that no look-up can be left out.
func (w *world) look(seed uint64) uint64 {
	k := w.shared.Load()
	for i := range lookups {
		table := i % len(w.tables)
		if ids := k.ids[table]; len(ids) > 0 {
			h, _ := w.tables[table].read(ids[seed%uint64(len(ids))])
			seed = mix(seed + h.State)
		}
	}
	return seed
}
