package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"handloom/batch"
	"handloom/internal/entrance"
	"handloom/store"
)

type submitted struct {
	done    atomic.Bool
	name    store.Handle[item]
	receipt *store.Receipt
	err     error
}

// submit waits until the call is in the inbox.
func submit(t *testing.T, s *store.Store, ctx context.Context, table *store.Table[item], value uint64) *submitted {
	t.Helper()
	r := new(submitted)
	go func() {
		r.receipt, r.err = s.Submit(ctx, callOf(func(q store.Queue) { r.name = table.Emplace(q, item{Value: value}) }))
		r.done.Store(true)
	}()
	synctest.Wait()
	return r
}

func (r *submitted) waits(t *testing.T, while string) {
	t.Helper()
	if synctest.Wait(); r.done.Load() {
		t.Errorf("Submit has returned while %s: %v", while, r.err)
	}
}

// applied checks that the call has a receipt that resolves its create.
func (r *submitted) applied(t *testing.T, table *store.Table[item], value uint64) {
	t.Helper()
	if synctest.Wait(); !r.done.Load() || r.err != nil {
		t.Fatalf("Submit has returned: %t, %v", r.done.Load(), r.err)
	}
	h, ok := store.Resolved(r.receipt, r.name)
	if v, lives := table.Get(h); !ok || !lives || v.Value != value {
		t.Errorf("%v resolves to %v, %t, of %v", r.name, h, ok, v)
	}
}

func (r *submitted) refused(t *testing.T, is error, says string) {
	t.Helper()
	if synctest.Wait(); !r.done.Load() {
		t.Fatal("Submit still waits")
	}
	if r.receipt != nil || !errors.Is(r.err, is) || !strings.Contains(r.err.Error(), says) {
		t.Errorf("Submit returns %v, %v; want %v, that says %q", r.receipt, r.err, is, says)
	}
}

func TestSubmit_ReturnsWhenItsFrameHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
		first := submit(t, s, t.Context(), table, 1)
		first.waits(t, "nothing is flushed")
		flush(t, s)
		first.applied(t, table, 1)

		second := submit(t, s, t.Context(), table, 2)
		var third *submitted
		runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
			flushIn(t, s, ctx)
			second.waits(t, "the frame goes on")
			third = submit(t, s, t.Context(), table, 3)
			emplaceIn(t, s, ctx, table, 0)
			flushIn(t, s, ctx)
			return nil
		})
		second.applied(t, table, 2)
		third.waits(t, "its frame has not begun")
		flush(t, s)
		third.applied(t, table, 3)

		fourth := submit(t, s, t.Context(), table, 4)
		frame := newSchedule(t, s,
			store.System{Name: "emit", Emits: on(table), Run: nothing},
			store.System{Name: "look", Reads: on(table), Run: func(context.Context) error {
				fourth.waits(t, "its run goes on")
				return errTask
			}},
		)
		wantError(t, "", onlyError(frame.Run(t.Context())), errTask)
		fourth.applied(t, table, 4)
		first.applied(t, table, 1)
	})
}

