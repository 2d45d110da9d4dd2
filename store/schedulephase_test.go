package store_test

import (
	"context"
	"errors"
	"testing"

	"handloom/store"
)

// onlySystem is a schedule of one system, which may do anything with a table.
func onlySystem(t tb, s *store.Store, table *store.Table[item], run func(ctx context.Context) error) *store.Schedule {
	t.Helper()
	return newSchedule(t, s, store.System{Name: "only", Writes: on(table), Emits: on(table), Run: run})
}

func TestRun_RefusesContextsOfSystemsThatHaveEnded(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{})
		fill(t, s, table, 1)
		var kept context.Context
		c := onlySystem(t, s, table, func(ctx context.Context) error {
			kept = ctx
			return nil
		})
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		calls := phases(s, table)
		calls["Close"] = func(ctx context.Context) error { return second(s.Close(ctx)) }
		calls["Run"] = func(ctx context.Context) error { return second(c.Run(ctx)) }
		for what, call := range calls {
			if err := call(kept); !errors.Is(err, store.ErrPhase) {
				t.Errorf("%s: %v", what, err)
			}
		}
		usable(t, s, table)
	})
}

func TestTwoFramesOfAScheduleAtOnceAreErrPhase(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
		release := hold(t, s)
		c := newSchedule(t, s, store.System{Name: "a", Run: nothing})
		first := begin(func() error { _, err := c.Run(t.Context()); return err })
		first.waits(t, "a frame while a Read is open")
		if _, err := c.Run(t.Context()); !errors.Is(err, store.ErrPhase) {
			t.Errorf("the second frame: %v", err)
		}
		release()
		if err := first.result(); err != nil {
			t.Error(err)
		}
	})
}

func TestAFrameThatWaitsAtTheGateEndsWithItsContext(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
		release := hold(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		c := newSchedule(t, s, store.System{Name: "a", Run: nothing})
		frame := begin(func() error { _, err := c.Run(ctx); return err })
		frame.waits(t, "a frame while a Read is open")
		cancel()
		if err := frame.result(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		release()
		if _, err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := c.Run(t.Context()); !errors.Is(err, store.ErrClosed) {
			t.Errorf("a frame of a closed store: %v", err)
		}
	})
}
