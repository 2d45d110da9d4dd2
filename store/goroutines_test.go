package store_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"handloom/internal/check"
	"handloom/store"
)

// hooked calls a function of the test once, from Links and Clone.
type hooked struct {
	*store.Store
	table *store.Table[item]
	hook  atomic.Pointer[func()]
}

func newHooked(t *testing.T) *hooked {
	t.Helper()
	s := &hooked{Store: newStore(t, store.Options{Workers: 2})}
	s.table = register(t, s.Store, store.TableOptions[item]{
		Shards: 2, ChunkItems: 4,
		Links: func(*item, func(*store.ID)) { s.call() },
		Clone: func(dst, src *item) { s.call(); *dst = *src },
	})
	fill(t, s.Store, s.table, 20)
	return s
}

func (s *hooked) call() {
	if f := s.hook.Swap(nil); f != nil {
		(*f)()
	}
}

func (s *hooked) set(f func() error) {
	call := func() { _ = f() }
	s.hook.Store(&call)
}

func (s *hooked) sorted(ctx context.Context, f func() error, order func(ctx context.Context, w *store.Writer) error) error {
	return onlyError(s.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		s.set(f)
		return order(ctx, w)
	}))
}

func (s *hooked) frame(ctx context.Context, y store.System) error {
	frame := store.NewSchedule(s.Store, y)
	return onlyError(frame.Run(ctx))
}

func (s *hooked) compare(a, b *item) int { s.call(); return int(b.Value) - int(a.Value) }

// inPhase has functions that call f once, inside of a phase. The key is the phase in the error
// text, without brackets.
var inPhase = map[string]func(ctx context.Context, s *hooked, f func() error) error{
	"Read": func(ctx context.Context, s *hooked, f func() error) error {
		return s.Read(ctx, func(context.Context) error { return f() })
	},
	"Write": func(ctx context.Context, s *hooked, f func() error) (err error) {
		return errors.Join(s.Write(ctx, func(*store.Writer) { err = f() }), err)
	},
	"Frame": func(ctx context.Context, s *hooked, f func() error) error {
		return onlyError(s.Frame(ctx, func(context.Context, *store.Writer) error { return f() }))
	},
	"Frame (after a pass)": func(ctx context.Context, s *hooked, f func() error) error {
		return onlyError(s.Frame(ctx, func(ctx context.Context, _ *store.Writer) error {
			err := s.Each(ctx, 3, func(int, store.Queue) {})
			return errors.Join(err, f())
		}))
	},
	"Each": func(ctx context.Context, s *hooked, f func() error) error {
		return s.Each(ctx, 3, func(task int, q store.Queue) {
			if task < 2 {
				return
			}
			q.Fail(f())
		})
	},
	"ForEach": func(ctx context.Context, s *hooked, f func() error) error {
		return s.table.ForEach(ctx, func(c store.Chunk[item]) {
			if c.Index != 1 {
				return
			}
			c.Queue.Fail(f())
		})
	},
	"Reduce": func(ctx context.Context, s *hooked, f func() error) error {
		var failed error
		_, err := store.Reduce(ctx, s.table, func(r store.Chunk[item]) int {
			if r.Index == 1 {
				failed = f()
			}
			return 0
		}, addInt)
		return errors.Join(err, failed)
	},
	"Reduce (combine)": func(ctx context.Context, s *hooked, f func() error) error {
		s.set(f)
		_, err := store.Reduce(ctx, s.table, func(store.Chunk[item]) int { return 0 },
			func(int, int) int { s.call(); return 0 })
		return err
	},
	"Reduce (in a task)": func(ctx context.Context, s *hooked, f func() error) error {
		return s.Do(ctx, func(q store.Queue) {
			s.set(f)
			_, err := store.Reduce(q.Context(), s.table, func(store.Chunk[item]) int { s.call(); return 0 }, addInt)
			q.Fail(err)
		})
	},
	"a system": func(ctx context.Context, s *hooked, f func() error) error {
		return s.frame(ctx, store.System{Name: "it", Run: func(context.Context) error { return f() }})
	},
	"Run": func(ctx context.Context, s *hooked, f func() error) error {
		return s.frame(ctx, store.System{Name: "it", If: func() bool { return f() != nil }, Run: nothing})
	},
	"Flush": func(ctx context.Context, s *hooked, f func() error) error {
		err := s.Do(ctx, func(q store.Queue) { s.table.Emplace(q, item{}) })
		s.set(f)
		_, err2 := s.Flush(ctx)
		return errors.Join(err, err2)
	},
	"Checkpoint": func(ctx context.Context, s *hooked, f func() error) error {
		s.set(f)
		return s.Checkpoint(ctx, new(store.Checkpoint))
	},
	"Rollback": func(ctx context.Context, s *hooked, f func() error) error {
		var c store.Checkpoint
		err := s.Checkpoint(ctx, &c)
		s.set(f)
		return errors.Join(err, s.Rollback(ctx, &c))
	},
	"SortFunc": func(ctx context.Context, s *hooked, f func() error) error {
		return s.sorted(ctx, f, func(ctx context.Context, w *store.Writer) error { return store.SortFunc(ctx, s.table, w, s.compare) })
	},
	"SortByKey": func(ctx context.Context, s *hooked, f func() error) error {
		return s.sorted(ctx, f, func(ctx context.Context, w *store.Writer) error {
			return store.SortByKey(ctx, s.table, w, func(v *item) uint64 { s.call(); return v.Value })
		})
	},
	"Defragment": func(ctx context.Context, s *hooked, f func() error) error {
		return s.sorted(ctx, f, func(ctx context.Context, w *store.Writer) error {
			_, _, err := store.Defragment(ctx, s.table, w, s.compare, 0)
			return err
		})
	},
}

