package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"handloom/store"
)

// lookers are the calls of the table "Who may do what" that a claim leaves to others.
var lookers = strings.Fields("Read Reduce ReduceStable Digest Verify Snapshot ReadCheckpoint Shuffle Stats Flushed Epoch Timings")

// withoutContext are the calls that no context tells the driver's from others'.
var withoutContext = strings.Fields("Inbox Queues Discard Register RegisterStable AddColumn AddSparse")

func claim(t tb, s *store.Store) *store.Claim {
	t.Helper()
	c, err := s.Claim(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Release)
	return c
}

func TestOthersMayOnlyLookWhileAStoreIsClaimed(t *testing.T) {
	for name := range newVisitor(t).calls() {
		t.Run(name, func(t *testing.T) {
			atOnce(t, func(t *testing.T) {
				v := newVisitor(t)
				c := claim(t, v.Store)
				check := func(ctx context.Context, fits bool, where string) {
					t.Helper()
					v.writer = nil
					err := attempt(v.calls()[name], ctx)
					if fits && err != nil || !fits && !errors.Is(err, store.ErrPhase) {
						t.Errorf("%s: %v, which should fit: %t", where, err, fits)
					}
				}
				looks := slices.Contains(lookers, name)
				check(t.Context(), looks, "others")
				other := claim(t, newStore(t, store.Options{}))
				check(other.Context(t.Context()), looks, "the driver of another store")
				if name == "Close" {
					return
				}
				fits, _ := fits(whoMay(t), name, []string{"no phase"})
				fits = fits && name != "Claim" && name != "Submit" && !slices.Contains(withoutContext, name)
				check(c.Context(t.Context()), fits, "the driver")
				c.Release()
				fits = fits || name == "Claim" || name == "Submit" || slices.Contains(withoutContext, name)
				check(t.Context(), fits, "behind the release")
				if !strings.HasPrefix(name, "Register") { // of one name, once
					check(c.Context(t.Context()), fits, "the former driver")
				}
			})
		})
	}
}

