package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"handloom/batch"
	"handloom/store"
)

// failing runs passes of which some tasks fail in every way, beside others.
func failing(how func(task int) error) func(r *trial) {
	return func(r *trial) {
		table := register(r, r.Store, store.TableOptions[item]{Shards: 3, ChunkItems: 4})
		var names []store.ID
		for _, h := range fill(r, r.Store, table, 100) {
			names = append(names, h.ID)
		}
		for frame := range 3 {
			good := func(_ context.Context, task int, q store.Queue) error {
				table.Emplace(q, item{Value: uint64(frame*100 + task)})
				return nil
			}
			if err := r.Each(r.ctx, 10, good); err != nil {
				r.Fatal(err)
			}
			var rows atomic.Int64
			err := table.ForEach(r.ctx, func(_ context.Context, c store.Chunk[item]) error {
				rows.Add(int64(len(c.Items)))
				for i := range c.Items {
					c.Items[i].Value++ // stays
					c.Erase(i)         // does not
				}
				return how(c.Index)
			})
			if err == nil || rows.Load() != int64(table.Len()) {
				r.Fatalf("%d of %d rows were visited: %v", rows.Load(), table.Len(), err)
			}
			if err := r.Each(r.ctx, 10, good); err != nil {
				r.Fatal(err)
			}
			if report := r.flush(names...); report.Total != (batch.Counts{Created: 20}) {
				r.Fatalf("%v", report)
			}
		}
	}
}

func TestAFailedPassRunsWholeAndDropsOnlyItsOwnRecordings(t *testing.T) {
	for name, how := range map[string]func(task int) error{
		"error": func(task int) error {
			if task%3 == 1 {
				return errTask
			}
			return nil
		},
		"panic": func(task int) error {
			if task%3 == 1 {
				panic(task)
			}
			return nil
		},
		"both": func(task int) error {
			if task%2 == 1 {
				panic(task)
			}
			return errTask
		},
	} {
		t.Run(name, func(t *testing.T) { sameEverywhere(t, store.Options{}, failing(how)) })
	}
}

func TestOfManyErrorsThatOfTheLowestTaskIsReturned(t *testing.T) {
	s := newStore(t, store.Options{Workers: 4})
	for run := range 1000 {
		low := run % 7
		err := s.Each(t.Context(), 16, func(_ context.Context, task int, _ store.Queue) error {
			if task%7 == low {
				runtime.Gosched()
				return fmt.Errorf("task %d", task)
			}
			return nil
		})
		if err == nil || err.Error() != fmt.Sprintf("task %d", low) {
			t.Fatalf("run %d: %v, want that of task %d", run, err, low)
		}
	}
}

func TestAPanicInATaskIsAnErrorWithValueAndStack(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 1)
	passes := map[string]func() error{
		"Each": func() error {
			return s.Each(t.Context(), 1, func(context.Context, int, store.Queue) error { panic(errTask) })
		},
		"ForEach": func() error {
			return table.ForEach(t.Context(), func(context.Context, store.Chunk[item]) error { panic(errTask) })
		},
		"Reduce": func() error {
			_, err := store.Reduce(t.Context(), table, func(context.Context, store.Rows[item]) (int, error) { panic(errTask) },
				func(a, b int) int { return a + b })
			return err
		},
	}
	for name, pass := range passes {
		var fault *store.PanicError
		if err := pass(); !errors.As(err, &fault) || fault.Value != errTask || len(fault.Stack) == 0 || !errors.Is(err, errTask) {
			t.Errorf("%s: %v", name, err)
		}
	}
	usable(t, s, table)
}

