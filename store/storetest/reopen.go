package storetest

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"handloom/store"
)

// Reopen runs each frame again on a new store that has loaded a snapshot of the first, as after
// a crash. A frame differs if it uses data outside the store: variables, unflushed commands of
// an earlier frame, the list of its created items, or its provisional handles.
//
// Reopen fails the test as [Run] does. It calls setup once per frame, and uses the first number
// in Options.Workers.
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
