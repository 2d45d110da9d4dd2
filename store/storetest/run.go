package storetest

import (
	"context"
	"fmt"
	"testing"

	"handloom/store"
)

// Options are the settings of [Run].
type Options struct {
	Workers []int         // numbers of workers; the first is the reference; default 1, 2, 3, 7, 16, 64
	Frames  int           // number of frames; default 32
	Store   store.Options // of every store; Workers is overwritten
}

const defaultFrames = 32

var defaultWorkers = []int{1, 2, 3, 7, 16, 64}

// Run runs the same frames on new stores with different numbers of workers. It fails the test
// once, with the first difference or the first error of a frame.
//
// setup registers tables in s, may create items, and returns the function that runs a frame.
// Ticks count from 0. A frame may flush any number of times, and must pass its context on.
// setup must create everything that a frame uses besides s.
//
// Run runs (2 x len(Workers) + 1) x Frames frames and hashes every store after every flush.
// Call it from the goroutine of the test.
func Run(t testing.TB, o Options, setup func(s *store.Store) (frame func(ctx context.Context, tick int) error, err error)) {
	t.Helper()
	o.fill()
	if o.isEmpty(t) {
		return
	}
	runs := o.runs()
	for _, r := range runs {
		if err := r.begin(o.Store, setup); err != nil {
			t.Errorf("storetest: setup with %v: %v", r, err)
			return
		}
	}
	if found := compare(runs); found != "" {
		t.Errorf("storetest: setup, %s", found)
		return
	}
	for tick := range o.Frames {
		for _, r := range runs {
			r.play(t.Context(), tick)
		}
		if found := compare(runs); found != "" {
			t.Errorf("storetest: tick %d, %s", tick, found)
			return
		}
	}
}

func (o *Options) fill() {
	if o.Workers == nil {
		o.Workers = defaultWorkers
	}
	if o.Frames == 0 {
		o.Frames = defaultFrames
	}
}

func (o *Options) isEmpty(t testing.TB) bool {
	t.Helper()
	if len(o.Workers) > 0 && o.Frames >= 0 {
		return false
	}
	t.Errorf("storetest: nothing to run: %d numbers of workers, %d frames", len(o.Workers), o.Frames)
	return true
}

// runs returns the reference, the same again, and the others.
func (o Options) runs() []*run {
	runs := []*run{{workers: o.Workers[0]}, {workers: o.Workers[0], again: true}}
	for _, workers := range o.Workers[1:] {
		runs = append(runs, &run{workers: workers})
	}
	for _, workers := range o.Workers {
		runs = append(runs, &run{workers: workers, shuffled: true})
	}
	return runs
}

type run struct {
	workers  int
	again    bool
	shuffled bool
	reopened bool

	store *store.Store
	frame func(ctx context.Context, tick int) error

	// The last frame:
	flushes []flush
	end     []store.TableDigest
	err     error
}

type flush struct {
	report *store.Report
	tables []store.TableDigest
}

func (r *run) String() string {
	name := fmt.Sprintf("%d workers", r.workers)
	switch r.workers {
	case 0:
		name = "GOMAXPROCS workers"
	case 1:
		name = "1 worker"
	}
	if r.again {
		name += " once more"
	}
	if r.shuffled {
		name += " and shuffled tasks"
	}
	if r.reopened {
		name += ", loaded from a snapshot"
	}
	return name
}

func (r *run) begin(o store.Options, setup func(s *store.Store) (func(context.Context, int) error, error)) error {
	after := o.AfterFlush
	o.Workers = r.workers
	o.AfterFlush = func(report *store.Report) {
		r.flushes = append(r.flushes, flush{report.Clone(), r.store.DigestTables()})
		if after != nil {
			after(report)
		}
	}
	var err error
	r.store = store.New(o)
	if r.shuffled {
		if err := r.store.Shuffle(uint64(r.workers)); err != nil {
			return err
		}
	}
	if r.frame, err = setup(r.store); err != nil {
		return err
	}
	if r.frame == nil {
		return fmt.Errorf("no frame function returned")
	}
	r.end = r.store.DigestTables()
	return nil
}

func (r *run) play(ctx context.Context, tick int) {
	r.flushes = r.flushes[:0]
	play := func(ctx context.Context) error { return r.frame(ctx, tick) }
	if r.shuffled {
		r.err = r.store.Team(ctx, play)
	} else {
		r.err = play(ctx)
	}
	r.end = r.store.DigestTables()
}
