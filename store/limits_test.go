package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"handloom/batch"
	"handloom/store"
)

const (
	itemBytes = int64(unsafe.Sizeof(item{}))
	putBytes  = itemBytes + 8
)

func nothingToDo(int, store.Queue) {}

// Commands count only after the next flush begins, because timing must not matter.
func TestPass_BeginsWhileGoroutinesRecord(t *testing.T) {
	s, table := newTable(t, store.Options{BatchLimit: 50, Workers: 2}, store.TableOptions[item]{})
	fill(t, s, table, 10)
	var recorders []*call
	for _, q := range queues(t, s, 4) {
		recorders = append(recorders, begin(func() error {
			for i := range 1000 {
				table.Put(q, store.Handle[item]{}, item{})
				table.Erase(q, table.Emplace(q, item{Value: uint64(i)}))
			}
			return nil
		}))
	}
	for pass := range 100 {
		err := s.Each(t.Context(), 2, func(task int, q store.Queue) {
			if pass%4 == task {
				table.Emplace(q, item{})
			}
		})
		if (err == nil) != (pass < 98) { // by then they hold 50 commands
			t.Errorf("pass %d: %v", pass, err)
		}
	}
	for _, c := range recorders {
		_ = c.result()
	}
	wantFlush(t, s, batch.Counts{Created: 50, CancelledOut: 8000, Stale: 4000})
}

// The report is valid until the next flush, so none may begin before its flush returns.
func TestAfterFlush_RefusesFlushes(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		var again func() error
		s := newStore(t, store.Options{AfterFlush: func(*store.Report) {
			wantError(t, "a flush inside AfterFlush", again(), store.ErrPhase)
		}})
		table := register(t, s, store.TableOptions[item]{})
		frame := newSchedule(t, s, store.System{Name: "only", Emits: on(table), Run: emplace(s, table, 1)})
		inside := t.Context()
		flushes := map[string]func() error{
			"Flush":       func() error { return onlyError(s.Flush(inside)) },
			"Flush alone": func() error { return onlyError(s.Flush(t.Context())) },
			"frame":       func() error { return onlyError(frame.Run(inside)) },
			"Write": func() error {
				return onlyError(s.Frame(t.Context(), func(ctx context.Context, _ *store.Writer) error { return onlyError(s.Flush(ctx)) }))
			},
		}
		one := func(ctx context.Context) (*store.Report, error) {
			emplaceIn(t, s, ctx, table, 1)
			return s.Flush(ctx)
		}
		items := 0
		check := func(what string, flush func(ctx context.Context) (*store.Report, error)) {
			for name, f := range flushes {
				if what == "a Write" && name == "Write" {
					continue
				}
				again = f
				items++
				report, err := flush(inside)
				if err != nil || report.Total != (batch.Counts{Created: 1}) || report.Epoch != uint64(items) || table.Len() != items {
					t.Errorf("%s, with %s inside AfterFlush: %v, %v, %d items", what, name, report, err, table.Len())
				}
			}
		}
		check("a flush", one)
		check("a frame", frame.Run)
		runFrame(t, s, func(ctx context.Context, _ *store.Writer) error {
			inside = ctx
			check("a Write", one)
			return nil
		})
		for _, end := range []func(){func() { panic("a fault of the test") }, runtime.Goexit} {
			again = func() error { end(); return nil }
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = panicOf(func() { _, _ = one(t.Context()) })
			}()
			<-done
		}
		again = func() error { return store.ErrPhase }
		usable(t, s, table)
	})
}

