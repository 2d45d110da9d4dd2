package store_test

import (
	"context"
	"testing"

	"handloom/store"
)

func onlySystem(t tb, s *store.Store, table *store.Table[item], run func(ctx context.Context) error) *store.Schedule {
	t.Helper()
	return newSchedule(t, s, store.System{Name: "only", Writes: on(table), Emits: on(table), Run: run})
}

func TestRun_TwiceAtOnceIsErrPhase(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
		release := hold(t, s)
		c := newSchedule(t, s, store.System{Name: "a", Run: nothing})
		first := begin(func() error { _, err := c.Run(t.Context()); return err })
		first.waits(t, "a frame while a Read is open")
		wantError(t, "the second frame", onlyError(c.Run(t.Context())), store.ErrPhase)
		release()
		noError(t, first.result())
	})
}

func TestRun_WaitingEndsWithItsContext(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
		release := hold(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		c := newSchedule(t, s, store.System{Name: "a", Run: nothing})
		frame := begin(func() error { _, err := c.Run(ctx); return err })
		frame.waits(t, "a frame while a Read is open")
		cancel()
		wantError(t, "", frame.result(), context.Canceled)
		release()
		noError(t, onlyError(s.Close(t.Context())))
		wantError(t, "a frame of a closed store", onlyError(c.Run(t.Context())), store.ErrClosed)
	})
}
