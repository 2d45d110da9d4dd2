package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"handloom/store"
)

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