// A call with a context from outside would wait for its own phase.
func TestChecked_NamesSelfWaitingCalls(t *testing.T) {
	if !check.Full {
		t.Skip("other builds wait")
	}
	outside := t.Context()
	for phase, within := range inPhase {
		for name, call := range map[string]func(s *hooked) error{
			"Flush": func(s *hooked) error { return onlyError(s.Flush(outside)) },
			"Write": func(s *hooked) error {
				return s.Write(outside, func(*store.Writer) {})
			},
			"ForEach": func(s *hooked) error {
				return s.table.ForEach(outside, func(store.Chunk[item]) {})
			},
			"Read": func(s *hooked) error { return s.Read(outside, nothing) },
			"Submit": func(s *hooked) error {
				return onlyError(s.Submit(outside, func(store.Queue) error { return nil }))
			},
		} {
			t.Run(name+" inside "+phase, func(t *testing.T) {
				s := newHooked(t)
				ctx, cancel := context.WithTimeout(outside, time.Minute)
				defer cancel()
				var got error
				called := 0
				noError(t, within(ctx, s, func() error { called++; got = call(s); return nil }))
				equal(t, "calls", called, 1)
				switch says := name + " inside " + phase; {
				case name == "Read" && (phase == "Read" || strings.HasPrefix(phase, "Reduce") && phase != "Reduce (in a task)"):
					if got != nil {
						t.Error(got)
					}
				case says == "Flush inside Flush": // at the same time, in every build
					wantError(t, "the error", got, store.ErrPhase)
				default:
					says, _, _ = strings.Cut(says, " (")
					wantError(t, "the error", got, store.ErrPhase, says+", with a context from outside")
				}
				wantError(t, "after the phase", call(s), nil)
			})
		}
	}
}

// Two reads share the gate, unless a waiting call is between them.
func TestChecked_NamesWaitingReads(t *testing.T) {
	if !check.Full {
		t.Skip("other builds wait")
	}
	virtual(t, func(t *testing.T) {
		s, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
		var waiting *call
		_ = s.Read(t.Context(), func(context.Context) error {
			waiting = begin(func() error {
				return s.Write(context.Background(), func(*store.Writer) {})
			})
			waiting.waits(t, "Write")
			wantError(t, "the second Read", s.Read(t.Context(), nothing), store.ErrPhase)
			return nil
		})
		noError(t, waiting.result())
	})
}

func TestPhase_LetsCallsOfAnotherStore(t *testing.T) {
	for phase, within := range inPhase {
		s, other := newHooked(t), newStore(t, store.Options{})
		err := within(t.Context(), s, func() error { return onlyError(other.Flush(t.Context())) })
		wantError(t, phase, err, nil)
	}
}

// AfterFlush may open phases, but Submit would wait for its own frame.
func TestChecked_RefusesSubmitInsideAfterFlush(t *testing.T) {
	if !check.Full {
		t.Skip("other builds wait")
	}
	var s *store.Store
	s, table := newTable(t, store.Options{AfterFlush: func(*store.Report) {
		wantError(t, "Submit", onlyError(s.Submit(context.Background(), func(store.Queue) error { return errTask })), store.ErrPhase)
		write(t, s, func(*store.Writer) {})
	}}, store.TableOptions[item]{})
	fill(t, s, table, 1)
}
