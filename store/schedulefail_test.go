package store_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

func emplace(s *store.Store, table *store.Table[item], value uint64) func(context.Context) error {
	return func(ctx context.Context) error {
		return s.Do(ctx, func(q store.Queue) { table.Emplace(q, item{Value: value}) })
	}
}

func values(table *store.Table[item]) (all []uint64) {
	for _, v := range table.All() {
		all = append(all, v.Value)
	}
	return all
}

func TestRun_FailureDropsUnflushedCommands(t *testing.T) {
	for name, how := range map[string]func(context.Context) error{
		"error":  func(context.Context) error { return errTask },
		"panic":  func(context.Context) error { panic(errTask) },
		"Goexit": func(context.Context) error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
			fill(t, s, table, 1)
			broken := true
			c := newSchedule(
				t, s,
				store.System{Name: "first", Emits: on(table), Run: emplace(s, table, 10)},
				store.System{Name: "age", Writes: on(table), Emits: on(table), Run: func(ctx context.Context) error {
					return table.ForEach(ctx, func(c store.Chunk[item]) {
						for i := range c.Items {
							c.Items[i].Value++
							c.Erase(i)
						}
					})
				}},
				store.System{Name: "second", Emits: on(table), After: []string{"age"}, Run: emplace(s, table, 20)},
				store.System{Name: "fail", After: []string{"age"}, If: func() bool { return broken }, Run: how},
				store.System{Name: "last", After: []string{"fail"}, Emits: on(table), Run: emplace(s, table, 30)},
			)
			before := queues(t, s, 1)[0]
			var wg sync.WaitGroup
			wg.Go(func() {
				table.Emplace(before, item{Value: 40})
				_, err := c.Run(t.Context())
				var failed *store.SystemError
				if !errors.As(err, &failed) || failed.System != "fail" || !errors.Is(err, errTask) {
					t.Errorf("the frame returned %v", err)
				}
			})
			wg.Wait()
			// The flush before age had the items recorded until then.
			equalLists(t, "items", values(table), 1, 41, 11)
			table.Emplace(queues(t, s, 1)[0], item{Value: 50})
			wantFlush(t, s, batch.Counts{Created: 1})
			broken = false
			wantError(t, "the next frame", onlyError(c.Run(t.Context())), nil)
			equalLists(t, "items", values(table), 20, 30)
		})
	}
}

func TestRun_FailureKeepsRecordingsOfOthers(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	c := newSchedule(
		t, s, store.System{Name: "a", Emits: on(table), Run: emplace(s, table, 1)},
		store.System{Name: "b", Run: func(context.Context) error { return errTask }},
	)
	table.Emplace(queues(t, s, 1)[0], item{Value: 2})
	wantError(t, "", onlyError(c.Run(t.Context())), errTask)
	flush(t, s)
	equalLists(t, "items", values(table), 2)
}

func TestRun_FailedFlushKeepsTheBatch(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{MaxItems: 1})
	ran := 0
	c := newSchedule(
		t, s, store.System{Name: "a", Emits: on(table), Run: emplace(s, table, 1)},
		store.System{Name: "b", Reads: on(table), Run: func(context.Context) error { ran++; return nil }},
	)
	noError(t, onlyError(c.Run(t.Context())))
	if _, err := c.Run(t.Context()); !errors.Is(err, store.ErrFull) || ran != 1 {
		t.Errorf("b ran %d times, %v", ran, err)
	}
	wantError(t, "the next flush", onlyError(s.Flush(t.Context())), store.ErrFull)
	noError(t, s.Discard())
	wantFlush(t, s, batch.Counts{})
}

