package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"handloom/internal/hook"
	"handloom/store"
)

// lookers are the calls that a claim permits to others.
var lookers = strings.Fields("Read Reduce Digest Verify Snapshot ReadCheckpoint Shuffle Stats Flushed Epoch Timings")

// withoutContext are the calls that cannot identify the driver.
var withoutContext = strings.Fields("Inbox Queues Discard Register RegisterStable AddColumn AddSparse")

type storeClaim = hook.Claim[store.Queue, *store.Receipt, *store.Writer]

func openClaim(ctx context.Context, s *store.Store) (storeClaim, error) {
	return hook.OpenClaim[store.Queue, *store.Receipt, *store.Writer](ctx, s)
}

func claim(t tb, s *store.Store) storeClaim {
	t.Helper()
	c, err := openClaim(context.Background(), s)
	noError(t, err)
	t.Cleanup(c.Release)
	return c
}

func TestClaim_OthersMayOnlyRead(t *testing.T) {
	rows := whoMay(t)
	for name := range newVisitor(t).calls() {
		t.Run(name, func(t *testing.T) {
			atOnce(t, func(t *testing.T) {
				v := newVisitor(t)
				c := claim(t, v.Store)
				check := func(ctx context.Context, fits bool, where string) {
					t.Helper()
					err := attempt(v.calls()[name], ctx)
					if fits && err != nil || !fits && !errors.Is(err, store.ErrPhase) {
						t.Errorf("%s: %v, which should fit: %t", where, err, fits)
					}
				}
				looks := slices.Contains(lookers, name)
				check(t.Context(), looks, "others")
				other := claim(t, newStore(t, store.Options{}))
				check(other.Context(t.Context()), looks, "the driver of another store")
				inWrite, _ := fits(rows, name, []string{"Frame"})
				noError(t, v.enter(c.Context(t.Context()), []string{"Frame"}, func(ctx context.Context) {
					check(ctx, inWrite && name != "Inbox" && name != "Rollback" && name != "Load", "inside a tick")
				}))
				if v.writer = nil; name == "Close" {
					return
				}
				fits, _ := fits(rows, name, []string{"no phase"})
				forAll := name == "Claim" || name == "Submit" || slices.Contains(withoutContext, name)
				check(c.Context(t.Context()), fits && !forAll, "the driver")
				c.Release()
				check(t.Context(), fits || forAll, "after the release")
				if !strings.HasPrefix(name, "Register") { // the name is free once
					check(c.Context(t.Context()), fits || forAll, "the former driver")
				}
			})
		})
	}
}

func TestClaim_DriverRollsBackOutsideTicks(t *testing.T) {
	c := newClaimed(t, 2)
	sent := c.send(emplaceStem(c, 1))
	input, calls := c.claim.Seal(nil, 1000)
	before := c.digest(t)
	var saved store.Checkpoint
	own := c.claim.Context(t.Context())
	noError(t, c.Checkpoint(own, &saved))
	c.tick(t, input, nil)
	waits := c.send(emplaceStem(c, 2))
	noError(t, c.Rollback(own, &saved))
	equal(t, "between ticks: digest", c.digest(t), before)
	_, err := c.Frame(own, func(ctx context.Context, w *store.Writer) error {
		c.claim.ResetChanges()
		err := c.claim.Unseal(ctx, input, nil)
		flushIn(t, c.Store, ctx)
		wantError(t, "inside the tick", c.Rollback(ctx, &saved), store.ErrPhase)
		err = errors.Join(err, c.Rollback(c.claim.Context(ctx), &saved), c.claim.Unseal(ctx, input, calls))
		flushIn(t, c.Store, ctx)
		return err
	})
	noError(t, err)
	equal(t, "stems", c.stems.Len(), 1)
	calls.Done(1, nil)
	sent.returned(t)
	input, calls = c.claim.Seal(nil, 1000)
	equal(t, "calls after the rollback", calls.Len(), 1)
	c.tick(t, input, calls)
	calls.Done(2, nil)
	waits.returned(t)
}

func TestClaim_RefusedWhileCommandsWait(t *testing.T) {
	c := newUnclaimed(t, store.Options{})
	refused := func(why string) {
		t.Helper()
		wantError(t, "", onlyError(openClaim(t.Context(), c.Store)), store.ErrPhase, why)
	}
	c.stems.Emplace(queues(t, c.Store, 1)[0], stem{})
	refused("1 commands wait for a flush")
	flush(t, c.Store)
	send(t, c.Store, func(q store.Queue) { c.stems.EraseAll(q) })
	refused("1 commands wait for a flush")
	flush(t, c.Store)
	if err := c.Inbox(callOf(func(q store.Queue) {
		c.hold(t)
		c.stems.Emplace(q, stem{})
	})); !errors.Is(err, store.ErrPhase) {
		t.Errorf("a call that was recording: %v", err)
	}
	refused("has claimed the store")
	equal(t, "pending commands", c.Pending().Commands, 0)
	c.claim.Release()
	send(t, c.Store, func(q store.Queue) { c.stems.Emplace(q, stem{}) })
	flush(t, c.Store)
	equal(t, "stems", c.stems.Len(), 1)
}