func TestSubmit_ErrorReportsOutcome(t *testing.T) {
	const not = "; nothing of the call is applied"
	ended, end := context.WithCancel(context.Background())
	end()
	for name, test := range map[string]func(t *testing.T, s *store.Store, table *store.Table[item]){
		"Discard": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			call := submit(t, s, t.Context(), table, 1)
			noError(t, s.Discard())
			call.refused(t, store.ErrDiscarded, not)
		},
		"Discard behind a flush that failed": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			call := submit(t, s, t.Context(), table, 1)
			wantError(t, "", onlyError(s.Flush(ended)), context.Canceled)
			call.waits(t, "its flush failed, and keeps it")
			noError(t, s.Discard())
			call.refused(t, store.ErrDiscarded, not)
		},
		"Close": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			call := submit(t, s, t.Context(), table, 1)
			if n, err := s.Close(t.Context()); n != 1 || err != nil {
				t.Errorf("%d commands are unapplied, %v", n, err)
			}
			call.refused(t, store.ErrClosed, not)
			submit(t, s, t.Context(), table, 1).refused(t, store.ErrClosed, not)
		},
		"Rollback of what waits": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			var before store.Checkpoint
			checkpoint(t, s, &before)
			call := submit(t, s, t.Context(), table, 1)
			noError(t, s.Rollback(t.Context(), &before))
			call.refused(t, store.ErrRolledBack, not)
		},
		"Rollback in the frame": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			var before, between store.Checkpoint
			checkpoint(t, s, &before)
			kept := submit(t, s, t.Context(), table, 1)
			var call *submitted
			runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
				flushIn(t, s, ctx)
				return s.Checkpoint(ctx, &between)
			})
			runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
				call = submit(t, s, t.Context(), table, 2)
				flushIn(t, s, ctx)
				call.waits(t, "the Write goes on")
				return s.Rollback(ctx, &between)
			})
			call.refused(t, store.ErrRolledBack, not)
			kept.applied(t, table, 1)
			noError(t, s.Rollback(t.Context(), &before))
			equal(t, "a receipt that was given is good", found(store.Resolved(kept.receipt, kept.name)), true)
		},
		"Rollback there and back": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			var before, behind store.Checkpoint
			var kept, gone *submitted
			runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
				kept = submit(t, s, t.Context(), table, 1)
				noError(t, s.Checkpoint(ctx, &before))
				flushIn(t, s, ctx)
				noError(t, errors.Join(s.Checkpoint(ctx, &behind), s.Rollback(ctx, &before)))
				kept.waits(t, "the frame goes on")
				return s.Rollback(ctx, &behind)
			})
			kept.applied(t, table, 1)
			runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
				gone = submit(t, s, t.Context(), table, 2)
				flushIn(t, s, ctx)
				return errors.Join(s.Rollback(ctx, &behind), s.Checkpoint(ctx, &before), s.Rollback(ctx, &before))
			})
			gone.refused(t, store.ErrRolledBack, not)
		},
		"Rollback to a flush of the same epoch": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			var before, between store.Checkpoint
			checkpoint(t, s, &before)
			var call *submitted
			for _, last := range []bool{false, true} {
				call = submit(t, s, t.Context(), table, 1)
				runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
					if flushIn(t, s, ctx); last {
						return s.Rollback(ctx, &between)
					}
					return s.Checkpoint(ctx, &between)
				})
				if !last {
					call.applied(t, table, 1)
					noError(t, s.Rollback(t.Context(), &before))
				}
			}
			call.refused(t, store.ErrRolledBack, not)
		},
		"a snapshot read in the frame": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			for _, applied := range []bool{false, true} { // when the snapshot is taken
				for _, direct := range []bool{false, true} {
					call := submit(t, s, t.Context(), table, 1)
					runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
						var file bytes.Buffer
						var c store.Checkpoint
						if applied {
							flushIn(t, s, ctx)
						}
						noError(t, s.Snapshot(ctx, &file))
						flushIn(t, s, ctx)
						if direct {
							return errors.Join(s.Load(ctx, &file), s.Checkpoint(ctx, &c), s.Rollback(ctx, &c))
						}
						return errors.Join(s.ReadCheckpoint(ctx, &file, &c), s.Rollback(ctx, &c))
					})
					call.refused(t, store.ErrUncertain, "may be applied")
				}
			}
			call := submit(t, s, t.Context(), table, 1) // in a later frame
			equal(t, "items", table.Len(), 2)
			flush(t, s)
			call.applied(t, table, 1)
		},
		"a context that ends": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			ctx, cancel := context.WithCancelCause(t.Context())
			call := submit(t, s, ctx, table, 1)
			cancel(errTask)
			call.refused(t, store.ErrUncertain, "may be applied")
			wantError(t, "the call", call.err, errTask)
			wantFlush(t, s, batch.Counts{Created: 1})
		},
		"a context that had ended": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			submit(t, s, ended, table, 1).refused(t, context.Canceled, not)
			equal(t, "recorded commands", s.Pending().Commands, 0)
		},
		"a function that fails": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			_, err := s.Submit(t.Context(), func(q store.Queue) error {
				table.Emplace(q, item{})
				return errTask
			})
			wantError(t, "the call", err, errTask, not)
			equal(t, "s.Pending().Commands", s.Pending().Commands, 0)
		},
		"a function that panics": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			got := panicOf(func() { _, _ = s.Submit(t.Context(), func(store.Queue) error { panic("on purpose") }) })
			equal(t, "the panic", got, "on purpose")
			equal(t, "s.Pending().Commands", s.Pending().Commands, 0)
		},
		"a queue that is full": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			wantError(t, "", onlyError(s.Submit(t.Context(), callOf(func(q store.Queue) { table.EmplaceItems(q, make([]item, 101), nil) }))), store.ErrQueueFull, not)
		},
		"a store that breaks": func(t *testing.T, s *store.Store, table *store.Table[item]) {
			submit(t, s, t.Context(), table, 1)
			flush(t, s)
			call := submit(t, s, t.Context(), table, 2)
			breakFlush(t)
			wantError(t, "", onlyError(s.Flush(t.Context())), store.ErrBroken)
			perturb(t, nil)
			call.refused(t, store.ErrBroken, "any part of the call may be applied")
			submit(t, s, t.Context(), table, 1).refused(t, store.ErrBroken, not)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, table := newTable(t, store.Options{Workers: 1, QueueLimit: 100}, store.TableOptions[item]{Reserve: 100})
				test(t, s, table)
			})
		})
	}
}

func TestSubmit_OfNothingReturnsAtOnce(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 1)
	r, err := s.Submit(t.Context(), func(store.Queue) error { return nil })
	noError(t, err)
	equal(t, "null resolves", found(r.Resolve(0)), false)
}