// A failed or empty flush does not call AfterFlush.
func TestAfterFlush_CalledOnceForEachFlush(t *testing.T) {
	var reports []*store.Report
	var s *store.Store
	s, table := newTable(t, store.Options{AfterFlush: func(r *store.Report) {
		reports = append(reports, r)
		digest(t, s)
	}}, store.TableOptions[item]{MaxItems: 3})
	for n := range 2 {
		table.Emplace(queues(t, s, 1)[0], item{})
		report, err := s.Flush(t.Context())
		if err != nil || len(reports) != n+1 || reports[n] != report || report.Epoch != uint64(n+1) {
			t.Errorf("flush %d returns %v, %v; AfterFlush got %v", n, report, err, reports)
		}
		flush(t, s)
		queues(t, s, 2)
		flush(t, s)
	}
	table.EmplaceItems(queues(t, s, 1)[0], make([]item, 2), nil)
	wantError(t, "Flush", onlyError(s.Flush(t.Context())), store.ErrFull)
	equal(t, "calls of AfterFlush", len(reports), 2)
}

func TestBatchLimit_HoldsForSystems(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{BatchLimit: 3}, store.TableOptions[item]{})
		for i := range uint64(3) {
			emplaceIn(t, s, t.Context(), table, i)
		}
		frame := newSchedule(t, s, store.System{Name: "only", Emits: on(table), Run: emplace(s, table, 1)})
		wantError(t, "Run", onlyError(frame.Run(t.Context())), store.ErrQueueFull, "the batch holds")
		for range 2 { // a refused pass ends its phase
			wantError(t, "ForEach", table.ForEach(t.Context(), func(store.Chunk[item]) {}), store.ErrQueueFull, "of table")
		}
		noError(t, s.Discard())
	})
}

// A model refuses the same calls for the same cause, and takes them later.
func TestLimits_RefuseByTheFirstCause(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		of := func(most int) int { return r.IntN(2) * (1 + r.IntN(most)) }
		o := store.Options{QueueLimit: 1 + r.IntN(20), InboxLimit: 1 + r.IntN(30), BatchLimit: of(40), QueueBytes: 16 * int64(of(40)), BatchBytes: 16 * int64(of(90))}
		room, pass, waiting, calls := 20+r.IntN(40), 0, 0, []int{}
		s, table := newTable(t, o, store.TableOptions[item]{MaxItems: room, Shards: 2})
		for range 80 {
			kind, n, bytes, cause := r.IntN(8), r.IntN(25), int64(pass+waiting)*itemBytes, []string(nil)
			create := func(q store.Queue) { table.EmplaceItems(q, make([]item, n), nil) }
			ctx, end := context.WithCancelCause(t.Context())
			if r.IntN(5) == 0 {
				end(errTask)
			}
			want, inbox := context.Cause(ctx), kind > 1
			if inbox && kind < 5 {
				want = nil
			}
			switch {
			case kind == 7:
				noError(t, s.Write(t.Context(), table.Clear))
			case kind > 4:
				if want == nil && table.Len()+pass > room {
					want = store.ErrFull
				}
				live := table.Len()
				report, err := s.Flush(ctx)
				if wantError(t, "Flush", err, want); err != nil {
					break
				}
				sum, lost := batch.Counts{Created: pass}, 0
				for _, n := range calls {
					if live+sum.Created+n <= room {
						sum.Created += n
					} else {
						sum.Dropped += n
						lost++
					}
				}
				equal(t, "the flush", report.Total, sum)
				equal(t, "dropped calls", report.DroppedCalls, lost)
				pass, waiting, calls = 0, 0, nil
			case want != nil && !inbox:
			case inbox && waiting >= o.InboxLimit:
				cause = []string{"the inbox holds"}
			case o.BatchLimit > 0 && pass+waiting >= o.BatchLimit || o.BatchBytes > 0 && bytes >= o.BatchBytes:
				cause = []string{"the batch holds"}
			case n > o.QueueLimit || o.QueueBytes > 0 && int64(n)*itemBytes > o.QueueBytes:
				cause = []string{"more than"}
			case inbox && waiting+n > o.InboxLimit:
				cause = []string{"exceed the limit"}
			case inbox:
				waiting, calls = waiting+n, append(calls, n)
			default:
				pass += n
			}
			if cause != nil {
				want = store.ErrQueueFull
			}
			if kind < 2 {
				wantError(t, "Do", s.Do(ctx, create), want, cause...)
			} else if kind < 5 {
				wantError(t, "Inbox", s.Inbox(callOf(create)), want, cause...)
			}
			end(nil)
			equal(t, "pending", s.Pending(), batch.Load{Commands: pass + waiting, Bytes: int64(pass+waiting) * itemBytes})
		}
		noError(t, s.Discard())
	}
}

