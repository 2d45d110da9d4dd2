package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"handloom/store"
)

func emplaceStem(c *claimed, value int) func(q store.Queue) error {
	return callOf(func(q store.Queue) { c.stems.Emplace(q, stem{Value: value}) })
}

func (s *sent) returned(t tb) {
	t.Helper()
	s.done.Wait()
	noError(t, errors.Join(s.errs...))
}

func (s *sent) fails(t tb, is error, says string) {
	t.Helper()
	s.done.Wait()
	for i, err := range s.errs {
		if s.receipts[i] != nil || !errors.Is(err, is) || !strings.Contains(err.Error(), says) {
			t.Errorf("Submit returns %v, %v; want %v that says %q", s.receipts[i], err, is, says)
		}
	}
}

func TestClaim_ReceiptHasTickAndCreates(t *testing.T) {
	c := newClaimed(t, 2)
	const many = 40_000 // several segments
	var kept, cancelled store.Handle[stem]
	var leaves []store.Handle[leaf]
	sent := c.send(
		emplaceStem(c, 1),
		callOf(func(q store.Queue) {
			kept = c.stems.Emplace(q, stem{Value: 2})
			cancelled = c.stems.Emplace(q, stem{Value: 3})
			c.stems.Erase(q, cancelled)
			all := make([]leaf, many)
			for i := range all {
				all[i] = leaf{Of: kept, Weight: float64(i)}
			}
			leaves = c.leaves.EmplaceItems(q, all, nil)
		}),
		func(q store.Queue) error { c.leaves.Erase(q, leaves[0]); return nil }, // stale: erased by another call
	)
	input, calls := c.claim.Seal(nil, 1<<30)
	before := c.Epoch()
	c.tick(t, input, calls)
	calls.Done(42, nil)
	calls.Done(43, errTask)
	sent.returned(t)
	r := sent.receipts[1]
	equal(t, "r.Tick", r.Tick(), 42)
	equal(t, "r.Epoch", r.Epoch(), before+1)
	h, ok := store.Resolved(r, kept)
	if !ok || c.stems.At(h).Value != 2 {
		t.Fatalf("%v, %t", h, ok)
	}
	for i, p := range leaves {
		if l, ok := store.Resolved(r, p); !ok || *c.leaves.At(l) != (leaf{h, float64(i)}) {
			t.Fatalf("leaf %d: %v, %t", i, l, ok)
		}
	}
	equal(t, "a cancelled create resolves", found(store.Resolved(r, cancelled)), false)
	equal(t, "a name of another call resolves", found(store.Resolved(sent.receipts[0], kept)), false)
}

// encodedStem returns the size of a call, and an input with that call.
func encodedStem(t tb) (n int, input []byte) {
	t.Helper()
	c := newClaimed(t, 1)
	c.send(emplaceStem(c, 1))
	input, calls := c.claim.Seal(nil, 0)
	calls.Done(0, nil)
	return len(input) - 2, input
}

func TestClaim_ReportsOutcomeOfACall(t *testing.T) {
	uncertain := fmt.Errorf("%w: the log is broken", store.ErrUncertain)
	for name, test := range map[string]struct {
		end      func(t *testing.T, c *claimed)
		is       error
		says     string
		restored bool
	}{
		"Done with an error": {func(t *testing.T, c *claimed) {
			_, calls := c.claim.Seal(nil, 1000)
			calls.Done(0, uncertain)
		}, store.ErrUncertain, "store: Submit: it may be applied: the log is broken", true},
		"Release": {func(t *testing.T, c *claimed) { c.claim.Release() }, store.ErrDiscarded, "nothing of the call is applied", false},
		"Close": {func(t *testing.T, c *claimed) {
			wantError(t, "", onlyError(c.Close(c.claim.Context(t.Context()))), nil)
		}, store.ErrClosed, "store is closed", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClaimed(t, 1)
			sent := c.send(emplaceStem(c, 1), emplaceStem(c, 2))
			test.end(t, c)
			sent.fails(t, test.is, test.says)
			again := c.send(emplaceStem(c, 3))
			if !test.restored {
				again.fails(t, test.is, "")
				return
			}
			input, calls := c.claim.Seal(nil, 1000)
			c.tick(t, input, calls)
			calls.Done(1, nil)
			again.returned(t)
		})
	}
}