func TestReceipt_ResolvesItsOwnCreates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{Shards: 3})
		other := registerStable(t, s, store.TableOptions[item]{Name: "other"})
		names := make([][]store.ID, 2)
		results := make([]*store.Receipt, 2)
		for call := range 2 {
			go func() {
				r, err := s.Submit(t.Context(), callOf(func(q store.Queue) {
					for i := range 40_000 { // three segments
						names[call] = append(names[call], table.Emplace(q, item{}).ID)
						if i%1000 == 0 {
							names[call] = append(names[call], other.Emplace(q, item{}).ID)
						}
					}
					q.Erase(names[call][7])
				}))
				wantError(t, "", err, nil)
				results[call] = r
			}()
			synctest.Wait()
		}
		flush(t, s)
		synctest.Wait()
		for call, r := range results {
			for i, name := range names[call] {
				want, ok := store.ResolveIn(s, name)
				if got, known := r.Resolve(name); got != want || known != ok || ok == (i == 7) {
					t.Fatalf("call %d: %v resolves to %v, %t; by the store to %v, %t", call, name, got, known, want, ok)
				}
			}
			for _, name := range append(names[1-call], 0, compose(1, 1, 0), names[call][0]&^(1<<14-1)+20_000<<14) {
				equal(t, "a name of another call resolves", found(r.Resolve(name)), false)
			}
		}
	})
}

// Each goroutine finds the item that it created.
func TestSubmit_ThousandGoroutinesLoseNothing(t *testing.T) {
	t.Run("frames", func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 4, Changes: true})
		frame := newSchedule(t, s,
			store.System{Name: "emit", Emits: on(table), Run: nothing},
			store.System{Name: "look", Reads: on(table), Run: nothing},
			store.System{Name: "emit again", Emits: on(table), Run: nothing, After: []string{"look"}},
		)
		manySubmit(t, s, table, s.Submit, func(round uint64) error {
			switch round % 3 {
			case 0:
				return onlyError(s.Flush(t.Context()))
			case 1:
				return onlyError(frame.Run(t.Context()))
			}
			return onlyError(s.Frame(t.Context(), func(ctx context.Context, w *store.Writer) error {
				return errors.Join(onlyError(s.Flush(ctx)), onlyError(s.Flush(ctx)))
			}))
		})
	})
	t.Run("ticks", func(t *testing.T) {
		var stores [2]claimed // the second unseals the input of the first
		var tables [2]*store.Table[item]
		for i := range stores {
			stores[i].Store, tables[i] = newTable(t, store.Options{Workers: 2 - i}, store.TableOptions[item]{})
			stores[i].hold(t)
		}
		owner, replica := &stores[0], &stores[1]
		var input []byte
		submit := func(ctx context.Context, f func(store.Queue) error) (*store.Receipt, error) {
			return owner.claim.Submit(ctx, context.Background(), f)
		}
		manySubmit(t, owner.Store, tables[0], submit, func(round uint64) error {
			var calls entrance.Calls
			input, calls = owner.claim.Seal(input[:0], 4<<10)
			err := owner.play(input, calls)
			calls.Done(round, nil)
			return errors.Join(err, replica.play(input, nil))
		})
		equal(t, "digest of the replica", replica.digest(t), owner.digest(t))
	})
}

func manySubmit(t *testing.T, s *store.Store, table *store.Table[item],
	submit func(context.Context, func(store.Queue) error) (*store.Receipt, error), frame func(round uint64) error,
) {
	t.Helper()
	const callers, calls = 1000, 3
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(callers)
	for caller := range callers {
		wg.Go(func() {
			defer left.Add(-1)
			for call := range calls {
				var name store.Handle[item]
				want := uint64(caller*calls + call)
				r, err := submit(context.Background(), callOf(func(q store.Queue) { name = table.Emplace(q, item{Value: want}) }))
				if err != nil {
					t.Error(err)
					return
				}
				h, ok := store.Resolved(r, name)
				_ = s.Read(context.Background(), func(context.Context) error {
					if v, lives := table.Get(h); !ok || !lives || v.Value != want {
						t.Errorf("caller %d: %v resolves to %v, %t", caller, name, h, ok)
					}
					return nil
				})
			}
		})
	}
	for round := uint64(0); left.Load() > 0; round++ {
		noError(t, frame(round))
		runtime.Gosched()
	}
	wg.Wait()
	equal(t, "items", table.Len(), callers*calls)
}

func ExampleStore_Submit() {
	type player struct{ Name string }
	s := store.New(store.Options{})
	players := store.Register(s, store.TableOptions[player]{Name: "player"})

	join := func(ctx context.Context, name string) (store.Handle[player], error) { // in an HTTP handler
		var p store.Handle[player]
		receipt, err := s.Submit(ctx, func(q store.Queue) error {
			p = players.Emplace(q, player{Name: name})
			return nil
		})
		if err != nil {
			return p, err
		}
		h, _ := store.Resolved(receipt, p)
		return h, nil
	}

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { // the game loop
		for ctx.Err() == nil {
			_, _ = s.Flush(context.Background())
			runtime.Gosched()
		}
		ended <- nil
	}()
	h, err := join(ctx, "Ada")
	fmt.Println(h, err)
	stop()
	<-ended
	fmt.Println(players.At(h).Name)
	// Output:
	// 1:0.1 <nil>
	// Ada
}
