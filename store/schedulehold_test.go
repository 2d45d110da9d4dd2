package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"handloom/batch"
	"handloom/store"
)

// Rows that a system has recorded stay rows of the same items: no Write moves them before
// the flush of the Run.
func TestRun_ErasesByRowAreOfTheirItems(t *testing.T) {
	writes := map[string]func(t *testing.T, table *store.Table[item], w *store.Writer, names []store.Handle[item]){
		"Remove": func(_ *testing.T, table *store.Table[item], w *store.Writer, names []store.Handle[item]) {
			table.Remove(w, names[0])
		},
		"Clear": func(_ *testing.T, table *store.Table[item], w *store.Writer, _ []store.Handle[item]) { table.Clear(w) },
		"Clear and Insert": func(t *testing.T, table *store.Table[item], w *store.Writer, _ []store.Handle[item]) {
			table.Clear(w)
			for i := range 3 {
				if _, err := table.Insert(w, item{Value: uint64(100 + i)}); err != nil {
					t.Error(err)
				}
			}
		},
	}
	for _, pass := range []string{"items", "rows", "groups"} {
		for what, change := range writes {
			t.Run(pass+", "+what, func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
					names := fill(t, s, table, 3)
					eraser := &twin{Store: s, table: table}
					eraser.wanted = eraseWanted{kind: pass, divisor: 3}
					var other *call
					frame := newSchedule(
						t, s, store.System{Name: "first", Writes: on(table), Emits: on(table), Run: func(ctx context.Context) error {
							other = begin(func() error {
								return s.Write(context.Background(), func(_ context.Context, w *store.Writer) error {
									change(t, table, w, names)
									return nil
								})
							})
							other.waits(t, "a Write while a wave runs")
							return eraser.pass(ctx, eraser.wanted)
						}}, store.System{Name: "second", After: []string{"first"}, Run: nothing},
					)
					report := runFrame(t, frame)
					erased := batch.Counts{Erased: 1}
					if report.Total != erased {
						t.Errorf("the Run counts %+v, want %+v", report.Total, erased)
					}
					if err := other.result(); err != nil {
						t.Error(err)
					}
					want := map[string][]uint64{"Remove": {2, 1}, "Clear": nil, "Clear and Insert": {100, 101, 102}}
					holds(t, table, "after both", want[what]...)
				})
			})
		}
	}
}

func runFrame(t tb, frame *store.Schedule) *store.Report {
	t.Helper()
	report, err := frame.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// A call of another goroutine waits until the Run has ended, and then finds all of it.
func TestRun_HoldsTheStoreToItsEnd(t *testing.T) {
	calls := func(t tb, s *store.Store, table *store.Table[item]) map[string]func(context.Context) error {
		calls := phases(s, table)
		calls["Claim"] = func(ctx context.Context) error {
			c, err := s.Claim(ctx)
			if err == nil {
				c.Release()
			}
			return err
		}
		other := newSchedule(t, s, store.System{Name: "other", Run: nothing})
		calls["Run"] = func(ctx context.Context) error { return second(other.Run(ctx)) }
		return calls
	}
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	for what := range calls(t, s, table) {
		t.Run(what, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
				do := calls(t, s, table)[what]
				var waiting *call
				found := 0
				frame := newSchedule(
					t, s,
					store.System{Name: "first", Reads: on(table), Emits: on(table), Run: func(ctx context.Context) error {
						waiting = begin(func() error {
							err := do(context.Background())
							found = table.Len()
							return err
						})
						waiting.waits(t, what+" inside a wave")
						return emplace(s, table, 1)(ctx)
					}},
					store.System{Name: "second", Reads: on(table), Emits: on(table), Run: func(ctx context.Context) error {
						waiting.waits(t, what+" between two waves")
						return emplace(s, table, 1)(ctx)
					}},
				)
				run := func(ctx context.Context, _ *store.Writer) error {
					report, err := frame.Run(ctx)
					if err == nil && report.Total != (batch.Counts{Created: 2}) {
						t.Errorf("the Run counts %+v", report.Total)
					}
					return err
				}
				if err := run(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				if err := waiting.result(); err != nil || found != 2 {
					t.Errorf("%s finds %d items after a Run that made 2; %v", what, found, err)
				}
				if err := s.Write(t.Context(), run); err != nil {
					t.Fatal(err)
				}
				if err := waiting.result(); err != nil || found != 4 {
					t.Errorf("%s finds %d items after a Write that made 2 more; %v", what, found, err)
				}
			})
		})
	}
}

// A phase that AfterFlush opens would wait for the Write or Run that the flush is in. It is
// refused, with any context but that of the Write, while phases of other goroutines wait.
func TestAfterFlush_OpensNoPhaseInsideAnother(t *testing.T) {
	for _, around := range []string{"Write", "Run", "Run inside Write"} {
		t.Run(around, func(t *testing.T) {
			atOnce(t, func(t *testing.T) {
				var s *store.Store
				var table *store.Table[item]
				var inside context.Context // of the Write, if there is one
				var foreign []*call
				reports := 0
				s, table = newTable(t, store.Options{Workers: 1, AfterFlush: func(*store.Report) {
					reports++
					ctx, stop := context.WithTimeout(context.Background(), time.Hour)
					defer stop()
					for what, open := range phases(s, table) {
						for _, ctx := range []context.Context{context.Background(), ctx} {
							if err := open(ctx); !errors.Is(err, store.ErrPhase) {
								t.Errorf("%s inside AfterFlush: %v", what, err)
							}
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
				run := func(ctx context.Context) error { return second(frame.Run(ctx)) }
				if around == "Write" {
					run = func(ctx context.Context) error {
						emplaceIn(t, s, ctx, table, 1)
						return second(s.Flush(ctx))
					}
				}
				var err error
				if around == "Run" {
					err = run(t.Context())
				} else {
					err = s.Write(t.Context(), func(ctx context.Context, _ *store.Writer) error {
						inside = ctx
						return run(ctx)
					})
				}
				if err != nil || reports == 0 {
					t.Errorf("AfterFlush was called %d times; %v", reports, err)
				}
				for _, call := range foreign {
					if err := call.result(); err != nil {
						t.Errorf("another goroutine: %v", err)
					}
				}
			})
		})
	}
}
