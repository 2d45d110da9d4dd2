package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"handloom/store"
	"handloom/store/storetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type ship struct {
	Hull   int
	Leader store.Handle[ship]
}

type (
	frame = func(ctx context.Context, tick int) error
	setup = func(s *store.Store) (frame, error)
)

type recorder struct {
	testing.TB
	messages []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.messages = append(r.messages, fmt.Sprintf(format, args...))
}

func run(t *testing.T, o storetest.Options, f setup) string {
	t.Helper()
	return message(t, storetest.Run, o, f)
}

func message(t *testing.T, call func(t testing.TB, o storetest.Options, f setup), o storetest.Options, f setup) string {
	t.Helper()
	r := &recorder{TB: t}
	call(r, o, f)
	failIf(t, len(r.messages) > 1, "the test fails %d times", len(r.messages))
	return strings.Join(r.messages, "\n")
}

func failIf(t testing.TB, failed bool, format string, args ...any) {
	t.Helper()
	if failed {
		t.Errorf(format, args...)
	}
}

// expect fails the test unless message contains parts in this order.
func expect(t *testing.T, message string, parts ...string) {
	t.Helper()
	rest := message
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("the message\n%s\nlacks, in its place, %q", message, part)
			return
		}
		rest = after
	}
}

type fleet struct {
	*store.Store
	ships *store.Table[ship]
}

func newFleet(s *store.Store, n int) (fleet, error) {
	ships := store.Register(s, store.TableOptions[ship]{Name: "ship", Shards: 3, ChunkItems: 8, Changes: true})
	f := fleet{s, ships}
	return f, f.create(context.Background(), n, func(i int) ship { return ship{Hull: i} })
}

func (f fleet) record(ctx context.Context, commands func(q store.Queue)) error {
	qs, err := f.Queues(1)
	if err != nil {
		return err
	}
	commands(qs[0])
	_, err = f.Flush(ctx)
	return err
}

func (f fleet) create(ctx context.Context, n int, newShip func(i int) ship) error {
	return f.record(ctx, func(q store.Queue) {
		for i := range n {
			f.ships.Emplace(q, newShip(i))
		}
	})
}

// game is a deterministic program with many kinds of passes, flushes and phases.
func game(s *store.Store) (frame, error) {
	f, err := newFleet(s, 100)
	if err != nil {
		return nil, err
	}
	shots := store.RegisterStable(s, store.TableOptions[int]{Name: "shot", Shards: 2})
	return func(ctx context.Context, tick int) error {
		err := f.ships.ForEach(ctx, func(c store.Chunk[ship]) {
			for i := range c.Items {
				if c.Items[i].Hull += tick; c.Items[i].Hull%7 == 3 {
					c.Erase(i)
					leader := f.ships.Emplace(c.Queue, ship{Hull: c.Index})
					f.ships.Emplace(c.Queue, ship{Hull: i, Leader: leader})
					shots.Emplace(c.Queue, tick)
				}
			}
		})
		if err != nil {
			return err
		}
		if _, err := s.Flush(ctx); err != nil {
			return err
		}
		_, err = s.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
			err := s.Each(ctx, 4, func(task int, q store.Queue) {
				for h, v := range shots.All() {
					if *v%4 == task && *v+2 < tick {
						shots.Erase(q, h)
					}
				}
			})
			_, flushed := s.Flush(ctx)
			sorted := store.SortByKey(ctx, f.ships, w, func(v *ship) uint64 { return uint64(v.Hull) % 16 })
			return errors.Join(err, flushed, sorted)
		})
		return err
	}, err
}

func TestRun_PassesGoodProgram(t *testing.T) {
	storetest.Run(t, storetest.Options{Frames: 12}, game)
}

func TestRun_RunsEveryFrameOnEachStore(t *testing.T) {
	flushes, stores, ticks := 0, 0, []int(nil)
	o := storetest.Options{Workers: []int{2, 1, 5}, Frames: 4}
	o.Store.AfterFlush = func(*store.Report) { flushes++ }
	message := run(t, o, func(s *store.Store) (frame, error) {
		stores++
		f, err := newFleet(s, 1)
		return func(ctx context.Context, tick int) error {
			ticks = append(ticks, tick)
			return f.create(ctx, 2, func(i int) ship { return ship{Hull: i} })
		}, err
	})
	if want := slices.Repeat([]int{0, 1, 2, 3}, 7); message != "" || stores != 7 || flushes != 7*5 || !slices.Equal(slices.Sorted(slices.Values(ticks)), slices.Sorted(slices.Values(want))) {
		t.Errorf("%d stores played the frames %v with %d flushes: %s", stores, ticks, flushes, message)
	}
	stores = 0
	_ = run(t, storetest.Options{}, func(*store.Store) (frame, error) {
		stores++
		return func(context.Context, int) error { stores += 100; return nil }, nil
	})
	failIf(t, stores != 13+13*32*100, "%d stores and frames without options", stores)
}

// arrivals collects items of all tasks in one slice.
func arrivals(s *store.Store) (frame, error) {
	f, err := newFleet(s, 30)
	return func(ctx context.Context, tick int) error {
		if tick < 2 {
			return nil
		}
		var lock sync.Mutex
		var found []int
		err := f.ships.ForEach(ctx, func(c store.Chunk[ship]) {
			lock.Lock()
			defer lock.Unlock()
			found = append(found, c.Index)
		})
		if err != nil {
			return err
		}
		return f.create(ctx, len(found), func(i int) ship { return ship{Hull: found[i]} })
	}, err
}

