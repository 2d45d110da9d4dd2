package storetest

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"handloom/store"
)

// Reopen plays frames, and plays each of them once more as a program would that has
// died before it: on a store that setup makes anew, and that loads a snapshot of the
// first. What a frame takes from elsewhere differs then: from variables of the program,
// from commands that the frame before left without a flush, or from what that created
// and its provisional handles, which no snapshot has. A program that is to be saved and
// loaded, or that a log is to bring back, passes.
//
// It fails the test as [Run] does, and takes the same setup, which is called once more
// for each frame. Of Options.Workers the first number counts.
func Reopen(t testing.TB, o Options, setup func(s *store.Store) (frame func(ctx context.Context, tick int) error, err error)) {
	t.Helper()
	o.fill()
	if o.isEmpty(t) {
		return
	}
	stays := &run{workers: o.Workers[0]}
	if err := stays.begin(o.Store, setup); err != nil {
		t.Errorf("storetest: setup with %v: %v", stays, err)
		return
	}
	for tick := range o.Frames {
		again := &run{workers: o.Workers[0], reopened: true}
		if err := again.reopen(t.Context(), o.Store, stays.store, setup); err != nil {
			t.Errorf("storetest: tick %d, %v: %v", tick, again, err)
			return
		}
		stays.play(t.Context(), tick)
		again.play(t.Context(), tick)
		if found := compare([]*run{stays, again}); found != "" {
			t.Errorf("storetest: tick %d, %s", tick, found)
			return
		}
	}
}

// reopen begins the run in the state of another store.
func (r *run) reopen(ctx context.Context, o store.Options, from *store.Store, setup func(s *store.Store) (func(context.Context, int) error, error)) error {
	var image bytes.Buffer
	if err := from.Snapshot(ctx, &image); err != nil {
		return err
	}
	if err := r.begin(o, setup); err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	return r.store.Load(ctx, &image)
}
