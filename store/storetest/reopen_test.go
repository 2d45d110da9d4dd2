package storetest_test

import (
	"context"
	"testing"

	"handloom/store"
	"handloom/store/storetest"
)

// reopen returns the message of Reopen, "" if the test passes.
func reopen(t *testing.T, o storetest.Options, f setup) string {
	t.Helper()
	return message(t, storetest.Reopen, o, f)
}

func TestReopen_PassesGoodProgram(t *testing.T) {
	for _, workers := range []int{1, 7} {
		if found := reopen(t, storetest.Options{Workers: []int{workers}}, game); found != "" {
			t.Error(found)
		}
	}
}

// forgetful returns a program with data outside snapshots.
func forgetful(play func(f fleet, ctx context.Context, tick int, kept *int) error) setup {
	return func(s *store.Store) (frame, error) {
		f, err := newFleet(s, 20)
		kept := new(int)
		return func(ctx context.Context, tick int) error { return play(f, ctx, tick, kept) }, err
	}
}

func TestReopen_FindsDataOutsideSnapshots(t *testing.T) {
	const hint = "data outside snapshots matters: look for variables of the program that a frame keeps"
	for name, c := range map[string]struct {
		play func(f fleet, ctx context.Context, tick int, kept *int) error
		says []string
	}{
		"a variable": {
			func(f fleet, ctx context.Context, _ int, kept *int) error {
				*kept++
				return f.create(ctx, 1, func(int) ship { return ship{Hull: *kept} })
			},
			[]string{
				"storetest: tick 1, flush 1: not the same with 1 worker, loaded from a snapshot as with 1 worker", `table "ship"`,
				"Hull is 2 with 1 worker, 1 with 1 worker, loaded from a snapshot", "different: 1 worker, loaded from a snapshot\n", hint,
			},
		},
		"a variable that matters late": {
			func(f fleet, ctx context.Context, tick int, kept *int) error {
				*kept += tick
				if tick != 9 {
					return nil
				}
				return f.create(ctx, *kept, func(int) ship { return ship{} })
			},
			[]string{"tick 9, flush 1", "the number of items is 22 with 1 worker, 10 with 1 worker, loaded from a snapshot", hint},
		},
		"commands that wait": {
			func(f fleet, ctx context.Context, _ int, _ *int) error {
				if _, err := f.Flush(ctx); err != nil {
					return err
				}
				return f.Do(ctx, func(q store.Queue) {
					f.ships.Emplace(q, ship{})
				})
			},
			[]string{"tick 1, at its end: flushes with commands are 1 with 1 worker, 0 with 1 worker, loaded from a snapshot", hint},
		},
		"what the frame before created": {
			func(f fleet, ctx context.Context, _ int, _ *int) error {
				n := 1
				for range store.Created(f.ships) {
					n++
				}
				return f.create(ctx, n, func(int) ship { return ship{} })
			},
			[]string{"tick 0, flush 1", "the number of items is 14 with 1 worker, 7 with 1 worker, loaded from a snapshot", hint},
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := reopen(t, storetest.Options{Workers: []int{1, 2}}, forgetful(c.play))
			expect(t, found, c.says...)
		})
	}
}

func TestReopen_ReportsUnsavableItems(t *testing.T) {
	found := reopen(t, storetest.Options{}, func(s *store.Store) (frame, error) {
		store.Register(s, store.TableOptions[*int]{Name: "pointer"})
		return func(context.Context, int) error { return nil }, nil
	})
	expect(t, found, "storetest: tick 0, 1 worker, loaded from a snapshot: ", `table "pointer"`, "cannot be read back")
	expect(t, reopen(t, storetest.Options{Frames: -1}, game), "nothing to run")
	expect(t, reopen(t, storetest.Options{}, func(*store.Store) (frame, error) { return nil, nil }), "setup with 1 worker: no frame function returned")
	expect(t, reopen(t, storetest.Options{}, forgetful(func(f fleet, ctx context.Context, tick int, _ *int) error {
		if tick == 3 {
			return context.DeadlineExceeded
		}
		return nil
	})), "tick 3, the frame failed with 1 worker")
}