// bounded is a store whose queues have limits.
type bounded struct {
	*store.Store
	small  *store.Table[item]
	large  *store.StableTable[[5]uint64]
	column *store.Column[item, [3]uint32]
	sparse *store.Sparse[item, [2]uint64]
	live   []store.Handle[item]
	start  store.Checkpoint
}

func newBounded(t *testing.T, o store.Options) *bounded {
	b := &bounded{Store: newStore(t, o)}
	b.small = register(t, b.Store, store.TableOptions[item]{Name: "small", Shards: 2})
	b.large = registerStable(t, b.Store, store.TableOptions[[5]uint64]{Name: "large", Shards: 3})
	b.column = addColumn(t, b.small, store.ColumnOptions[[3]uint32]{Name: "column"})
	b.sparse = addSparse(t, b.small, store.ColumnOptions[[2]uint64]{Name: "sparse"})
	b.live = fill(t, b.Store, b.small, 10)
	checkpoint(t, b.Store, &b.start)
	return b
}

// record records random commands and returns for each whether there is a handle or staged
// value. Pointers to staged values are kept and written later.
func (b *bounded) record(q store.Queue, seed uint64, n int) (seen []bool) {
	r := rand.New(rand.NewPCG(seed, 1))
	made := slices.Clone(b.live)
	staged := []*item{new(item)}
	var h store.Handle[item]
	emplace := func() bool {
		h := b.small.Emplace(q, item{Value: r.Uint64N(1000), Parent: h})
		made = append(made, h)
		return !h.ID.IsZero()
	}
	func1 := func(h store.Handle[item], v *item) {
		made = append(made, h)
		v.Parent = h
		own, ok := b.small.Staged(q, h)
		seen = append(seen, ok, emplace(), len(b.small.EmplaceItems(q, make([]item, r.IntN(20)), nil)) > 0)
		if again, ok := b.small.Staged(q, h); ok {
			again.Value += 7
			own.Links[0] = h.ID
		}
		v.Value *= 3
	}
	kinds := []func() bool{
		emplace,
		func() bool { return !b.large.Emplace(q, [5]uint64{}).ID.IsZero() },
		func() bool { return len(b.small.EmplaceItems(q, make([]item, r.IntN(6)+1), nil)) > 0 },
		func() bool {
			h := b.small.Emplace(q, item{})
			v, ok := b.small.Staged(q, h)
			if ok {
				func1(h, v)
			}
			return ok
		},
		func() bool { b.small.Erase(q, h); return true },
		func() bool { b.small.Put(q, h, item{Value: 2, Parent: made[r.IntN(len(made))]}); return true },
		func() bool { b.column.Set(q, h, [3]uint32{1}); return true },
		func() bool { b.sparse.Set(q, h, [2]uint64{1}); return true },
		func() bool { b.sparse.Unset(q, h); return true },
		func() bool { q.Erase(store.ID(1 << 60 >> 1)); return true },
		func() bool { v := staged[r.IntN(len(staged))]; v.Value = v.Value*31 + 5; return true },
		func() bool {
			v, ok := b.small.Staged(q, h)
			if ok {
				staged = append(staged, v)
			}
			return ok
		},
	}

	for len(seen) < n {
		kind := kinds[r.IntN(len(kinds))]
		for range 1 + r.IntN(12) {
			h = made[r.IntN(len(made))]
			seen = append(seen, kind())
		}
		seen = append(seen, emplace())
	}
	return seen
}

