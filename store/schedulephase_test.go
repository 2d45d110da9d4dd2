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

func TestRun_WaitsAtTheGate(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
		c := newSchedule(t, s, store.System{Name: "a", Run: nothing})
		for _, want := range []error{nil, context.Canceled} {
			release := hold(t, s)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			first := begin(func() error { return onlyError(c.Run(ctx)) })
			first.waits(t, "a frame while a Read is open")
			wantError(t, "the second frame", onlyError(c.Run(t.Context())), store.ErrPhase)
			if want != nil {
				cancel()
				wantError(t, "the first frame", first.result(), want)
			}
			release()
			wantError(t, "the first frame", first.result(), want)
		}
		noError(t, onlyError(s.Close(t.Context())))
		wantError(t, "a frame of a closed store", onlyError(c.Run(t.Context())), store.ErrClosed)
	})
}