func TestChecked_UndeclaredUseIsFound(t *testing.T) {
	f := newFleet(t, store.Options{Workers: 1})
	s, ships := f.Store, f.items
	shots := register(t, s, store.TableOptions[shot]{Name: "shots"})
	shield := addSparse(t, ships, store.ColumnOptions[int]{Name: "shield"})
	score, index := newValue(t, s, "score"), store.AddIndex(ships, "index", func(v *item) (uint64, bool) { return v.Value, true })
	h := fill(t, s, ships, 3)[0]
	shield.Set(queues(t, s, 1)[0], h, 7)
	flush(t, s)
	look := func(look func()) func(context.Context) error {
		return func(context.Context) error { look(); return nil }
	}
	do := func(record func(q store.Queue)) func(context.Context) error {
		return func(ctx context.Context) error { return s.Do(ctx, record) }
	}
	each := func(visit func(c store.Chunk[item])) func(context.Context) error {
		return func(ctx context.Context) error { return ships.ForEach(ctx, visit) }
	}
	rows := func(visit func(r store.Chunk[item])) func(context.Context) error {
		return func(ctx context.Context) error { return ships.ForEachRows(ctx, visit) }
	}
	var groups store.Groups[shot, item]
	group := func(ctx context.Context) error {
		if err := store.GroupBy(ctx, &groups, shots, ships, targetOf); err != nil {
			return err
		}
		return groups.ForEach(ctx, func(store.GroupChunk[shot, item]) {})
	}
	fold := func(ctx context.Context) error { return store.Fold(ctx, shots, ships, targetOf, func(*item, *shot) {}) }
	erase := func(ctx context.Context) error {
		return store.EraseFunc(ctx, ships, func(v *item) bool { return v.Value == 2 })
	}
	reduce := func(ctx context.Context) error { return onlyError(sum(ctx, ships)) }
	skip := each(func(store.Chunk[item]) {})
	create := do(func(q store.Queue) { ships.Emplace(q, item{Value: s.Epoch() + 10}) })
	unset := do(func(q store.Queue) { shield.Unset(q, h) })
	wear := func(ctx context.Context) error { return shield.ForEach(ctx, func(store.SparseChunk[item, int]) {}) }
	for _, c := range []struct {
		want                 string
		reads, writes, emits []store.Resource
		run                  func(context.Context) error
	}{
		{`"x" runs ForEach over table "ships"`, on(ships), on(shots), on(ships), skip},
		{"", nil, on(ships), nil, skip},
		{`"x" reduces table "ships"`, nil, nil, on(ships), reduce},
		{"", nil, on(ships), nil, reduce},
		{"", on(ships), nil, nil, reduce},
		{`"x" reduces table "ships"`, nil, on(shots), nil, func(ctx context.Context) error {
			return s.Do(ctx, func(q store.Queue) { q.Fail(reduce(q.Context())) })
		}},
		{`"x" reduces table "ships"`, nil, nil, nil, rows(func(store.Chunk[item]) {})},
		{`"x" records into table "ships"`, nil, on(ships), on(shots), create},
		{"", nil, nil, on(ships), create},
		{`"x" records into table "ships"`, on(ships), nil, nil, do(func(q store.Queue) { q.Erase(h.ID) })},
		{`"x" records into table "ships"`, on(ships), nil, nil, do(func(q store.Queue) { ships.EraseAll(q) })},
		{`"x" records into table "shots"`, nil, on(ships), on(ships), each(func(c store.Chunk[item]) {
			c.Erase(0)
			shots.Put(c.Queue, store.Handle[shot]{}, shot{})
		})},
		{`records into table "ships"`, on(ships), nil, on(f.small), rows(func(r store.Chunk[item]) { r.Erase(0) })},
		{"Emits", on(ships), nil, nil, erase},
		{"Reads", nil, nil, on(ships), erase},
		{"", on(ships), nil, on(ships), erase},
		{`writes column "ships.small"`, on(f.small), nil, nil, rows(func(r store.Chunk[item]) { f.small.Write(r) })},
		{`sets column "ships.small"`, on(ships), nil, on(ships, f.large), rows(func(r store.Chunk[item]) { f.small.Set(r.Queue, r.Handle(0), 1) })},
		{`writes column "ships.small"`, on(f.small), on(ships), nil, each(func(c store.Chunk[item]) { f.small.Write(c) })},
		{"", nil, on(f.small), on(f.large), rows(func(r store.Chunk[item]) {
			f.small.Write(r)
			f.large.Set(r.Queue, r.Handle(0), [12]uint64{})
		})},
		{`data "ships.shield"`, nil, on(ships), nil, wear},
		{`data "ships.shield"`, nil, nil, on(ships), unset},
		{"", on(shots), on(ships), nil, group},
		{"Writes", on(ships), on(shots), nil, group},
		{"Reads", on(ships), nil, nil, group},
		{"Reads", on(shots), nil, nil, group},
		{"", on(shots), on(ships), nil, fold},
		{"Reads", nil, on(ships), nil, fold},
		{"Writes", on(shots), nil, nil, fold},
		{"score", nil, nil, nil, look(func() { score.Get() })},
		{`table "ships"`, nil, nil, nil, look(func() { index.Find(1) })},
	} {
		before := s.Pending().Commands
		system := store.System{Name: "x", Reads: c.reads, Writes: c.writes, Emits: c.emits, Run: c.run}
		_, err := newSchedule(t, s, system).Run(t.Context())
		if !check.Cheap || c.want == "" {
			wantError(t, c.want, err, nil)
			equal(t, c.want+": commands wait", s.Pending().Commands > before, strings.Contains(c.want, "records") && c.emits == nil)
			flush(t, s)
			continue
		}
		wantError(t, "the call", err, store.ErrPhase, c.want)
		equal(t, "s.Pending().Commands", s.Pending().Commands, before)
	}
}

