package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

func newSchedule(t tb, s *store.Store, systems ...store.System) *store.Schedule {
	t.Helper()
	c, err := store.NewSchedule(s, systems...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func on(r ...store.Resource) []store.Resource { return r }

func nothing(context.Context) error { return nil }

// crowd is a simulation whose systems share waves, record into each other's
// tables and read what others emitted.
type crowd struct {
	ships, shots, marks itemTable
	sum                 uint64 // of marks: count writes it, and launch reads it in the next frame
}

func newCrowd(t tb, s *store.Store, stable bool) *crowd {
	return &crowd{
		ships: registerKind(t, s, store.TableOptions[item]{Name: "ships", Shards: 3, ChunkItems: 8, MinFree: 3}, stable),
		shots: registerKind(t, s, store.TableOptions[item]{Name: "shots", Shards: 2, ChunkItems: 3}, !stable),
		marks: registerKind(t, s, store.TableOptions[item]{Name: "marks", ChunkItems: 5}, stable),
	}
}

func (w *crowd) systems(s *store.Store) []store.System {
	sum := store.Other("sum")
	return []store.System{
		{Name: "drift", Writes: on(w.ships), Emits: on(w.marks), Run: w.drift},
		{Name: "launch", Reads: on(sum), Emits: on(w.ships, w.shots), Run: func(ctx context.Context) error { return w.launch(ctx, s) }},
		{Name: "rest", Writes: on(w.ships), If: func() bool { return w.ships.Len()%2 == 0 }, Run: w.rest},
		{Name: "burn", Writes: on(w.shots), Emits: on(w.shots, w.ships), Run: w.burn},
		{Name: "count", Reads: on(w.marks), Writes: on(sum), Emits: on(w.marks), Run: func(ctx context.Context) error { return w.count(ctx, s) }},
		{Name: "hit", Reads: on(w.shots), Emits: on(w.ships), Run: func(ctx context.Context) error { return w.hit(ctx, s) }},
	}
}

func (w *crowd) drift(ctx context.Context) error {
	return w.ships.visit(ctx, func(chunk int, q store.Queue, items itemSeq) error {
		for h, v := range items {
			if v.Value++; v.Value%4 == uint64(chunk%4) {
				w.marks.Emplace(q, item{Value: v.Value, Parent: h})
			}
		}
		return nil
	})
}

func (w *crowd) launch(ctx context.Context, s *store.Store) error {
	for range 2 {
		err := s.Each(ctx, 5, func(_ context.Context, task int, q store.Queue) error {
			var last store.Handle[item]
			for i := range 3 * task {
				last = w.ships.Emplace(q, item{Value: w.sum + uint64(i), Parent: last})
				w.shots.Emplace(q, item{Value: s.Epoch(), Parent: last})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *crowd) burn(ctx context.Context) error {
	return w.shots.visit(ctx, func(chunk int, q store.Queue, items itemSeq) error {
		for h, v := range items {
			v.Value++
			switch h.ID.Slot() % 5 {
			case 0:
				w.shots.Erase(q, h)
			case 1:
				w.ships.Put(q, v.Parent, item{Value: uint64(chunk)})
			case 2:
				q.Erase(v.Parent.ID)
			}
		}
		return nil
	})
}

func (w *crowd) hit(ctx context.Context, s *store.Store) error {
	return s.Each(ctx, 3, func(_ context.Context, task int, q store.Queue) error {
		for h, v := range w.shots.All() {
			if h.ID.Slot()%3 == uint32(task) {
				w.ships.Put(q, v.Parent, item{Value: uint64(100 + task), Parent: v.Parent})
			}
		}
		return nil
	})
}

func (w *crowd) count(ctx context.Context, s *store.Store) error {
	n, err := w.marks.fold(ctx, func(chunk int, items itemSeq) (sum uint64, err error) {
		for _, v := range items {
			sum = sum*3 + v.Value
		}
		return sum, nil
	})
	if err != nil {
		return err
	}
	w.sum = n % 7
	return s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
		for h := range w.marks.All() {
			w.marks.Erase(q, h)
		}
		return nil
	})
}

func (w *crowd) rest(ctx context.Context) error {
	return w.ships.visit(ctx, func(_ int, _ store.Queue, items itemSeq) error {
		for _, v := range items {
			v.Value /= 2
		}
		return nil
	})
}

func TestTheCrowdSharesWaves(t *testing.T) {
	s := newStore(t, store.Options{})
	want := `wave 1
  drift
  launch
flush
    rest writes ships, which launch emits
    burn writes shots, which launch emits
    count reads marks, which drift emits
wave 2
  rest (if its condition holds)
    writes ships, which drift writes
    writes ships, which launch emits
  burn
    writes shots, which launch emits
    emits ships, which rest writes
  count
    reads marks, which drift emits
    writes sum, which launch reads
flush
    hit reads shots, which burn emits
wave 3
`
	if got := newSchedule(t, s, newCrowd(t, s, false).systems(s)...).Explain(); !strings.HasPrefix(got, want) {
		t.Errorf("the plan is\n%s", got)
	}
}

// crowdFrames runs n frames of the crowd; inside a Write each, if whole.
func crowdFrames(n int, stable, whole bool) func(r *trial) {
	return func(r *trial) {
		c := newSchedule(r, r.Store, newCrowd(r, r.Store, stable).systems(r.Store)...)
		for range n {
			var report *store.Report
			frame := func(ctx context.Context) (err error) {
				report, err = c.Run(ctx)
				return err
			}
			err := error(nil)
			if whole {
				err = r.Write(r.ctx, func(ctx context.Context, _ *store.Writer) error { return frame(ctx) })
			} else {
				err = frame(r.ctx)
			}
			if err != nil {
				r.Fatal(err)
			}
			r.note(report, nil)
		}
	}
}

func TestEveryFrameIsTheSameForAnyWorkersAndShuffle(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		want := alone.run(t, store.Options{}, crowdFrames(6, stable, false))
		for i, c := range configs() {
			if raceDetector && i%7 != 0 {
				continue // it makes them slow
			}
			if difference := want.differs(c.run(t, store.Options{}, crowdFrames(6, stable, false))); difference != "" {
				t.Errorf("%v: %s", c, difference)
			}
		}
		if difference := want.differs(alone.run(t, store.Options{}, crowdFrames(6, stable, true))); difference != "" {
			t.Errorf("inside a Write: %s", difference)
		}
		if d := want.digests; d[0] == d[5] || want.reports[5].Total.Erased == 0 || want.reports[5].Total.Put == 0 {
			t.Errorf("too little happened: %v", want.reports)
		}
	})
}

func TestFramesAreTheSameOnOneToSixteenWorkers(t *testing.T) {
	want := alone.run(t, store.Options{}, crowdFrames(4, false, false))
	for _, workers := range oneToSixteen() {
		for _, c := range []config{{workers: workers, shuffle: true}, {workers: workers, team: true}} {
			if difference := want.differs(c.run(t, store.Options{}, crowdFrames(4, false, true))); difference != "" {
				t.Errorf("%v: %s", c, difference)
			}
		}
	}
}

func TestCommandsComeInTheOrderOfSystems(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 3}, store.TableOptions[item]{})
	h := fill(t, s, table, 1)[0]
	stale := compose(1, 7, 1)
	put := func(value uint64) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			return s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
				table.Put(q, h, item{Value: value})
				table.Emplace(q, item{Value: value})
				q.Erase(stale)
				return nil
			})
		}
	}
	c := newSchedule(
		t, s,
		store.System{Name: "a", Emits: on(table), After: []string{"c"}, Run: put(4)}, // in the second wave, for After
		store.System{Name: "b", Emits: on(table), Run: put(2)},
		store.System{Name: "c", Emits: on(table), Run: put(3)},
		store.System{Name: "d", Emits: on(table), Run: put(5)},
	)
	if err := s.Shuffle(3); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		report, err := c.Run(t.Context())
		if err != nil || report.Total != (batch.Counts{Created: 4, Put: 1, Superseded: 3, Stale: 4}) {
			t.Fatal(report, err)
		}
		for i, sample := range report.Stale {
			if sample.Pass != i {
				t.Fatalf("the passes of the stale erases: %+v", report.Stale)
			}
		}
		all := values(table)
		if last := all[len(all)-4:]; all[0] != 5 || !slices.Equal(last, []uint64{2, 3, 4, 5}) {
			t.Fatalf("the put of %d won, and the items came as %v", all[0], last)
		}
	}
}

