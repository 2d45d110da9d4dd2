package store_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

// emplace returns the Run of a system that creates one item with a value.
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
							c.Items[i].Value++ // stays
							c.Erase(i)         // is dropped
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
				// Commands that a caller records outside the schedule.
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
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships"})
	other := register(t, s, store.TableOptions[item]{Name: "shots"})
	h := fill(t, s, table, 3)[0]
	skip := func(store.Chunk[item]) {}
	reduce := func(ctx context.Context) error { _, err := sum(ctx, table); return err }
	for _, c := range []struct {
		want   string // empty: it is allowed
		system store.System
	}{
		{`"x" runs ForEach over table "ships"`, store.System{Reads: on(table), Emits: on(table), Writes: on(other), Run: func(ctx context.Context) error {
			return table.ForEach(ctx, skip)
		}}},
		{"", store.System{Writes: on(table), Run: func(ctx context.Context) error { return table.ForEach(ctx, skip) }}},
		{`"x" reduces table "ships"`, store.System{Emits: on(table), Run: reduce}},
		{"", store.System{Writes: on(table), Run: reduce}},
		{"", store.System{Reads: on(table), Run: reduce}},
		{`"x" reduces table "ships"`, store.System{Writes: on(other), Run: func(ctx context.Context) error {
			return s.Do(ctx, func(q store.Queue) { q.Fail(reduce(q.Context())) })
		}}},
		{`"x" records into table "ships"`, store.System{Writes: on(table), Emits: on(other), Run: emplace(s, table, 1)}},
		{"", store.System{Emits: on(table), Run: emplace(s, table, 1)}},
		{`"x" records into table "ships"`, store.System{Reads: on(table), Run: func(ctx context.Context) error {
			return s.Do(ctx, func(q store.Queue) { q.Erase(h.ID) })
		}}},
		{`"x" records into table "shots"`, store.System{Writes: on(table), Emits: on(table), Run: func(ctx context.Context) error {
			return table.ForEach(ctx, func(c store.Chunk[item]) {
				c.Erase(0)
				other.Put(c.Queue, h, item{})
			})
		}}},
	} {
		c.system.Name = "x"
		before := s.Pending().Commands
		_, err := newSchedule(t, s, c.system).Run(t.Context())
		if !check.Cheap || c.want == "" {
			wantError(t, c.want, err, nil)
			equal(t, c.want+": commands wait", s.Pending().Commands > before, strings.Contains(c.want, "records") && c.system.Emits == nil)
			flush(t, s)
			continue
		}
		wantError(t, "the call", err, store.ErrUndeclared, c.want)
		equal(t, "s.Pending().Commands", s.Pending().Commands, before)
	}
}

func TestNewSchedule_ReportsEveryFault(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships"})
	_, foreign := newTable(t, store.Options{}, store.TableOptions[item]{Name: "aliens"})
	err := faultOf(func() {
		store.NewSchedule(
			s,
			store.System{Name: "a", Reads: on(foreign, nil), Emits: on(store.Other("window")), Writes: on(table), After: []string{"b"}, Run: nothing},
			store.System{Name: "b", Reads: on(table), Run: nothing},
			store.System{Name: "b"},
		)
	})
	want := `store: NewSchedule: system "a": table "aliens" is of another store
system "a": Reads[1] is nil; register the table before NewSchedule
system "a" emits to "window", which is no table, so that no flush would apply it; use Writes
system "b": the name is taken
system "b": Run is nil
systems wait for each other: a -> b -> a: a is after b; b reads ships, which a writes`
	if err == nil || err.Error() != want {
		t.Errorf("the error is\n%v\nwant\n%s", err, want)
	}
	if err := faultOf(func() { store.NewSchedule(s) }); err == nil {
		t.Error("a schedule of no systems")
	}
}