func TestClaim_RefusesItemsWithoutBytes(t *testing.T) {
	s, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
	store.AddValue(s, store.ColumnOptions[struct{ Of struct{ P *int } }]{Name: "pointers"})
	store.AddValue(s, store.ColumnOptions[struct{ Do func() }]{Name: "functions"})
	_, err := openClaim(t.Context(), s)
	wantError(t, "Claim", err, store.ErrSnapshot, `"pointers"`, ".Of.P of kind ptr", `"functions"`, ".Do of kind func")
	flush(t, s)
}

func TestClaim_UnsealAndResetChangesNeedATick(t *testing.T) {
	c := newClaimed(t, 1)
	wantError(t, "without the context of the claim", c.claim.Unseal(t.Context(), nil, nil), store.ErrPhase)
	wantError(t, "inside a pass", c.Each(c.claim.Context(t.Context()), 1, func(_ int, q store.Queue) {
		q.Fail(c.claim.Unseal(c.claim.Context(q.Context()), nil, nil))
	}), store.ErrPhase)
	wantIn(t, "the panic of ResetChanges", panicOf(c.claim.ResetChanges), "outside a Frame")
	c.claim.Release()
	c.claim.Release()
	wantError(t, "after the release", c.claim.Unseal(t.Context(), nil, nil), store.ErrPhase)
	input, calls := c.claim.Seal([]byte("head"), 1000)
	equal(t, "the input", string(input), "head")
	equal(t, "calls.Len", calls.Len(), 0)
}

// Tables without Changes or Links keep their schema, so existing logs still open.
func TestSchema_DistinguishesTables(t *testing.T) {
	schema := func(o store.Options, register func(s *store.Store)) string {
		s := newStore(t, o)
		register(s)
		return claim(t, s).Schema()
	}
	plain := func(s *store.Store) { register(t, s, store.TableOptions[item]{}) }
	with := func(o store.TableOptions[item]) string {
		return schema(store.Options{}, func(s *store.Store) { register(t, s, o) })
	}
	column := func(o store.ColumnOptions[int]) string {
		o.Name = "c"
		return schema(store.Options{}, func(s *store.Store) { addColumn(t, register(t, s, store.TableOptions[item]{Changes: true}), o) })
	}
	optional := func(o store.ColumnOptions[int]) string {
		o.Name = "c"
		return schema(store.Options{}, func(s *store.Store) { addSparse(t, register(t, s, store.TableOptions[item]{Changes: true}), o) })
	}
	links := func(*int, func(*store.ID)) {}
	same, tracked := with(store.TableOptions[item]{}), with(store.TableOptions[item]{Changes: true})
	bare, sparse := column(store.ColumnOptions[int]{}), optional(store.ColumnOptions[int]{})
	texts := []string{
		same,
		bare,
		sparse,
		schema(store.Options{QueueLimit: 7}, plain),
		schema(store.Options{BatchLimit: 7}, plain),
		schema(store.Options{BatchBytes: 7}, plain),
		schema(store.Options{}, func(s *store.Store) { registerStable(t, s, store.TableOptions[item]{}) }),
		schema(store.Options{}, func(s *store.Store) { register(t, s, store.TableOptions[leaf]{Name: "store_test.item"}) }),
		with(store.TableOptions[item]{Name: "other"}),
		with(store.TableOptions[item]{TypeID: 2}),
		with(store.TableOptions[item]{Shards: 2}),
		with(store.TableOptions[item]{MaxItems: 2}),
		with(store.TableOptions[item]{MinFree: 2}),
		with(store.TableOptions[item]{ChunkItems: 2}),
		tracked,
		with(store.TableOptions[item]{FixedKeys: true}),
		with(store.TableOptions[item]{Links: func(*item, func(*store.ID)) {}}),
		column(store.ColumnOptions[int]{Changes: true}),
		column(store.ColumnOptions[int]{Links: links}),
		column(store.ColumnOptions[int]{Changes: true, Links: links}),
		optional(store.ColumnOptions[int]{Links: links}),
		optional(store.ColumnOptions[int]{Changes: true}),
		optional(store.ColumnOptions[int]{Changes: true, Links: links}),
	}
	equal(t, "schemas that differ", len(slices.Compact(slices.Sorted(slices.Values(texts)))), len(texts))
	for _, text := range []string{tracked, bare, sparse} {
		const last = "; MaxItems 0, MinFree 0, ChunkItems 2048, Links false, Changes true, FixedKeys false\n"
		if !strings.HasSuffix(text, last) {
			t.Errorf("schema %q, want one that ends with %q", text, last)
		}
	}
	clone := func(dst, src *int) { *dst = *src }
	if same != with(store.TableOptions[item]{Reserve: 100}) || same != schema(store.Options{Workers: 8, InboxLimit: 9}, plain) ||
		bare != column(store.ColumnOptions[int]{Clone: clone}) {
		t.Error("Reserve, Workers, InboxLimit or Clone makes another schema")
	}
}