func TestClaim_SubmitReportsRefusals(t *testing.T) {
	c := newUnclaimed(t, store.Options{QueueLimit: 10, InboxLimit: 25, BatchLimit: 1})
	c.hold(t)
	record := func(n int) func(q store.Queue) error {
		return callOf(func(q store.Queue) { c.stems.EmplaceItems(q, make([]stem, n), nil) })
	}
	const not = "nothing of the call is applied"
	c.send(func(store.Queue) error { return errTask }).fails(t, errTask, not)
	c.send(record(11)).fails(t, store.ErrQueueFull, not)
	for what, ctx := range map[string]context.Context{"the driver": c.claim.Context(t.Context()), "an ended call": ended{t.Context()}} {
		wantText(t, "with the context of "+what, onlyError(c.claim.Submit(ctx, context.Background(), record(1))), not)
	}
	err := c.Read(t.Context(), func(ctx context.Context) error {
		return onlyError(c.claim.Submit(ctx, context.Background(), record(1)))
	})
	wantError(t, "inside a Read", err, store.ErrPhase)
	c.send(record(0)).returned(t)
	says := panicOf(func() {
		_, _ = c.claim.Submit(t.Context(), context.Background(), func(store.Queue) error { panic("the call") })
	})
	equal(t, "the panic", says, "the call")

	first := c.send(record(10), record(10))
	c.send(record(6)).fails(t, store.ErrQueueFull, "exceed the limit 25 of the inbox")
	last := c.send(record(5))
	c.send(record(1)).fails(t, store.ErrQueueFull, "the inbox holds 25 commands")

	// The number of waiting calls depends on timing: batch limits do not count them.
	_, err = c.Frame(c.claim.Context(t.Context()), func(ctx context.Context, _ *store.Writer) error {
		input, calls := c.claim.Seal(nil, 1<<20)
		defer calls.Done(1, nil)
		err := c.claim.Unseal(ctx, input, calls)
		pass := c.Do(ctx, func(q store.Queue) { q.Fail(record(1)(q)) })
		return errors.Join(err, pass, onlyError(c.Flush(ctx)))
	})
	wantError(t, "the tick", err, nil)
	equal(t, "stems", c.stems.Len(), 26)
	first.returned(t)
	last.returned(t)
}

func TestClaim_EndedContextIsUncertainAfterSeal(t *testing.T) {
	c := newClaimed(t, 1)
	children := []store.ID{0, 7}
	ctx, end := context.WithCancelCause(t.Context())
	var name store.Handle[stem]
	call := callOf(func(q store.Queue) {
		name = c.stems.Emplace(q, stem{Children: children, Name: "kept"})
		children[0] = name.ID
	})
	failed := make(chan error)
	go func() { failed <- onlyError(c.claim.Submit(ctx, context.Background(), call)) }()
	<-c.claim.Arrived()
	input, calls := c.claim.Seal(nil, 1000)
	end(errTask)
	if err := <-failed; !errors.Is(err, store.ErrUncertain) || !errors.Is(err, errTask) {
		t.Fatal(err)
	}
	equal(t, "the first child of the caller", children[0], name.ID)
	clear(children)
	c.tick(t, input, calls)
	calls.Done(1, nil)
	for h, v := range c.stems.All() {
		equalLists(t, fmt.Sprintf("children of %v", h), v.Children, h.ID, 7)
	}
}

func TestClaim_EndedContextWithdrawsCall(t *testing.T) {
	c := newClaimed(t, 1)
	ctx, end := context.WithCancelCause(t.Context())
	err := onlyError(c.claim.Submit(ctx, context.Background(), callOf(func(q store.Queue) {
		c.stems.Emplace(q, stem{})
		end(errTask)
	})))
	wantText(t, "Submit", err, "not applied")
	if errors.Is(err, store.ErrUncertain) || !errors.Is(err, errTask) {
		t.Errorf("Submit: %v", err)
	}
	_, calls := c.claim.Seal(nil, 1000)
	equal(t, "sealed calls", calls.Len(), 0)
}

// The next flush of the tick takes the input.
func TestClaim_KeepsInputOfAFailedFlush(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{MaxItems: 3})
	c, input, calls, errs := sealedCreates(t, s, table, 4)
	wantError(t, "the Frame", onlyError(s.Frame(c.Context(t.Context()), func(ctx context.Context, w *store.Writer) error {
		noError(t, c.Unseal(ctx, input, calls))
		noError(t, s.Do(ctx, func(q store.Queue) { table.EmplaceItems(q, make([]item, 4), nil) }))
		wantError(t, "", onlyError(s.Flush(ctx)), store.ErrFull)
		equal(t, "commands that wait", s.Pending().Commands, 8)
		return nil
	})), store.ErrFull)
	equal(t, "commands that still wait", s.Pending().Commands, 8)
	calls.Done(1, store.ErrFull)
	wantError(t, "", <-errs[0], store.ErrFull)
}

func TestClaim_FirstFlushTakesTheInput(t *testing.T) {
	c := newClaimed(t, 1)
	sent := c.send(emplaceStem(c, 1), emplaceStem(c, 2))
	one, _ := encodedStem(t)
	input, calls := c.claim.Seal(nil, one)
	var values []int
	wantError(t, "EndFrame outside Hold", c.claim.EndFrame(t.Context()), store.ErrPhase)
	noError(t, c.claim.Hold(t.Context(), func(ctx context.Context, w *store.Writer) error {
		noError(t, c.claim.Unseal(ctx, input, calls))
		noError(t, c.Do(ctx, func(q store.Queue) { q.Fail(emplaceStem(c, 0)(q)) }))
		flushIn(t, c.Store, ctx)
		for _, v := range store.Created(c.stems) {
			values = append(values, v.Value)
		}
		noError(t, c.claim.EndFrame(ctx))
		equal(t, "the second flush", flushIn(t, c.Store, ctx).Total.Commands(), 0)
		return nil
	}))
	equalLists(t, "the creates, after what passes recorded", values, 0, 1)
	calls.Done(1, nil)
	input, calls = c.claim.Seal(nil, 1000)
	c.tick(t, input, calls)
	calls.Done(2, nil)
	sent.returned(t)
}
