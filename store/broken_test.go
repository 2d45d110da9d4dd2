package store_test

import (
	"context"
	"errors"
	"testing"

	"handloom/store"
)

// breakFlush has the second parallel step of a flush fail: that after the
// commit point, when no memory is needed.
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

func TestAStoreThatFailedBeyondTheCommitPointAnswersErrBroken(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	hs := fill(t, s, table, 3)
	table.EraseItems(queues(t, s, 1)[0], hs[:2])
	breakFlush(t)
	err := s.Write(t.Context(), func(ctx context.Context, _ *store.Writer) error {
		if _, err := s.Flush(ctx); !errors.Is(err, store.ErrBroken) {
			t.Errorf("Flush: %v", err)
		}
		perturb(t, nil)
		for _, what := range joins["Write"] {
			if err := phases(s, table)[what](ctx); !errors.Is(err, store.ErrBroken) {
				t.Errorf("%s in the same Write: %v", what, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for what, call := range phases(s, table) {
		if err := call(t.Context()); !errors.Is(err, store.ErrBroken) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.Queues(1); !errors.Is(err, store.ErrBroken) {
		t.Errorf("Queues: %v", err)
	}
	if err := s.Discard(); !errors.Is(err, store.ErrBroken) {
		t.Errorf("Discard: %v", err)
	}
	if _, err := s.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}