// usable fails the test unless every kind of phase works.
func usable(t *testing.T, s *store.Store, table *store.Table[item]) {
	t.Helper()
	for what, call := range phases(s, table) {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	table.Emplace(queues(t, s, 1)[0], item{})
	if report := flush(t, s); report.Total != (batch.Counts{Created: 1}) {
		t.Errorf("the next flush: %v", report)
	}
}

// phases are calls that open a phase and do nothing in it.
func phases(s *store.Store, table *store.Table[item]) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Read": func(ctx context.Context) error { return s.Read(ctx, func(context.Context) error { return nil }) },
		"Write": func(ctx context.Context) error {
			return s.Write(ctx, func(context.Context, *store.Writer) error { return nil })
		},
		"Each": func(ctx context.Context) error {
			return s.Each(ctx, 2, func(context.Context, int, store.Queue) error { return nil })
		},
		"ForEach": func(ctx context.Context) error {
			return table.ForEach(ctx, func(context.Context, store.Chunk[item]) error { return nil })
		},
		"GroupBy": func(ctx context.Context) error {
			return store.GroupBy(ctx, new(store.Groups[item, item]), table, table, parent)
		},
		"Reduce": func(ctx context.Context) error {
			_, err := store.Reduce(ctx, table, func(context.Context, store.Rows[item]) (int, error) { return 1, nil },
				func(a, b int) int { return a + b })
			return err
		},
		"Digest":     func(ctx context.Context) error { _, err := s.Digest(ctx); return err },
		"Verify":     func(ctx context.Context) error { return s.Verify(ctx) },
		"Flush":      func(ctx context.Context) error { _, err := s.Flush(ctx); return err },
		"Checkpoint": func(ctx context.Context) error { return s.Checkpoint(ctx, new(store.Checkpoint)) },
		"Rollback": func(ctx context.Context) error {
			var c store.Checkpoint
			return errors.Join(s.Checkpoint(ctx, &c), s.Rollback(ctx, &c))
		},
	}
}

func TestGoexitInATaskIsAnErrorOrEndsTheCallerWithEverythingReleased(t *testing.T) {
	for _, workers := range []int{1, 4} {
		s, table := newTable(t, store.Options{Workers: workers}, store.TableOptions[item]{ChunkItems: 1})
		fill(t, s, table, 20)
		items := table.Len()
		var ran atomic.Int64
		passes := map[string]func(task int) error{
			"Each": func(exits int) error {
				return s.Each(t.Context(), 20, func(_ context.Context, task int, q store.Queue) error {
					ran.Add(1)
					table.Emplace(q, item{})
					if task == exits {
						runtime.Goexit()
					}
					return nil
				})
			},
			"ForEach": func(exits int) error {
				return table.ForEach(t.Context(), func(_ context.Context, c store.Chunk[item]) error {
					ran.Add(1)
					c.Erase(0)
					if c.Index == exits {
						runtime.Goexit()
					}
					return nil
				})
			},
		}
		for name, pass := range passes {
			for exits := range 20 {
				ran.Store(0)
				err := make(chan error, 1)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					err <- pass(exits)
				}()
				<-ended
				select {
				case err := <-err: // it was another worker that ended
					if !errors.Is(err, store.ErrGoexit) || workers == 1 {
						t.Errorf("%s with %d workers: %v", name, workers, err)
					}
				default:
				}
				if ran.Load() != 20 {
					t.Errorf("%s with %d workers: %d of 20 tasks ran", name, workers, ran.Load())
				}
			}
		}
		if report := flush(t, s); report.Total != (batch.Counts{}) || table.Len() != items {
			t.Errorf("recordings of passes that did not end: %v", report)
		}
		usable(t, s, table)
	}
}

func TestAFunctionOfAPhaseThatPanicsOrExitsReleasesTheGate(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	for _, end := range []func(){func() { panic("a fault of the test") }, runtime.Goexit} {
		for _, phase := range []func() error{
			func() error { return s.Read(t.Context(), func(context.Context) error { end(); return nil }) },
			func() error {
				return s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
					_, _ = table.Insert(w, item{})
					end()
					return nil
				})
			},
		} {
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				t.Errorf("the phase returned %v", phase())
			}()
			<-done
		}
	}
	if table.Len() != 2 {
		t.Errorf("%d items; what a Write did before it failed stays", table.Len())
	}
	usable(t, s, table)
}