func TestSystemsOfAWaveHavePassesAtTheSameTime(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{})
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	var both sync.WaitGroup
	meet := func(context.Context, int, store.Queue) error {
		both.Done()
		both.Wait() // for the pass of the other system, or the test hangs
		return nil
	}
	age := func(table *store.Table[item]) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			err := table.ForEach(ctx, func(_ context.Context, c store.Chunk[item]) error {
				for i := range c.Items {
					c.Items[i].Value++
				}
				return nil
			})
			return errors.Join(err, s.Each(ctx, 1, meet))
		}
	}
	fill(t, s, table, 10)
	fill(t, s, other, 10)
	c := newSchedule(
		t, s, store.System{Name: "a", Writes: on(table), Run: age(table)},
		store.System{Name: "b", Writes: on(other), Run: age(other)},
	)
	for range 50 {
		both.Add(2)
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if values(table)[0] != 50 || values(other)[9] != 59 {
		t.Errorf("%v, %v", values(table), values(other))
	}
}

func TestSystemsAndTheirPassesShareTheWorkers(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		s := newStore(t, store.Options{Workers: workers})
		var now, most atomic.Int64
		var systems []store.System
		for i := range 4 {
			table := register(t, s, store.TableOptions[item]{Name: fmt.Sprint(i), ChunkItems: 1})
			fill(t, s, table, 10)
			run := func(ctx context.Context) error {
				return table.ForEach(ctx, func(context.Context, store.Chunk[item]) error {
					n := now.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					runtime.Gosched()
					now.Add(-1)
					return nil
				})
			}
			systems = append(systems, store.System{Name: fmt.Sprint("beside", i), Writes: on(table), Run: run})
			if i == 0 {
				systems = append(systems, store.System{Name: "alone", Writes: on(table), Run: run})
			}
		}
		c := newSchedule(t, s, systems...)
		frame := func(ctx context.Context) error { _, err := c.Run(ctx); return err }
		for range 20 {
			if err := errors.Join(frame(t.Context()), s.Team(t.Context(), frame)); err != nil {
				t.Fatal(err)
			}
		}
		if most.Load() > int64(workers) {
			t.Errorf("%d tasks ran at the same time on %d workers", most.Load(), workers)
		}
	}
}

