package store_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"weak"

	"handloom/store"
)

type burden struct{ _ [1 << 16]byte }

type burdenKey struct{}

// heldBy calls f with a burden in its context and another, own. It reports which are reachable
// after a collection, and so after each of ten calls. A second collection would empty pools.
func heldBy(t *testing.T, ctx context.Context, f func(ctx context.Context, own *burden) error) (carries, owns bool) {
	t.Helper()
	for range 10 {
		var refs [2]weak.Pointer[burden]
		func() {
			carried, owned := new(burden), new(burden)
			refs[0], refs[1] = weak.Make(carried), weak.Make(owned)
			if err := f(context.WithValue(ctx, burdenKey{}, carried), owned); err != nil && !errors.Is(err, errTask) {
				t.Error(err)
			}
		}()
		runtime.GC()
		if carries, owns = refs[0].Value() != nil, refs[1].Value() != nil; !carries && !owns {
			break
		}
	}
	return carries, owns
}

type holder struct{ *burden }

// Calls fail with errTask, or not at all.
func TestStore_KeepsNoCallerMemory(t *testing.T) {
	for _, workers := range []int{1, 3} {
		s := newStore(t, store.Options{Workers: workers})
		table := register(t, s, store.TableOptions[item]{ChunkItems: 4, Shards: 2})
		stable := registerStable(t, s, store.TableOptions[item]{Name: "stable", ChunkItems: 4})
		holders := register(t, s, store.TableOptions[holder]{
			Name: "holders", Clone: func(dst, src *holder) { *dst = *src },
		})
		fill(t, s, table, 20)
		stable.EmplaceItems(queues(t, s, 1)[0], make([]item, 20), nil)
		flush(t, s)
		fail := false
		frame := newSchedule(t, s, store.System{Name: "a", Emits: on(table), Run: func(context.Context) error {
			if fail {
				return errTask
			}
			return nil
		}}, store.System{Name: "b", Reads: on(table), Run: nothing})
		var old, saved store.Checkpoint
		checkpoint(t, s, &old)
		ctx := t.Context()
		writing := func(f func(ctx context.Context, w *store.Writer, own *burden) error) func(context.Context, *burden) error {
			return func(ctx context.Context, own *burden) error {
				return onlyError(s.Frame(ctx, func(ctx context.Context, w *store.Writer) error { return f(ctx, w, own) }))
			}
		}
		recording := func(record func(q store.Queue, own *burden) error) func(context.Context, *burden) error {
			return func(ctx context.Context, own *burden) error {
				return s.Each(ctx, 4, func(_ int, q store.Queue) { q.Fail(record(q, own)) })
			}
		}
		creating := recording(func(q store.Queue, own *burden) error {
			p := holders.Emplace(q, holder{own})
			holders.Put(q, p, holder{own})
			holders.Erase(q, p)
			return nil
		})
		reducing := func(combine func(a, b *burden) *burden) func(context.Context, *burden) error {
			return func(ctx context.Context, own *burden) error {
				return onlyError(store.Reduce(ctx, table, func(store.Chunk[item]) *burden { return own }, combine))
			}
		}
		first := func(a, _ *burden) *burden { return a }
		panics := reducing(func(_, _ *burden) *burden { panic("a fault of the test") })
		calls := map[string]func(ctx context.Context, own *burden) error{
			"Read": func(ctx context.Context, own *burden) error {
				return s.Read(ctx, func(context.Context) error { _ = *own; return nil })
			},
			"Write":              writing(func(_ context.Context, _ *store.Writer, own *burden) error { _ = *own; return nil }),
			"Each":               recording(func(_ store.Queue, own *burden) error { _ = *own; return nil }),
			"an Each that fails": recording(func(q store.Queue, own *burden) error { holders.Emplace(q, holder{own}); return errTask }),
			"ForEach": func(ctx context.Context, own *burden) error {
				return table.ForEach(ctx, func(store.Chunk[item]) { _ = *own })
			},
			"ForEach of a stable table": func(ctx context.Context, own *burden) error {
				return stable.ForEach(ctx, func(store.StableChunk[item]) { _ = *own })
			},
			"Reduce": reducing(first),
			"a Reduce that fails": func(ctx context.Context, own *burden) error {
				return onlyError(store.Reduce(ctx, table, func(store.Chunk[item]) *burden { _ = *own; panic(errTask) }, first))
			},
			"a Reduce whose combine panics": func(ctx context.Context, own *burden) error {
				_ = panicOf(func() { _ = panics(ctx, own) })
				return nil
			},
			"Reduce of a stable table": func(ctx context.Context, own *burden) error {
				return onlyError(store.Reduce(ctx, stable, func(store.StableChunk[item]) *burden { return own }, first))
			},
			"Flush": func(ctx context.Context, own *burden) error {
				return errors.Join(creating(ctx, own), onlyError(s.Flush(ctx)))
			},
			"Discard": func(ctx context.Context, own *burden) error { return errors.Join(creating(ctx, own), s.Discard()) },
			"Inbox": func(_ context.Context, own *burden) error {
				return s.Inbox(func(q store.Queue) error { holders.Emplace(q, holder{own}); return errTask })
			},
			"NewSchedule": func(ctx context.Context, own *burden) error {
				frame := store.NewSchedule(s, store.System{Name: "it", Emits: on(holders), Run: func(ctx context.Context) error { return creating(ctx, own) }})
				return onlyError(frame.Run(ctx))
			},
			"Schedule.Run": func(ctx context.Context, _ *burden) error { return onlyError(frame.Run(ctx)) },
			"a Run that fails": func(ctx context.Context, _ *burden) error {
				fail = true
				defer func() { fail = false }()
				return onlyError(frame.Run(ctx))
			},
			"Checkpoint": func(ctx context.Context, _ *burden) error { return s.Checkpoint(ctx, &saved) },
			"Rollback":   func(ctx context.Context, _ *burden) error { return s.Rollback(ctx, &old) },
			"SortFunc and Defragment": writing(func(ctx context.Context, w *store.Writer, own *burden) error {
				compare := func(a, b *item) int { _ = *own; return int(a.Value) - int(b.Value) }
				_, _, err := store.Defragment(ctx, table, w, compare, 0)
				return errors.Join(err, store.SortFunc(ctx, table, w, compare))
			}),
			"Insert and Clear": writing(func(_ context.Context, w *store.Writer, own *burden) error {
				holders.Insert(w, holder{own})
				holders.Clear(w)
				return nil
			}),
			"Digest and Verify": func(ctx context.Context, _ *burden) error {
				return errors.Join(onlyError(s.Digest(ctx)), s.Verify(ctx))
			},
		}
		check := func(what string, ctx context.Context) {
			for name, f := range calls {
				if carries, owns := heldBy(t, ctx, f); carries || owns {
					t.Errorf("%d workers, %s: after %s the context is held: %t, what else it was given: %t", workers, what, name, carries, owns)
				}
			}
		}
		check("no team", ctx)
		noError(t, s.Team(ctx, func(ctx context.Context) error { check("a team", ctx); return nil }))
		runtime.KeepAlive(s)
		runtime.KeepAlive(frame)
		runtime.KeepAlive(&saved)
		runtime.KeepAlive(&old)
	}
}

// Tables may outlive their store.
func TestClose_ReleasesItems(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		var table anyTable[holder]
		_, held := heldBy(t, t.Context(), func(ctx context.Context, own *burden) error {
			s := store.New(store.Options{})
			table = registerKind(t, s, store.TableOptions[holder]{Changes: true}, stable)
			names := table.EmplaceItems(queues(t, s, 1)[0], []holder{{own}, {own}, {own}}, nil)
			flush(t, s)
			q := queues(t, s, 1)[0]
			table.Erase(q, resolve(t, table, names[0]))
			table.Put(q, resolve(t, table, names[1]), holder{own})
			flush(t, s)
			table.Emplace(queues(t, s, 1)[0], holder{own}) // never flushed
			return onlyError(s.Close(ctx))
		})
		equal(t, "what an item held is held by the closed store", held, false)
		runtime.KeepAlive(table)
	})
}
