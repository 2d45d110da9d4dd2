package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"handloom/batch"
	"handloom/store"
)

func usable(t *testing.T, s *store.Store, table *store.Table[item]) {
	t.Helper()
	for what, call := range phases(s, table) {
		wantError(t, what, call(t.Context()), nil)
	}
	table.Emplace(queues(t, s, 1)[0], item{})
	wantFlush(t, s, batch.Counts{Created: 1})
}

func phases(s *store.Store, table *store.Table[item]) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Read": func(ctx context.Context) error { return s.Read(ctx, nothing) },
		"Frame": func(ctx context.Context) error {
			return onlyError(s.Frame(ctx, func(context.Context, *store.Writer) error { return nil }))
		},
		"Write": func(ctx context.Context) error {
			return s.Write(ctx, func(*store.Writer) {})
		},
		"Each":    func(ctx context.Context) error { return s.Each(ctx, 2, nothingToDo) },
		"Do":      func(ctx context.Context) error { return s.Do(ctx, func(store.Queue) {}) },
		"ForEach": func(ctx context.Context) error { return table.ForEach(ctx, func(store.Chunk[item]) {}) },
		"EraseFunc": func(ctx context.Context) error {
			return store.EraseFunc(ctx, table, func(*item) bool { return false })
		},
		"EraseOrphans": func(ctx context.Context) error {
			return store.EraseOrphans(ctx, table, table, func(*item) store.Handle[item] { return store.Handle[item]{} })
		},
		"GroupBy": func(ctx context.Context) error {
			return store.GroupBy(ctx, new(store.Groups[item, item]), table, table, parent)
		},
		"Reduce": func(ctx context.Context) error {
			return onlyError(store.Reduce(ctx, table, func(store.Chunk[item]) int { return 1 }, addInt))
		},
		"Digest":     func(ctx context.Context) error { return onlyError(s.Digest(ctx)) },
		"Verify":     func(ctx context.Context) error { return s.Verify(ctx) },
		"Flush":      func(ctx context.Context) error { return onlyError(s.Flush(ctx)) },
		"Checkpoint": func(ctx context.Context) error { return s.Checkpoint(ctx, new(store.Checkpoint)) },
		"Rollback": func(ctx context.Context) error {
			var c store.Checkpoint
			return errors.Join(s.Checkpoint(ctx, &c), s.Rollback(ctx, &c))
		},
	}
}

// All tasks run, the pass returns the failure of the lowest, and the recordings are dropped. A
// task that ends its goroutine is an error, or ends the caller if it runs there.
func TestPass_ReturnsFailureOfLowestTask(t *testing.T) {
	for _, shuffled := range []bool{false, true} {
		for _, workers := range []int{1, 4} {
			s, table := newTable(t, store.Options{Workers: workers}, store.TableOptions[item]{ChunkItems: 1})
			fill(t, s, table, 20)
			if shuffled {
				noError(t, s.Shuffle(7))
			}
			var ran atomic.Int64
			var fails func(task int) error
			passes := map[string]func() error{
				"Each": func() error {
					return s.Each(t.Context(), 20, func(task int, q store.Queue) {
						ran.Add(1)
						table.Emplace(q, item{})
						q.Fail(fails(task))
					})
				},
				"ForEach": func() error {
					return table.ForEach(t.Context(), func(c store.Chunk[item]) {
						ran.Add(1)
						c.Erase(0)
						c.Queue.Fail(fails(c.Index))
					})
				},
			}
			for name, pass := range passes {
				for lowest := range 20 {
					for how, fail := range failures {
						fails = func(task int) error {
							if task == lowest || task > lowest && how != "exit" {
								return fail(task)
							}
							return nil
						}
						ran.Store(0)
						err, returned := error(nil), false
						c := begin(func() error { err = pass(); returned = true; return nil })
						_ = c.result()
						if !returned && how == "exit" {
							err = fmt.Errorf("task %d: %w", lowest, store.ErrGoexit)
						} else if how == "exit" && workers == 1 {
							t.Errorf("the caller goes on after its goroutine has ended: %v", err)
						}
						if ran.Load() != 20 || err == nil || !strings.Contains(err.Error(), fmt.Sprintf("task %d", lowest)) || !errors.Is(err, failsWith[how]) {
							t.Fatalf("%s, shuffled: %t, %d workers: %d of 20 tasks ran, and %s of task %d is %v", name, shuffled, workers, ran.Load(), how, lowest, err)
						}
					}
				}
			}
			if report := flush(t, s); report.Total != (batch.Counts{}) || table.Len() != 20 {
				t.Errorf("recordings of passes that did not end: %v", report)
			}
			usable(t, s, table)
		}
	}
}

var (
	failures = map[string]func(task int) error{
		"error": func(task int) error { return fmt.Errorf("%w: task %d", errTask, task) },
		"panic": func(task int) error { panic(fmt.Errorf("%w: task %d", errTask, task)) },
		"exit":  func(int) error { runtime.Goexit(); return nil },
	}
	failsWith = map[string]error{"error": errTask, "panic": errTask, "exit": store.ErrGoexit}
)

func TestPhase_PanicOrExitReleasesTheGate(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 1)
	nobody := store.Handle[item]{}
	for _, end := range []func(){func() { panic("a fault of the test") }, runtime.Goexit} {
		for _, phase := range []func() error{
			func() error { return s.Do(t.Context(), func(store.Queue) { end() }) },
			func() error { return store.EraseFunc(t.Context(), table, func(*item) bool { end(); return true }) },
			func() error {
				return store.EraseOrphans(t.Context(), table, table, func(*item) store.Handle[item] { end(); return nobody })
			},
			func() error {
				return store.GroupBy(t.Context(), new(store.Groups[item, item]), table, table, func(*item) store.Handle[item] { end(); return nobody })
			},
			func() error { return s.Read(t.Context(), func(context.Context) error { end(); return nil }) },
			func() error {
				return s.Write(t.Context(), func(w *store.Writer) {
					table.Insert(w, item{})
					end()
				})
			},
		} {
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				if err := phase(); err == nil {
					t.Error("the phase returned nil")
				}
			}()
			<-done
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			noError(t, s.Write(ctx, func(*store.Writer) {})) // it waits for other phases
			cancel()
		}
	}
	equal(t, "items after two Writes that failed", table.Len(), 3)
	usable(t, s, table)
}
