package store_test

import (
	"context"
	"errors"
	"testing"

	"handloom/store"
)

func post(t tb, s *store.Store, table *store.Table[item], value uint64) {
	t.Helper()
	send(t, s, func(q store.Queue) { table.Emplace(q, item{Value: value}) })
}

func flushIn(t tb, s *store.Store, ctx context.Context) *store.Report {
	t.Helper()
	report, err := s.Flush(ctx)
	noError(t, err)
	return report
}

func holds(t tb, table *store.Table[item], when string, want ...uint64) {
	t.Helper()
	equalLists(t, when, values(table), want...)
}

func TestFrame_FirstFlushTakesTheInbox(t *testing.T) {
	for _, empty := range []bool{false, true} {
		s, table := newInbox(t, store.Options{})
		runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
			if !empty {
				post(t, s, table, 1)
			}
			flushIn(t, s, ctx)
			post(t, s, table, 2)
			emplaceIn(t, s, ctx, table, 3)
			flushIn(t, s, ctx)
			if epoch := s.Epoch(); flushIn(t, s, ctx).Total.Commands() != 0 || s.Epoch() != epoch || s.Pending().Commands != 1 {
				t.Error("a flush that finds calls of the next frame alone is one with commands")
			}
			return nil
		})
		runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
			post(t, s, table, 4)
			flushIn(t, s, ctx)
			post(t, s, table, 5)
			return nil
		})
		flush(t, s)
		want := []uint64{1, 3, 2, 4, 5}
		if empty {
			want = want[1:]
		}
		holds(t, table, "in the end", want...)
	}
}

func emplaceIn(t tb, s *store.Store, ctx context.Context, table *store.Table[item], value uint64) (name store.Handle[item]) {
	t.Helper()
	noError(t, s.Do(ctx, func(q store.Queue) { name = table.Emplace(q, item{Value: value}) }))
	return name
}

// Between two flushes of a Run only its own commands are applied.
func TestRun_SealsTheInboxOnce(t *testing.T) {
	s, table := newInbox(t, store.Options{})
	emit := func(value uint64) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			post(t, s, table, 100+value)
			emplaceIn(t, s, ctx, table, value)
			return nil
		}
	}
	look := func(want ...uint64) func(context.Context) error {
		return func(context.Context) error {
			if s.Epoch() < 3 {
				holds(t, table, "in the run", want...)
			}
			return nil
		}
	}
	frame := newSchedule(t, s,
		store.System{Name: "first", Emits: on(table), Run: emit(1)},
		store.System{Name: "look", Reads: on(table), Run: look(1, 10, 101)},
		store.System{Name: "second", Emits: on(table), Run: emit(2), After: []string{"look"}},
		store.System{Name: "look again", Reads: on(table), Run: look(1, 10, 101, 2)},
	)
	post(t, s, table, 10)
	noError(t, onlyError(frame.Run(t.Context())))
	holds(t, table, "after the run", 1, 10, 101, 2)
	runFrame(t, s, func(ctx context.Context, _ *store.Writer) error {
		for range 2 {
			noError(t, onlyError(frame.Run(ctx)))
		}
		return nil
	})
	holds(t, table, "after two runs in a Write", 1, 10, 101, 2, 1, 102, 101, 2, 1, 2)
}

// A Frame that fails drops its own commands since its last flush, and nothing else.
func TestFrame_DropsItsCommandsWhenItFails(t *testing.T) {
	for name, c := range map[string]struct {
		pending int
		fails   func(ctx context.Context, s *store.Store, table *store.Table[item], w *store.Writer) error
		want    error
	}{
		"error": {1, func(context.Context, *store.Store, *store.Table[item], *store.Writer) error { return errTask }, errTask},
		"error after a flush": {0, func(ctx context.Context, s *store.Store, table *store.Table[item], _ *store.Writer) error {
			flushIn(t, s, ctx)
			emplaceIn(t, s, ctx, table, 1)
			return errTask
		}, errTask},
		"refused Insert": {0, func(ctx context.Context, s *store.Store, table *store.Table[item], w *store.Writer) error {
			flushIn(t, s, ctx)
			emplaceIn(t, s, ctx, table, 1)
			equal(t, "the handle of a refused Insert", table.Insert(w, item{}), store.Handle[item]{})
			return nil
		}, store.ErrFull},
		"panic": {1, func(context.Context, *store.Store, *store.Table[item], *store.Writer) error { panic(errTask) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, table := newTable(t, store.Options{}, store.TableOptions[item]{MaxItems: 2})
			emplaceIn(t, s, t.Context(), table, 1)
			var err error
			panicked := panicOf(func() {
				_, err = s.Frame(t.Context(), func(ctx context.Context, w *store.Writer) error {
					emplaceIn(t, s, ctx, table, 1)
					return c.fails(ctx, s, table, w)
				})
			})
			wantError(t, "Frame", err, c.want)
			equal(t, "panics", panicked != "", c.want == nil)
			equal(t, "commands that wait", s.Pending().Commands, c.pending)
		})
	}
}

// Whatever the function of a Frame ran, its end applies the calls that wait and ends events.
func TestFrame_FlushesAtItsEnd(t *testing.T) {
	for name, do := range map[string]func(ctx context.Context, s *store.Store, events *store.Table[item], w *store.Writer) error{
		"nothing": func(context.Context, *store.Store, *store.Table[item], *store.Writer) error { return nil },
		"Insert": func(_ context.Context, _ *store.Store, events *store.Table[item], w *store.Writer) error {
			events.Insert(w, item{})
			return nil
		},
		"Run": func(ctx context.Context, s *store.Store, _ *store.Table[item], _ *store.Writer) error {
			return onlyError(newSchedule(t, s, store.System{Name: "only", Run: nothing}).Run(ctx))
		},
		"Rollback": func(ctx context.Context, s *store.Store, events *store.Table[item], w *store.Writer) error {
			var c store.Checkpoint
			events.Insert(w, item{})
			err := s.Checkpoint(ctx, &c)
			equal(t, "the handle of a refused Insert, which the Rollback undoes", events.Insert(w, item{}), store.Handle[item]{})
			return errors.Join(err, s.Rollback(ctx, &c))
		},
	} {
		s, table := newInbox(t, store.Options{})
		events := register(t, s, store.TableOptions[item]{Name: "event", Events: true, MaxItems: 4})
		fill(t, s, events, 3)
		runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
			err := do(ctx, s, events, w)
			post(t, s, table, 1)
			return err
		})
		equal(t, name+": items of a call", table.Len(), 1)
		equal(t, name+": events", events.Len(), 0)
	}
}

// A Write changes tables at once, and takes no pass, flush or ordering.
func TestWrite_TakesChangesAlone(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{MaxItems: 1})
	err := s.Write(t.Context(), func(w *store.Writer) {
		h := table.Insert(w, item{Value: 1})
		equal(t, "the item", table.At(h).Value, 1)
		equal(t, "the handle of a refused Insert", table.Insert(w, item{}), store.Handle[item]{})
		err := store.SortFunc(t.Context(), table, w, byValue)
		wantError(t, "SortFunc", err, store.ErrPhase, "use a Frame instead of the Write")
		table.Clear(w)
		table.Insert(w, item{})
	})
	wantError(t, "Write", err, store.ErrFull, "1 items are MaxItems")
	equal(t, "items", table.Len(), 1)
}