func TestAReportAddsUpTheFlushesOfAFrame(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "b", TypeID: 5})
	other := register(t, s, store.TableOptions[item]{Name: "a", TypeID: 2})
	stale := []store.ID{compose(5, 7, 1), compose(5, 7, 2)}
	eraseStale := func(ctx context.Context) error {
		return s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error { q.Erase(stale[0]); return nil })
	}
	c := newSchedule(
		t, s,
		store.System{Name: "a", Emits: on(table), Run: func(ctx context.Context) error {
			return s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
				table.Emplace(q, item{Value: 1})
				q.Erase(stale[1])
				return nil
			})
		}},
		store.System{Name: "b", Reads: on(table), Emits: on(other), Run: emplace(s, other, 1)},
		store.System{Name: "c", Reads: on(other), Emits: on(table), Run: eraseStale},
	)
	for frame := range uint64(2) {
		report, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := &store.Report{
			Epoch: 3*frame + 3, Total: batch.Counts{Created: 2, Stale: 2},
			Tables: []store.TableReport{
				{Name: "a", Counts: batch.Counts{Created: 1}},
				{Name: "b", Counts: batch.Counts{Created: 1, Stale: 2}},
			},
			Stale: report.Stale,
		}
		if !report.Equal(want) || len(report.Stale) != 2 || report.Apply <= 0 {
			t.Errorf("%+v, want %+v", report, want)
		}
	}
	idle := newSchedule(t, s, store.System{Name: "a", Emits: on(table), Run: nothing})
	if report, err := idle.Run(t.Context()); err != nil || !report.Equal(&store.Report{Epoch: 6}) {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestAScheduleTellsTablesApartAndNamesThem(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships"})
	stable := registerStable(t, s, store.TableOptions[item]{Name: "ports"})
	wrapped := packedTable{table}
	c := newSchedule(
		t, s,
		store.System{Name: "sail", Writes: on(wrapped, store.Other("wind")), Run: nothing},
		store.System{Name: "dock", Reads: on(table), Writes: on(stable), Run: nothing},
		store.System{Name: "blow", Reads: on(store.Other("wind")), Emits: on(stable), Run: nothing},
	)
	want := `wave 1
  sail
wave 2
  dock
    reads ships, which sail writes
  blow
    reads wind, which sail writes
    emits ports, which dock writes
flush
    blow emits ports
`
	if got := c.Explain(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if dot := c.DOT(); !strings.Contains(dot, `"sail" -> "dock" [label="ships"]`) {
		t.Errorf("got\n%s", dot)
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if timings := c.Timings(); len(timings) != 3 || timings[2].System != "blow" || timings[2].Runs != 1 {
		t.Errorf("%+v", timings)
	}
	systems := c.Systems()
	if len(systems) != 3 || systems[0].Name != "sail" || systems[2].Emits[0].Name() != "ports" {
		t.Errorf("%+v", systems)
	}
	systems[0].Name = "drift" // a copy
	if c.Systems()[0].Name != "sail" {
		t.Error("what Systems returned is the schedule's own")
	}
}

func TestAFrameAllocatesAConstant(t *testing.T) {
	if check.Full {
		t.Skip("a checked build allocates")
	}
	if check.Cheap {
		t.Log("checks allocate; nothing to measure")
		return
	}
	for _, items := range []int{500, 20_000} {
		s := newStore(t, store.Options{Workers: 2})
		table := workPacked(t, s, store.TableOptions[item]{Shards: 2, ChunkItems: chunkItems})
		table.EmplaceItems(queues(t, s, 1)[0], make([]item, items), nil)
		flush(t, s)
		c := newSchedule(
			t, s, store.System{Name: "age", Writes: on(table), Emits: on(table), Run: table.age},
			store.System{Name: "count", Reads: on(table), Run: table.count},
			store.System{Name: "mean", Reads: on(table), Run: table.mean},
			store.System{Name: "idle", Writes: on(table), Run: nothing},
		)
		err := s.Team(t.Context(), func(ctx context.Context) error {
			n := allocations(ctx, func(ctx context.Context) {
				if _, err := c.Run(ctx); err != nil {
					t.Error(err)
				}
			})
			// the Run, 4 systems, 3 passes, 1 flush
			if n > frameCount*9+slack {
				t.Errorf("%d items: %d frames allocate %d objects", items, frameCount, n)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestFramesWithoutAFlushKeepNothing(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
	fill(t, s, table, 10)
	visit := func(context.Context, store.Chunk[item]) error { return nil }
	c := newSchedule(t, s, store.System{Name: "a", Writes: on(table), Run: func(ctx context.Context) error {
		return table.ForEach(ctx, visit)
	}})
	err := s.Team(t.Context(), func(ctx context.Context) error {
		n := allocations(ctx, func(ctx context.Context) {
			if _, err := c.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		if !check.Cheap && n > frameCount*3+slack { // the Run, a system, a pass
			t.Errorf("%d frames allocate %d objects", frameCount, n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSystemsAreShuffledAsTasksAre(t *testing.T) {
	s := newStore(t, store.Options{Workers: 1})
	if err := s.Shuffle(8); err != nil {
		t.Fatal(err)
	}
	var order string
	var systems []store.System
	for _, name := range []string{"a", "b", "c", "d"} {
		systems = append(systems, store.System{Name: name, Run: func(context.Context) error {
			order += name
			return nil
		}})
	}
	c := newSchedule(t, s, systems...)
	seen := map[string]bool{}
	for range 100 {
		order = ""
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		seen[order] = true
	}
	if len(seen) < 12 {
		t.Errorf("100 frames ran the systems in %d orders of 24", len(seen))
	}
}

func TestASystemThatIsAloneHasAllWorkers(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{ChunkItems: 1})
	fill(t, s, table, 2)
	var reading, writing sync.WaitGroup
	meet := func(both *sync.WaitGroup) {
		both.Done()
		both.Wait() // for the other chunk, or the test hangs
	}
	reading.Add(2)
	writing.Add(2)
	c := onlySystem(t, s, table, func(ctx context.Context) error {
		_, err := store.Reduce(ctx, table, func(context.Context, store.Rows[item]) (int, error) {
			meet(&reading)
			return 0, nil
		}, addInt)
		return errors.Join(err, table.ForEach(ctx, func(context.Context, store.Chunk[item]) error {
			meet(&writing)
			return nil
		}))
	})
	if _, err := c.Run(t.Context()); err != nil {
		t.Error(err)
	}
}