func TestInsideATickPhasesAreAsInsideAnyWrite(t *testing.T) {
	for name := range newVisitor(t).calls() {
		t.Run(name, func(t *testing.T) {
			atOnce(t, func(t *testing.T) {
				v := newVisitor(t)
				c := claim(t, v.Store)
				fits, _ := fits(whoMay(t), name, []string{"Write"})
				fits = fits && name != "Inbox" && name != "Rollback" && name != "Load"
				err := v.enter(c.Context(t.Context()), []string{"Write"}, func(ctx context.Context) {
					err := attempt(v.calls()[name], ctx)
					if fits && err != nil || !fits && !errors.Is(err, store.ErrPhase) {
						t.Errorf("%v, which should fit: %t", err, fits)
					}
				})
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestTheDriverMayRollBackWhereItsTicksMayNot(t *testing.T) {
	c := newClaimed(t, 2)
	sent := c.send(emplaceStem(c, 1))
	input, calls := c.claim.Seal(nil, 1000)
	before := c.digest(t)
	var saved store.Checkpoint
	own := c.claim.Context(t.Context())
	if err := c.Checkpoint(own, &saved); err != nil {
		t.Fatal(err)
	}
	c.tick(t, input, nil) // in advance
	waits := c.send(emplaceStem(c, 2))
	if err := c.Rollback(own, &saved); err != nil || c.digest(t) != before {
		t.Fatalf("between ticks: %v", err)
	}
	err := c.Write(own, func(ctx context.Context, w *store.Writer) error {
		c.claim.Forget()
		if err := c.claim.Put(ctx, input, nil); err != nil {
			return err
		}
		flushIn(t, c.Store, ctx)
		for where, ctx := range map[string]context.Context{"the tick": ctx, "outside": c.claim.Context(t.Context())} {
			if where == "the tick" {
				if err := c.Rollback(ctx, &saved); !errors.Is(err, store.ErrPhase) {
					t.Errorf("inside %s: %v", where, err)
				}
			}
		}
		if err := c.Rollback(c.claim.Context(ctx), &saved); err != nil {
			return err
		}
		if err := c.claim.Put(ctx, input, calls); err != nil {
			return err
		}
		flushIn(t, c.Store, ctx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	calls.Done(1, nil)
	sent.returned(t)
	if c.stems.Len() != 1 {
		t.Errorf("%d stems", c.stems.Len())
	}
	if input, calls := c.claim.Seal(nil, 1000); calls.Len() != 1 {
		t.Error("a rollback took what had arrived")
	} else {
		c.tick(t, input, calls)
		calls.Done(2, nil)
		waits.returned(t)
	}
}

func TestAStoreIsClaimedOnlyWhenNothingWaits(t *testing.T) {
	c := newUnclaimed(t, store.Options{})
	refused := func(why string) {
		t.Helper()
		if _, err := c.Claim(t.Context()); !errors.Is(err, store.ErrPhase) || !strings.Contains(err.Error(), why) {
			t.Errorf("%v; it should say %q", err, why)
		}
	}
	c.stems.Emplace(queues(t, c.Store, 1)[0], stem{})
	refused("1 commands wait for a flush")
	flush(t, c.Store)
	send(t, c.Store, func(q store.Queue) { c.stems.EraseAll(q) })
	refused("1 commands wait for a flush")
	flush(t, c.Store)
	if err := c.Inbox(func(q store.Queue) error { // begun before, and over behind
		c.hold(t)
		c.stems.Emplace(q, stem{})
		return nil
	}); !errors.Is(err, store.ErrPhase) {
		t.Errorf("a call that was recording: %v", err)
	}
	refused("has claimed the store")
	if p := c.Pending(); p.Commands != 0 {
		t.Errorf("%v", p)
	}
	c.claim.Release()
	send(t, c.Store, func(q store.Queue) { c.stems.Emplace(q, stem{}) })
	flush(t, c.Store)
	if c.stems.Len() != 1 {
		t.Errorf("%d stems", c.stems.Len())
	}
}

// What has no bytes cannot arrive, nor be saved, and the claim says so.
func TestAStoreOfItemsWithoutBytesIsNotClaimed(t *testing.T) {
	s := newStore(t, store.Options{})
	register(t, s, store.TableOptions[item]{})
	register(t, s, store.TableOptions[struct{ Of struct{ P *int } }]{Name: "pointers"})
	register(t, s, store.TableOptions[struct{ Do func() }]{Name: "functions"})
	_, err := s.Claim(t.Context())
	if !errors.Is(err, store.ErrSnapshot) {
		t.Fatal(err)
	}
	for _, says := range []string{`"pointers"`, ".Of.P of kind ptr", `"functions"`, ".Do of kind func"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v; it should say %s", err, says)
		}
	}
	if _, err := s.Flush(t.Context()); err != nil {
		t.Errorf("behind it: %v", err)
	}
}

func TestPutAndForgetBelongIntoATick(t *testing.T) {
	c := newClaimed(t, 1)
	if err := c.claim.Put(t.Context(), nil, nil); !errors.Is(err, store.ErrPhase) {
		t.Errorf("without the context of the claim: %v", err)
	}
	err := c.Each(c.claim.Context(t.Context()), 1, func(ctx context.Context, _ int, _ store.Queue) error {
		return c.claim.Put(c.claim.Context(ctx), nil, nil)
	})
	if !errors.Is(err, store.ErrPhase) {
		t.Errorf("inside a pass: %v", err)
	}
	if says := panicOf(c.claim.Forget); !strings.Contains(says, "outside of a Write") {
		t.Errorf("Forget panics with %q", says)
	}
	c.claim.Release()
	c.claim.Release()
	if err := c.claim.Put(t.Context(), nil, nil); !errors.Is(err, store.ErrPhase) {
		t.Errorf("behind the release: %v", err)
	}
	input, calls := c.claim.Seal([]byte("head"), 1000)
	if string(input) != "head" || calls.Len() != 0 {
		t.Errorf("%q, %d calls", input, calls.Len())
	}
}

// A tick begins as it would behind a snapshot.
func TestForgetForgetsWhatTheLastFrameDid(t *testing.T) {
	c := newClaimed(t, 1)
	var name store.Handle[stem]
	write := func(f func(ctx context.Context)) {
		t.Helper()
		err := c.Write(c.claim.Context(t.Context()), func(ctx context.Context, _ *store.Writer) error { f(ctx); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	seen := func() (n int) {
		for range store.Created(c.stems) {
			n++
		}
		for range store.Written(c.stems) {
			n++
		}
		if _, ok := c.stems.Resolve(name); ok {
			n++
		}
		return n
	}
	write(func(ctx context.Context) {
		err := c.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			name = c.stems.Emplace(q, stem{})
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		flushIn(t, c.Store, ctx)
	})
	if seen() != 2 {
		t.Errorf("%d are seen of the last frame", seen())
	}
	write(func(ctx context.Context) {
		if c.claim.Forget(); seen() != 0 {
			t.Errorf("%d are seen of what was forgotten", seen())
		}
		err := c.stems.ForEach(ctx, func(_ context.Context, chunk store.Chunk[stem]) error {
			chunk.WroteAll()
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if seen() != 1 {
			t.Errorf("%d are seen of this frame", seen())
		}
	})
}

func TestWhatATickLeavesIsTold(t *testing.T) {
	c := newClaimed(t, 1)
	own := c.claim.Context(t.Context())
	left := func(table string, n int) {
		t.Helper()
		if got, of := c.claim.Left(); got != table || of != n {
			t.Errorf("%d are left for %q; want %d for %q", of, got, n, table)
		}
	}
	left("", 0)
	pass := func(record func(q store.Queue)) {
		t.Helper()
		if err := c.Each(own, 1, func(_ context.Context, _ int, q store.Queue) error { record(q); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	pass(func(q store.Queue) { q.Erase(compose(999, 1, 1)) })
	left("", 1)
	if _, err := c.Flush(own); err != nil {
		t.Fatal(err)
	}
	pass(func(q store.Queue) { c.leaves.EraseAll(q) })
	left("leaf", 1)
	sent := c.send(emplaceStem(c, 1))
	input, calls := c.claim.Seal(nil, 1000)
	if err := c.claim.Put(own, input, calls); err != nil {
		t.Fatal(err)
	}
	left("leaf", 2)
	if err := c.claim.Put(own, input, nil); !errors.Is(err, store.ErrInput) {
		t.Errorf("a second input: %v", err)
	}
	if _, err := c.Flush(own); err != nil {
		t.Fatal(err)
	}
	left("", 0)
	pass(func(q store.Queue) { c.marks.Emplace(q, mark{}) })
	left("mark", 1)
	if _, err := c.Flush(own); err != nil {
		t.Fatal(err)
	}
	if err := c.claim.Put(own, input, nil); err != nil {
		t.Fatal(err)
	}
	left("stem", 1)
	c.claim.Release() // drops it
	if report := flush(t, c.Store); report.Total.Commands() != 0 {
		t.Errorf("%v", report)
	}
	calls.Done(1, nil)
	sent.returned(t)
}

func TestTheSchemaTellsTablesApart(t *testing.T) {
	schema := func(o store.Options, register func(s *store.Store)) string {
		s := newStore(t, o)
		register(s)
		return claim(t, s).Schema()
	}
	with := func(change func(o *store.TableOptions[item])) string {
		return schema(store.Options{}, func(s *store.Store) {
			var o store.TableOptions[item]
			change(&o)
			register(t, s, o)
		})
	}
	same := with(func(o *store.TableOptions[item]) { o.Reserve = 100 })
	texts := []string{
		same,
		schema(store.Options{QueueLimit: 7}, func(s *store.Store) { register(t, s, store.TableOptions[item]{}) }),
		schema(store.Options{BatchLimit: 7}, func(s *store.Store) { register(t, s, store.TableOptions[item]{}) }),
		schema(store.Options{BatchBytes: 7}, func(s *store.Store) { register(t, s, store.TableOptions[item]{}) }),
		schema(store.Options{}, func(s *store.Store) { registerStable(t, s, store.TableOptions[item]{}) }),
		schema(store.Options{}, func(s *store.Store) { register(t, s, store.TableOptions[leaf]{Name: "store_test.item"}) }),
		with(func(o *store.TableOptions[item]) { o.Name = "other" }),
		with(func(o *store.TableOptions[item]) { o.TypeID = 2 }),
		with(func(o *store.TableOptions[item]) { o.Shards = 2 }),
		with(func(o *store.TableOptions[item]) { o.MaxItems = 2 }),
		with(func(o *store.TableOptions[item]) { o.MinFree = 2 }),
		with(func(o *store.TableOptions[item]) { o.ChunkItems = 2 }),
		with(func(o *store.TableOptions[item]) { o.Changes = true }),
		with(func(o *store.TableOptions[item]) { o.FixedKeys = true }),
		with(func(o *store.TableOptions[item]) { o.Links = func(*item, func(*store.ID)) {} }),
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(texts)))); n != len(texts) {
		t.Errorf("%d schemas are told apart of %d: %q", n, len(texts), texts)
	}
	workers := schema(store.Options{Workers: 8, InboxLimit: 9}, func(s *store.Store) { register(t, s, store.TableOptions[item]{}) })
	if same != with(func(*store.TableOptions[item]) {}) || same != workers {
		t.Error("what may differ makes another schema")
	}
}

// A program whose columns keep changes, or have Links, ticks differently. The schema of a
// table without such columns is the same as before: a log that has its hash still opens.
func TestSchema_ColumnOptions(t *testing.T) {
	links := func(*int, func(*store.ID)) {}
	schema := func(register func(table *store.Table[item])) string {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship", Changes: true})
		register(table)
		return claim(t, s).Schema()
	}
	column := func(o store.ColumnOptions[int]) string {
		return schema(func(table *store.Table[item]) { o.Name = "c"; addColumn(t, table, o) })
	}
	optional := func(o store.ColumnOptions[int]) string {
		return schema(func(table *store.Table[item]) { o.Name = "c"; addSparse(t, table, o) })
	}
	plain := schema(func(*store.Table[item]) {})
	texts := []string{
		plain,
		column(store.ColumnOptions[int]{}),
		column(store.ColumnOptions[int]{Changes: true}),
		column(store.ColumnOptions[int]{Links: links}),
		column(store.ColumnOptions[int]{Changes: true, Links: links}),
		optional(store.ColumnOptions[int]{}),
		optional(store.ColumnOptions[int]{Links: links}),
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(texts)))); n != len(texts) {
		t.Errorf("%d schemas differ, want %d: %q", n, len(texts), texts)
	}
	for _, text := range []string{texts[0], texts[1], texts[5]} {
		const last = "; MaxItems 0, MinFree 0, ChunkItems 2048, Links false, Changes true, FixedKeys false\n"
		if !strings.HasSuffix(text, last) {
			t.Errorf("schema %q, want one that ends with %q", text, last)
		}
	}
	clone := func(dst, src *int) { *dst = *src }
	if column(store.ColumnOptions[int]{Clone: clone}) != texts[1] {
		t.Error("Clone makes another schema")
	}
}