// age gives the store a history.
func (b *bounded) age(t *testing.T, r *rand.Rand, most int) {
	for range r.IntN(5) {
		var c store.Checkpoint
		checkpoint(t, b.Store, &c)
		for range r.IntN(4) {
			seed, n := r.Uint64(), r.IntN(most)
			_ = b.Inbox(func(q store.Queue) error { b.record(q, seed, n); return nil })
			for _, q := range queues(t, b.Store, 1+r.IntN(2)) {
				b.record(q, r.Uint64(), r.IntN(most))
			}
			if _, err := b.Flush(t.Context()); err != nil {
				_ = b.Discard()
			}
		}
		noError(t, b.Rollback(t.Context(), &c))
		for range []int{0, 1, 70, 140}[r.IntN(4)] {
			flush(t, b.Store)
		}
		if r.IntN(3) == 0 {
			noError(t, b.Load(t.Context(), bytes.NewReader(image(t, b.Store))))
		}
	}
}

// Neither array capacities nor the values of provisional handles change the outcome.
func TestQueueLimit_DoesNotDependOnHistory(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 1
	}
	for _, o := range []store.Options{
		{}, {QueueLimit: 100}, {QueueLimit: 12}, {QueueBytes: 3000}, {QueueLimit: 150, QueueBytes: 4000}, {QueueLimit: 1000},
	} {
		most := max(2*o.QueueLimit, int(o.QueueBytes/10), 20) // 20: without limits
		if most == 20 {
			most = 2000
		}
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, 2))
			cold, warm := newBounded(t, o), newBounded(t, o)
			for range 5 {
				warm.age(t, r, most)
				program, n := r.Uint64(), r.IntN(4)
				var outcomes [2]string
				for i, b := range []*bounded{cold, warm} {
					var err error
					var seen []bool
					if n == 0 {
						err = b.Inbox(func(q store.Queue) error { seen = b.record(q, program, most); return nil })
					} else {
						for k, q := range queues(t, b.Store, n) {
							seen = append(seen, b.record(q, program+uint64(k), most/n)...)
						}
					}
					err = errors.Join(err, onlyError(b.Flush(t.Context())))
					outcomes[i] = fmt.Sprint(seen, err != nil, digest(t, b.Store))
					_ = b.Discard()
					rollback(t, b.Store, &b.start)
				}
				if outcomes[0] != outcomes[1] {
					t.Fatalf("%+v, seed %d: a cold store shows %s, a warm one %s", o, seed, outcomes[0], outcomes[1])
				}
			}
		}
	}
}

func TestQueueLimit_IsExact(t *testing.T) {
	s, table := newTable(t, store.Options{QueueLimit: 100}, store.TableOptions[item]{})
	other := register(t, s, store.TableOptions[uint64]{Name: "other"})
	for before := range 101 {
		q := queues(t, s, 1)[0]
		for i := range before {
			switch i % 3 {
			case 0:
				other.Emplace(q, 1)
			case 1:
				other.Put(q, store.Handle[uint64]{ID: 1}, 1)
			default:
				table.Erase(q, store.Handle[item]{ID: 1})
			}
		}
		n := before
		for ; !table.Emplace(q, item{}).ID.IsZero(); n++ {
			atMost(t, "recorded commands", n, 100)
		}
		equal(t, fmt.Sprintf("place of the null handle after %d other commands", before), n, 100)
		if hs := table.EmplaceItems(q, make([]item, 2), []store.Handle[item]{{ID: 7}}); len(hs) != 3 || hs[0].ID != 7 || !hs[1].ID.IsZero() || !hs[2].ID.IsZero() || s.Pending().Commands > 0 {
			t.Errorf("a full queue gives %v", hs)
		}
		noError(t, s.Discard())
	}
}