func TestRun_FindsTaskOrderOnOneWorker(t *testing.T) {
	message := run(t, storetest.Options{Workers: []int{1}}, arrivals)
	shuffled, _, _ := strings.Cut(message[strings.LastIndex(message, "Hull is 0 with 1 worker, ")+25:], " ")
	want := strings.Join([]string{
		"storetest: tick 2, flush 1: not the same with 1 worker and shuffled tasks as with 1 worker",
		`table "ship", shard 0 (typeId 1), and 2 more shards`,
		"row 10 (1:10.1): Hull is 0 with 1 worker, " + shuffled + " with 1 worker and shuffled tasks",
		"the same: 1 worker once more",
		"different: 1 worker and shuffled tasks",
		"the order of tasks matters: look for values shared by tasks of one pass, such as a slice, a counter, or an item that one writes and another reads",
	}, "\n\t")
	failIf(t, message != want || !strings.Contains("12345", shuffled), "it says\n%s\nwant\n%s", message, want)
	expect(t, run(t, storetest.Options{}, arrivals), "tick 2, flush 1: not the same with ", " as with 1 worker\n", `table "ship", shard `,
		"Hull is ", "the order of tasks matters: ")
}

func TestRun_FindsWorkDividedByWorkers(t *testing.T) {
	counts := []int{1, 2, 4}
	workers := storetest.WorkersOfRuns(counts)
	message := run(t, storetest.Options{Workers: counts}, func(s *store.Store) (frame, error) {
		n := workers[0]
		workers = workers[1:]
		f, err := newFleet(s, 0)
		return func(ctx context.Context, tick int) error {
			if tick < 5 {
				return nil
			}
			err := f.Each(ctx, n, func(task int, q store.Queue) {
				for i := range 12 / n {
					f.ships.Emplace(q, ship{Hull: 100*task + i})
				}
			})
			if err != nil {
				return err
			}
			_, err = f.Flush(ctx)
			return err
		}, err
	})
	expect(t, message, "tick 5, flush 1: not the same with 2 workers as with 1 worker\n", `table "ship", shard 1 (typeId 2), and 1 more shard`+"\n",
		"row 2 (2:2.1): Hull is 6 with 1 worker, 100 with 2 workers\n",
		"the same: 1 worker once more; 1 worker and shuffled tasks\n",
		"different: 2, 4 workers; 2, 4 workers and shuffled tasks\n",
		"the number of workers matters: ")
}

var errFrame = errors.New("a fault of the test")

func TestRun_ReportsErrorsOfFrames(t *testing.T) {
	for after, want := range map[int]string{
		0: "storetest: tick 1, the frame failed with 1 worker: a fault of the test",
		1: "storetest: tick 1, the frame failed with 1 worker once more, and not with 1 worker: a fault of the test\n",
		2: "storetest: tick 1, the frame failed with 2 workers, and not with 1 worker: a fault of the test\n\tthe same: 1 worker once more\n\tdifferent: 2 workers;",
	} {
		stores := 0
		message := run(t, storetest.Options{Workers: []int{1, 2}}, func(*store.Store) (frame, error) {
			number := stores
			stores++
			return func(_ context.Context, tick int) error {
				if tick == 1 && number >= after {
					return errFrame
				}
				return nil
			}, nil
		})
		failIf(t, !strings.HasPrefix(message, want), "it says\n%s\nwant\n%s", message, want)
	}
}

func TestRun_ReportsErrorsOfSetup(t *testing.T) {
	idle := func(context.Context, int) error { return nil }
	for _, c := range []struct {
		options storetest.Options
		setup   func(number int, s *store.Store) (frame, error)
		want    string
	}{
		{storetest.Options{}, func(number int, _ *store.Store) (frame, error) {
			if number == 3 {
				return nil, errFrame
			}
			return idle, nil
		}, "storetest: setup with 3 workers: a fault of the test"},
		{
			storetest.Options{},
			func(int, *store.Store) (frame, error) { return nil, nil },
			"storetest: setup with 1 worker: no frame function returned",
		},
		{storetest.Options{Workers: []int{}}, nil, "storetest: nothing to run: 0 numbers of workers, 32 frames"},
		{storetest.Options{Frames: -1}, nil, "storetest: nothing to run: 6 numbers of workers, -1 frames"},
		{storetest.Options{Workers: []int{0}}, func(number int, s *store.Store) (frame, error) {
			_, err := newFleet(s, 2+number/2)
			return idle, err
		}, "storetest: setup, flush 1: not the same with GOMAXPROCS workers and shuffled tasks as with GOMAXPROCS workers\n"},
		{storetest.Options{Workers: []int{1}}, func(number int, s *store.Store) (frame, error) {
			store.Register(s, store.TableOptions[ship]{Name: "ship", Shards: 2, TypeID: 7 + number})
			return idle, nil
		}, "storetest: setup, at its end: not the same with 1 worker once more as with 1 worker\n" +
			"\tthe tables are \"ship\" (typeIds 7 to 8) with 1 worker, \"ship\" (typeIds 8 to 9) with 1 worker once more\n"},
	} {
		number := -1
		message := run(t, c.options, func(s *store.Store) (frame, error) {
			number++
			return c.setup(number, s)
		})
		failIf(t, !strings.HasPrefix(message, c.want), "it says\n%s\nwant\n%s", message, c.want)
	}
}
