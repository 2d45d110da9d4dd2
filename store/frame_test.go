package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"handloom/store"
)

// post leaves a create of the value in the inbox.
func post(t tb, s *store.Store, table *store.Table[item], value uint64) {
	t.Helper()
	send(t, s, func(q store.Queue) { table.Emplace(q, item{Value: value}) })
}

// flushIn flushes inside the phase that ctx carries.
func flushIn(t tb, s *store.Store, ctx context.Context) *store.Report {
	t.Helper()
	report, err := s.Flush(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// valuesOf are the values of all items, by row.
func valuesOf(table *store.Table[item]) (values []uint64) {
	for _, v := range table.All() {
		values = append(values, v.Value)
	}
	return values
}

// holds checks which values the items have, by row.
func holds(t tb, table *store.Table[item], when string, want ...uint64) {
	t.Helper()
	if got := valuesOf(table); !slices.Equal(got, want) {
		t.Errorf("%s the table holds %v, want %v", when, got, want)
	}
}

func TestTheFirstFlushOfAWriteAppliesTheInboxAndLaterOnesNothingOfIt(t *testing.T) {
	for _, empty := range []bool{false, true} {
		t.Run(fmt.Sprintf("empty=%t", empty), func(t *testing.T) {
			s, table := newInbox(t, store.Options{})
			write(t, s, func(ctx context.Context, w *store.Writer) error {
				if !empty {
					post(t, s, table, 1)
				}
				flushIn(t, s, ctx)
				post(t, s, table, 2)
				emplaceIn(t, s, ctx, table, 3)
				if report := flushIn(t, s, ctx); report.Total.Created != 1 {
					t.Errorf("a later flush of the frame: %v", report.Total)
				}
				if epoch := s.Epoch(); flushIn(t, s, ctx).Total.Commands() != 0 || s.Epoch() != epoch {
					t.Error("a flush that finds calls of the next frame alone is one with commands")
				}
				if n := s.Pending().Commands; n != 1 {
					t.Errorf("%d commands wait for the next frame, want 1", n)
				}
				w.EndFrame()
				post(t, s, table, 4)
				if report := flushIn(t, s, ctx); report.Total.Created != 2 {
					t.Errorf("the first flush behind EndFrame: %v", report.Total)
				}
				post(t, s, table, 5)
				return nil
			})
			flush(t, s)
			want := []uint64{1, 3, 2, 4, 5}
			if empty {
				want = want[1:]
			}
			holds(t, table, "in the end", want...)
		})
	}
}

// emplaceIn records a create in a pass of the phase that ctx carries.
func emplaceIn(t tb, s *store.Store, ctx context.Context, table *store.Table[item], value uint64) (name store.Handle[item]) {
	t.Helper()
	err := s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
		name = table.Emplace(q, item{Value: value})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// Each system sees in its If which values there are: between two flushes nothing
// else may come.
func TestARunSealsTheInboxOnce(t *testing.T) {
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprintf("inside a Write=%t", whole), func(t *testing.T) {
			s, table := newInbox(t, store.Options{})
			var seen [][]uint64
			look := func() bool {
				seen = append(seen, valuesOf(table))
				return true
			}
			emit := func(value uint64) func(ctx context.Context) error {
				return func(ctx context.Context) error {
					post(t, s, table, 100+value)
					emplaceIn(t, s, ctx, table, value)
					return nil
				}
			}
			frame := newSchedule(t, s,
				store.System{Name: "first", Emits: on(table), If: look, Run: emit(1)},
				store.System{Name: "look", Reads: on(table), If: look, Run: nothing},
				store.System{Name: "second", Emits: on(table), Run: emit(2), After: []string{"look"}},
				store.System{Name: "look again", Reads: on(table), If: look, Run: nothing},
			)
			run := func(ctx context.Context) {
				if _, err := frame.Run(ctx); err != nil {
					t.Fatal(err)
				}
			}
			post(t, s, table, 10)
			run(t.Context())
			want := [][]uint64{nil, {1, 10, 101}, {1, 10, 101, 2}}
			if fmt.Sprint(seen) != fmt.Sprint(want) {
				t.Errorf("the systems see %v, want %v", seen, want)
			}
			if whole { // two runs are one frame then
				write(t, s, func(ctx context.Context, _ *store.Writer) error {
					run(ctx)
					run(ctx)
					return nil
				})
				holds(t, table, "behind two runs in a Write", 1, 10, 101, 2, 1, 102, 101, 2, 1, 2)
				return
			}
			flush(t, s)
			holds(t, table, "behind the next flush", 1, 10, 101, 2, 102)
		})
	}
}

// A flush that fails keeps its calls, and those that come later are behind them.
func TestAFlushThatFailsKeepsItsCallsFirstInLine(t *testing.T) {
	s, table := newInbox(t, store.Options{})
	fail := func(ctx context.Context) {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := s.Flush(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("a flush with an ended context: %v", err)
		}
	}
	write(t, s, func(ctx context.Context, w *store.Writer) error {
		post(t, s, table, 1)
		fail(ctx)
		post(t, s, table, 2)
		if report := flushIn(t, s, ctx); report.Total.Created != 1 {
			t.Errorf("the flush behind the one that failed: %v", report.Total)
		}
		w.EndFrame()
		fail(ctx)
		post(t, s, table, 3)
		return nil
	})
	holds(t, table, "behind the Write", 1)
	flush(t, s)
	holds(t, table, "in the end", 1, 2, 3)
}

// What arrives while a frame is open, and was not dropped with the batch, waits.
func TestDroppingTheBatchDoesNotOpenTheInboxAgain(t *testing.T) {
	s, table := newInbox(t, store.Options{})
	var before store.Checkpoint
	checkpoint(t, s, &before)
	write(t, s, func(ctx context.Context, _ *store.Writer) error {
		flushIn(t, s, ctx)
		post(t, s, table, 1)
		if err := s.Rollback(ctx, &before); err != nil {
			return err
		}
		post(t, s, table, 2)
		flushIn(t, s, ctx)
		holds(t, table, "in the frame")
		return nil
	})
	flush(t, s)
	holds(t, table, "in the next frame", 2)
}

func TestEndFrameOutsideOfItsWritePanics(t *testing.T) {
	s, _ := newInbox(t, store.Options{})
	var kept *store.Writer
	write(t, s, func(ctx context.Context, w *store.Writer) error {
		kept = w
		return s.Each(ctx, 1, func(context.Context, int, store.Queue) error {
			if got := panicOf(w.EndFrame); !strings.Contains(got, "EndFrame while a pass or flush runs") {
				t.Errorf("inside a pass it panics with %q", got)
			}
			return nil
		})
	})
	if got := panicOf(kept.EndFrame); !strings.Contains(got, "EndFrame with a Writer whose Write has ended") {
		t.Errorf("behind the Write it panics with %q", got)
	}
}
