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

func emplaceIn(t tb, s *store.Store, ctx context.Context, table *store.Table[item], value uint64) (name store.Handle[item]) {
	t.Helper()
	noError(t, s.Do(ctx, func(q store.Queue) { name = table.Emplace(q, item{Value: value}) }))
	return name
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

func TestFrame_OfSeveralFlushesAllocatesNothing(t *testing.T) {
	plainBuild(t)
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{Changes: true})
	values := make([]item, 300)
	var hs []store.Handle[item]
	frame := func(steps ...int) func() {
		return func() {
			_, _ = s.Frame(context.Background(), func(ctx context.Context, _ *store.Writer) error {
				for _, n := range steps {
					hs = hs[:0]
					for h := range table.All() {
						hs = append(hs, h)
					}
					_ = s.Do(ctx, func(q store.Queue) {
						hs = hs[:min(n, len(hs))]
						table.EraseItems(q, hs)
						table.EmplaceItems(q, values[:n], hs[:0])
					})
					_, _ = s.Flush(ctx)
				}
				return nil
			})
		}
	}
	full := frame(300, 10, 100)
	for range 200 {
		full()
	}
	before := testing.AllocsPerRun(100, full)
	atMost(t, "objects in a frame", before, testing.AllocsPerRun(100, frame(0, 0, 0)))
}

func TestErased_KeepsValuesForAFrame(t *testing.T) {
	s := newStore(t, store.Options{})
	table := register(t, s, store.TableOptions[holder]{Changes: true})
	record := func(ctx context.Context, f func(q store.Queue)) {
		noError(t, s.Do(ctx, func(q store.Queue) { f(q) }))
		flushIn(t, s, ctx)
	}
	createAndErase := func(ctx context.Context, own *burden) {
		var p store.Handle[holder]
		record(ctx, func(q store.Queue) { p = table.Emplace(q, holder{own}) })
		record(ctx, func(q store.Queue) { table.Erase(q, resolve(t, table, p)) })
	}
	for name, c := range map[string]struct {
		do   func(ctx context.Context, own *burden)
		want bool
	}{
		"erased in the last frame": {createAndErase, true},
		"erased in the frame before": {func(ctx context.Context, own *burden) {
			createAndErase(ctx, own)
			record(ctx, func(q store.Queue) { table.Emplace(q, holder{}) })
		}, false},
		"created and erased in a frame": {func(_ context.Context, own *burden) {
			runFrame(t, s, func(ctx context.Context, _ *store.Writer) error { createAndErase(ctx, own); return nil })
		}, false},
	} {
		_, got := heldBy(t, t.Context(), func(ctx context.Context, own *burden) error { c.do(ctx, own); return nil })
		equal(t, name+" is reachable", got, c.want)
	}
}
