package store_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"handloom/batch"
	"handloom/store"
)

func TestReduce_VisitsSparseData(t *testing.T) {
	for _, stable := range []bool{false, true} {
		s := newStore(t, store.Options{Workers: 4})
		table := registerKind(t, s, store.TableOptions[item]{Shards: 3}, stable)
		marks := addSparse(t, table, store.ColumnOptions[int]{Name: "mark"})
		q, want := queues(t, s, 1)[0], 0
		for i := range 10_000 {
			if h := table.Emplace(q, item{}); i%3 == 0 {
				marks.Set(q, h, i)
				want += i
			}
		}
		flush(t, s)
		marked := func(ctx context.Context) (int, error) {
			return store.Reduce(ctx, marks, func(c store.SparseChunk[item, int]) (sum int) {
				for i, h := range c.Owners {
					if v, ok := marks.Get(h); ok && *v == c.Items[i] {
						sum += *v
					}
				}
				return sum
			}, addInt)
		}
		got, err := marked(t.Context())
		noError(t, err)
		equal(t, "the sum", got, want)
		noError(t, marks.ForEach(t.Context(), func(c store.SparseChunk[item, int]) {
			wantError(t, "in a pass that writes them", onlyError(marked(c.Queue.Context())), store.ErrPhase)
		}))
	}
}

func TestReduce_RefusesToRecordAndWrite(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	stable := registerStable(t, s, store.TableOptions[item]{Name: "stable"})
	column := addColumn(t, table, store.ColumnOptions[int]{Name: "c"})
	stable.Emplace(queues(t, s, 1)[0], item{})
	fill(t, s, table, 1)
	refused := func(what string, f func()) { wantIn(t, what, panicOf(f), "of a Reduce") }
	_, err := store.Reduce(t.Context(), table, func(r store.Chunk[item]) int {
		refused("Erase", func() { r.Erase(0) })
		refused("Wrote", func() { r.Wrote(0) })
		refused("Write", func() { column.Write(r) })
		refused("Wrote of a column", func() { column.Wrote(r, 0) })
		wantIn(t, "Emplace", panicOf(func() { table.Emplace(r.Queue, item{}) }), "the zero Queue")
		wantIn(t, "Fail", panicOf(func() { r.Queue.Fail(errTask) }), "the zero Queue")
		return len(column.Read(r))
	}, addInt)
	noError(t, err)
	_, err = store.Reduce(t.Context(), stable, func(c store.StableChunk[item]) int {
		for h := range c.All() {
			refused("Wrote", func() { c.Wrote(h) })
		}
		return 0
	}, addInt)
	noError(t, err)
}

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

type lateEnd struct {
	context.Context
	asks *atomic.Int64
}

func endAfter(asks int64) lateEnd {
	c := lateEnd{context.Background(), new(atomic.Int64)}
	c.asks.Store(asks)
	return c
}

func (c lateEnd) Err() error {
	if c.asks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func batchOn(t tb, s *store.Store, table *store.Table[item], hs []store.Handle[item]) {
	q := queues(t, s, 1)[0]
	p := table.Emplace(q, item{Value: 1})
	table.EmplaceItems(q, make([]item, 500), nil)
	table.Put(q, p, item{Value: 2, Parent: p})
	table.Put(q, hs[0], item{Value: 3, Parent: p})
	table.EraseItems(q, hs[10:200])
	table.Erase(q, table.Emplace(q, item{Parent: p}))
}

// A worker panics before the commit point: every shard is planned or none.
func TestFlush_FailurePlanningChangesNothing(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 3}, store.TableOptions[item]{Shards: 8})
	hs := fill(t, s, table, 1000)
	before := digest(t, s)
	batchOn(t, s, table, hs)
	for i := range 8 {
		table.Put(queues(t, s, 1)[0], hs[i*125+99], item{Value: 4})
	}
	for task := range 8 {
		perturb(t, func(int) func(int) int {
			return func(i int) int {
				if i == task {
					panic("a fault of the test")
				}
				return i
			}
		})
		var fault *store.PanicError
		if _, err := s.Flush(t.Context()); !errors.As(err, &fault) {
			t.Fatalf("Flush: %v", err)
		}
		perturb(t, nil)
		equal(t, fmt.Sprintf("digest after a failure in task %d", task), digest(t, s), before)
	}
	if report := flush(t, s); report.Total.Created != 501 || report.Total.Erased != 190 {
		t.Error(report)
	}
}

func TestChunkItems_OfAnySizeWork(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 2, ChunkItems: math.MaxInt})
	fill(t, s, table, 7)
	var chunks atomic.Int64
	err := table.ForEach(t.Context(), func(store.Chunk[item]) {
		chunks.Add(1)
	})
	wantError(t, "the call", err, nil)
	equal(t, "chunks.Load", chunks.Load(), 2)
}

// The error of a flush is the error of its passes, whatever calls are in the batch.
func TestFlush_ErrorIsOfThePasses(t *testing.T) {
	const limit = 2
	faults := map[string]func(q store.Queue, small *store.Table[item], keyed *store.Table[twoKeys]){
		"nothing": func(q store.Queue, small *store.Table[item], keyed *store.Table[twoKeys]) {
			keyed.Emplace(q, twoKeys{})
		},
		"full": func(q store.Queue, small *store.Table[item], keyed *store.Table[twoKeys]) {
			small.EmplaceItems(q, make([]item, limit+1), nil)
		},
		"duplicate": func(q store.Queue, small *store.Table[item], keyed *store.Table[twoKeys]) {
			keyed.EmplaceItems(q, []twoKeys{{Keys: [2]uint8{1}}, {Keys: [2]uint8{1}}}, nil)
		},
		"panic": func(q store.Queue, small *store.Table[item], keyed *store.Table[twoKeys]) {
			keyed.Emplace(q, twoKeys{N: 666})
		},
	}
	faults["full and duplicate"] = func(q store.Queue, small *store.Table[item], keyed *store.Table[twoKeys]) {
		faults["duplicate"](q, small, keyed)
		faults["full"](q, small, keyed)
	}
	for pass, record := range faults {
		var want string
		for _, call := range []string{"", "nothing", "full", "duplicate", "panic", "full and duplicate"} {
			s := newStore(t, store.Options{InboxLimit: 10})
			keyed := register(t, s, store.TableOptions[twoKeys]{})
			store.AddIndex(keyed, "key", func(v *twoKeys) (uint8, bool) {
				if v.N == 666 {
					panic("a bad key")
				}
				return v.Keys[0], v.Keys[0] > 0
			})
			small := register(t, s, store.TableOptions[item]{MaxItems: limit})
			record(queues(t, s, 1)[0], small, keyed)
			if call != "" {
				noError(t, s.Inbox(callOf(func(q store.Queue) { faults[call](q, small, keyed) })))
			}
			_, err := s.Flush(t.Context())
			if call == "" {
				want = fmt.Sprint(err)
				equal(t, pass+" fails", err != nil, pass != "nothing")
			}
			equal(t, fmt.Sprintf("the error of a pass with %s and a call with %s", pass, call), fmt.Sprint(err), want)
		}
	}
}

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
