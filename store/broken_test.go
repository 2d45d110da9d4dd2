package store_test

import (
	"context"
	"errors"
	"testing"

	"handloom/store"
)

// breakFlush makes a flush fail after the commit point.
func breakFlush(t tb) {
	step := 0
	perturb(t, func(int) func(int) int {
		step++
		apply := step == 2
		return func(i int) int {
			if apply {
				panic("a fault of the test")
			}
			return i
		}
	})
}

func TestFlush_FailingAfterCommitIsErrBroken(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	hs := fill(t, s, table, 3)
	table.EraseItems(queues(t, s, 1)[0], hs[:2])
	breakFlush(t)
	wantError(t, "Frame", onlyError(s.Frame(t.Context(), func(ctx context.Context, _ *store.Writer) error {
		broken := onlyError(s.Flush(ctx))
		if cause, ok := errors.AsType[*store.PanicError](broken); !ok || cause.Value != "a fault of the test" || !errors.Is(broken, store.ErrBroken) {
			t.Errorf("Flush: %v", broken)
		}
		perturb(t, nil)
		for _, what := range []string{"Reduce", "Digest", "Verify", "ForEach", "Each", "Do", "EraseFunc", "EraseOrphans", "GroupBy", "Flush", "Checkpoint", "Rollback"} {
			wantError(t, what+" in the same Write", phases(s, table)[what](ctx), store.ErrBroken)
		}
		return nil
	})), store.ErrBroken)
	for what, call := range phases(s, table) {
		wantError(t, what, call(t.Context()), store.ErrBroken)
	}
	wantError(t, "Queues", onlyError(s.Queues(1)), store.ErrBroken)
	wantError(t, "Discard", s.Discard(), store.ErrBroken)
	wantError(t, "Close", onlyError(s.Close(t.Context())), nil)
}
