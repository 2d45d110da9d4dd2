package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"handloom/internal/check"
	"handloom/store"
)

// inPhase are functions that call f on a goroutine inside of a phase.
var inPhase = map[string]func(ctx context.Context, s *store.Store, table *store.Table[item], f func() error) error{
	"Read": func(ctx context.Context, s *store.Store, _ *store.Table[item], f func() error) error {
		return s.Read(ctx, func(context.Context) error { return f() })
	},
	"Write": func(ctx context.Context, s *store.Store, _ *store.Table[item], f func() error) error {
		return s.Write(ctx, func(context.Context, *store.Writer) error { return f() })
	},
	"Each": func(ctx context.Context, s *store.Store, _ *store.Table[item], f func() error) error {
		return s.Each(ctx, 3, func(_ context.Context, task int, _ store.Queue) error {
			if task < 2 {
				return nil
			}
			return f()
		})
	},
	"ForEach": func(ctx context.Context, s *store.Store, table *store.Table[item], f func() error) error {
		return table.ForEach(ctx, func(_ context.Context, c store.Chunk[item]) error {
			if c.Index != 1 {
				return nil
			}
			return f()
		})
	},
	"Reduce": func(ctx context.Context, s *store.Store, table *store.Table[item], f func() error) error {
		_, err := store.Reduce(ctx, table, func(_ context.Context, r store.Rows[item]) (int, error) {
			if r.Index != 1 {
				return 0, nil
			}
			return 0, f()
		}, func(a, b int) int { return a + b })
		return err
	},
	"a system": func(ctx context.Context, s *store.Store, _ *store.Table[item], f func() error) error {
		frame, err := store.NewSchedule(s, store.System{Name: "it", Run: func(context.Context) error { return f() }})
		if err != nil {
			return err
		}
		_, err = frame.Run(ctx)
		return err
	},
}

// A call with a context from outside would wait for the phase it is in. A checked
// build says so instead.
func TestACheckedBuildNamesTheCallThatWouldWaitForItself(t *testing.T) {
	if !check.Full {
		t.Skip("other builds wait")
	}
	outside := t.Context()
	for phase, within := range inPhase {
		for name, call := range map[string]func(s *store.Store, table *store.Table[item]) error{
			"Flush": func(s *store.Store, _ *store.Table[item]) error { _, err := s.Flush(outside); return err },
			"Write": func(s *store.Store, _ *store.Table[item]) error {
				return s.Write(outside, func(context.Context, *store.Writer) error { return nil })
			},
			"ForEach": func(_ *store.Store, table *store.Table[item]) error {
				return table.ForEach(outside, func(context.Context, store.Chunk[item]) error { return nil })
			},
			"Read": func(s *store.Store, _ *store.Table[item]) error {
				return s.Read(outside, func(context.Context) error { return nil })
			},
		} {
			t.Run(name+" inside "+phase, func(t *testing.T) {
				s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 2, ChunkItems: 4})
				fill(t, s, table, 20)
				ctx, cancel := context.WithTimeout(outside, time.Minute)
				defer cancel()
				var got error
				_ = within(ctx, s, table, func() error { got = call(s, table); return nil })
				if name == "Read" && (phase == "Read" || phase == "Reduce") { // they hold the gate together
					if got != nil {
						t.Error(got)
					}
				} else if !errors.Is(got, store.ErrPhase) || !strings.Contains(got.Error(), name+" inside "+phase+", with a context from outside") {
					t.Errorf("the error is %v", got)
				}
				// Nothing of it stays.
				if err := call(s, table); err != nil {
					t.Errorf("after the phase: %v", err)
				}
			})
		}
	}
}

// Two reads hold the gate together, unless somebody who waits for the first is
// served before the second.
func TestACheckedBuildNamesTheReadThatWaitsBehindAWriteThatWaitsForIt(t *testing.T) {
	if !check.Full {
		t.Skip("other builds wait")
	}
	virtual(t, func(t *testing.T) {
		s, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
		var waiting *call
		_ = s.Read(t.Context(), func(context.Context) error {
			waiting = begin(func() error {
				return s.Write(context.Background(), func(context.Context, *store.Writer) error { return nil })
			})
			waiting.waits(t, "Write")
			if err := s.Read(t.Context(), func(context.Context) error { return nil }); !errors.Is(err, store.ErrPhase) {
				t.Errorf("the second Read: %v", err)
			}
			return nil
		})
		if err := waiting.result(); err != nil {
			t.Error(err)
		}
	})
}

func TestACallOfAnotherStoreInsideAPhaseIsNoMistake(t *testing.T) {
	for phase, within := range inPhase {
		s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 2, ChunkItems: 4})
		fill(t, s, table, 20)
		other := newStore(t, store.Options{})
		err := within(t.Context(), s, table, func() error {
			_, err := other.Flush(t.Context())
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", phase, err)
		}
	}
}

// A phase that ends in a panic is left, too.
func TestAfterAPanicInATaskNothingSeemsToBeInside(t *testing.T) {
	s, _ := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
	err := s.Each(t.Context(), 1, func(context.Context, int, store.Queue) error { panic("it") })
	if err == nil {
		t.Fatal("no error")
	}
	if _, err := s.Flush(t.Context()); err != nil {
		t.Error(err)
	}
}
