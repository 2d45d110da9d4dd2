package storetest

import (
	"context"
	"fmt"
	"testing"

	"handloom/store"
)

// Options say what [Run] runs. The zero Options are good.
type Options struct {
	Workers []int         // numbers of workers, the first of which the others are compared with; nil: 1, 2, 3, 7, 16, 64
	Frames  int           // frames to play; 0: 32
	Store   store.Options // of every store; Workers is overwritten, AfterFlush called as usual
}

const defaultFrames = 32

var defaultWorkers = []int{1, 2, 3, 7, 16, 64}

// Run plays the same frames on fresh stores with different numbers of workers. It
// fails the test, once, at the first difference or the first frame that returns
// an error, and says in words what it found.
//
// setup registers tables in s, may fill them, and returns the function that plays
// a frame: ticks count from 0, and a frame may flush as often as it likes. Frames
// pass the context they are given on to the phases they open. What a frame uses
// besides s must be made by setup, for each store anew.
//
// Run takes the time of (2 x len(Workers) + 1) x Frames frames and hashes every
// store after every flush. It must be called from the goroutine of the test.
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

// fill gives options that were left out their values.
func (o *Options) fill() {
	if o.Workers == nil {
		o.Workers = defaultWorkers
	}
	if o.Frames == 0 {
		o.Frames = defaultFrames
	}
}

// isEmpty reports whether there is nothing to run, and fails the test then.
func (o *Options) isEmpty(t testing.TB) bool {
	t.Helper()
	if len(o.Workers) > 0 && o.Frames >= 0 {
		return false
	}
	t.Errorf("storetest: %d numbers of workers and %d frames leave nothing to run", len(o.Workers), o.Frames)
	return true
}

// runs returns what is to be run; the first is what the others are compared with,
// and the second is the same once more.
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

// run is the program on a store of its own.
type run struct {
	workers  int
	again    bool
	shuffled bool
	reopened bool

	store *store.Store
	frame func(ctx context.Context, tick int) error

	// Of the frame that was played last:
	flushes []flush
	end     []store.TableDigest
	err     error
}

// flush is what a flush did and left.
type flush struct {
	report *store.Report
	tables []store.TableDigest
}

// String names the run.
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
	own := o.AfterFlush
	o.Workers = r.workers
	o.AfterFlush = func(report *store.Report) {
		r.flushes = append(r.flushes, flush{report.Clone(), r.store.DigestTables()})
		if own != nil {
			own(report)
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
		return fmt.Errorf("it returned no function that plays a frame")
	}
	r.end = r.store.DigestTables()
	return nil
}

// play plays a frame and keeps what it did.
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