// Only the context of the Write is accepted; phases of other goroutines wait.
func TestAfterFlush_OpensNoPhaseInsideAnother(t *testing.T) {
	for _, around := range []string{"Write", "Run", "Run inside Write"} {
		t.Run(around, func(t *testing.T) {
			atOnce(t, func(t *testing.T) {
				var s *store.Store
				var table *store.Table[item]
				var inside context.Context // nil without a Write
				var foreign []*call
				reports := 0
				s, table = newTable(t, store.Options{Workers: 1, AfterFlush: func(*store.Report) {
					reports++
					ctx, stop := context.WithTimeout(context.Background(), time.Hour)
					defer stop()
					for what, open := range phases(s, table) {
						for _, ctx := range []context.Context{context.Background(), ctx} {
							wantError(t, what+" inside AfterFlush", open(ctx), store.ErrPhase)
						}
						if what != "Flush" {
							foreign = append(foreign, begin(func() error { return open(context.Background()) }))
						}
					}
					if inside != nil {
						err := s.Each(inside, 1, nothingToDo)
						if fits := around == "Write"; fits && err != nil || !fits && !errors.Is(err, store.ErrPhase) {
							t.Errorf("Each inside AfterFlush, with the context of the Write: %v", err)
						}
					}
					if len(foreign) > 0 {
						foreign[0].waits(t, "a phase of another goroutine")
					}
				}}, store.TableOptions[item]{})
				frame := newSchedule(t, s, store.System{Name: "a", Emits: on(table), Run: emplace(s, table, 1)},
					store.System{Name: "b", Reads: on(table), Emits: on(table), Run: emplace(s, table, 1)})
				run := func(ctx context.Context) error { return onlyError(frame.Run(ctx)) }
				if around == "Write" {
					run = func(ctx context.Context) error {
						emplaceIn(t, s, ctx, table, 1)
						return onlyError(s.Flush(ctx))
					}
				}
				var err error
				if around == "Run" {
					err = run(t.Context())
				} else {
					_, err = s.Frame(t.Context(), func(ctx context.Context, _ *store.Writer) error {
						inside = ctx
						return run(ctx)
					})
				}
				if err != nil || reports == 0 {
					t.Errorf("AfterFlush was called %d times; %v", reports, err)
				}
				for _, call := range foreign {
					wantError(t, "another goroutine", call.result(), nil)
				}
			})
		})
	}
}
