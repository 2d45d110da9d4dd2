package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"handloom/store"
)

func emplaceStem(c *claimed, value int) func(q store.Queue) error {
	return func(q store.Queue) error {
		c.stems.Emplace(q, stem{Value: value})
		return nil
	}
}

// returned checks that all calls have been applied.
func (s *sent) returned(t tb) {
	t.Helper()
	s.done.Wait()
	if err := errors.Join(s.errs...); err != nil {
		t.Fatal(err)
	}
}

// fails checks that all calls return such an error.
func (s *sent) fails(t tb, is error, says string) {
	t.Helper()
	s.done.Wait()
	for i, err := range s.errs {
		if s.receipts[i] != nil || !errors.Is(err, is) || !strings.Contains(err.Error(), says) {
			t.Errorf("Submit returns %v, %v; want %v that says %q", s.receipts[i], err, is, says)
		}
	}
}

func TestAReceiptKnowsTheTickAndWhatWasCreated(t *testing.T) {
	c := newClaimed(t, 2)
	const many = 40_000 // several segments
	var kept, cancelled, late store.Handle[stem]
	var leaves, others []store.Handle[leaf]
	sent := c.send(
		emplaceStem(c, 1),
		func(q store.Queue) error {
			kept = c.stems.Emplace(q, stem{Value: 2})
			cancelled = c.stems.Emplace(q, stem{Value: 3})
			c.stems.Erase(q, cancelled)
			all := make([]leaf, many)
			for i := range all {
				all[i] = leaf{Of: kept, Weight: float64(i)}
			}
			leaves = c.leaves.EmplaceItems(q, all, nil)
			late = c.stems.Emplace(q, stem{Value: 4, Leaves: [2]store.Handle[leaf]{leaves[many-1]}})
			return nil
		},
		func(q store.Queue) error {
			others = c.leaves.EmplaceItems(q, make([]leaf, 2), nil)
			return nil
		},
		func(q store.Queue) error { c.leaves.Erase(q, leaves[0]); return nil }, // of another call: stale
	)
	input, calls := c.claim.Seal(nil, 1<<30)
	before := c.Epoch()
	err := c.Write(c.claim.Context(t.Context()), func(ctx context.Context, _ *store.Writer) error {
		if err := c.claim.Put(ctx, input, calls); err != nil {
			return err
		}
		report := flushIn(t, c.Store, ctx)
		if report.Total.Stale != 1 || report.Total.CancelledOut != 2 {
			t.Errorf("%v", report)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	calls.Done(42, nil)
	calls.Done(43, errTask)
	sent.returned(t)
	r := sent.receipts[1]
	if r.Tick() != 42 || r.Epoch() != before+1 {
		t.Errorf("tick %d, epoch %d", r.Tick(), r.Epoch())
	}
	h, ok := store.Resolved(r, kept)
	if !ok || c.stems.At(h).Value != 2 {
		t.Fatalf("%v, %t", h, ok)
	}
	if _, ok := store.Resolved(r, cancelled); ok {
		t.Error("what was cancelled resolves")
	}
	if l, ok := store.Resolved(r, late); !ok || c.leaves.At(c.stems.At(l).Leaves[0]).Weight != many-1 {
		t.Errorf("%v, %t", l, ok)
	}
	for i, p := range leaves {
		if l, ok := store.Resolved(r, p); !ok || *c.leaves.At(l) != (leaf{h, float64(i)}) {
			t.Fatalf("leaf %d: %v, %t", i, l, ok)
		}
	}
	if _, ok := store.Resolved(sent.receipts[0], kept); ok {
		t.Error("a name of another call resolves")
	}
	if l, ok := store.Resolved(sent.receipts[2], others[1]); !ok || c.leaves.At(l).Weight != 0 {
		t.Errorf("%v, %t", l, ok)
	}
}

func TestSealTakesWholeCallsInTheirOrder(t *testing.T) {
	c := newClaimed(t, 1)
	var sent []*sent
	for i := range 100 {
		sent = append(sent, c.send(emplaceStem(c, i)))
	}
	one, _ := encodedStem(t)
	var values []int
	for tick := uint64(1); len(values) < 100; tick++ {
		head := []byte("head")
		most := []int{0, 1, one, 3*one + 20, 1 << 20}[tick%5]
		input, calls := c.claim.Seal(head, most)
		if n := calls.Len(); n == 0 || n > 1 && len(input)-len(head) > most {
			t.Fatalf("%d calls in %d bytes, of %d at most", n, len(input), most)
		}
		c.tick(t, input[len(head):], calls)
		calls.Done(tick, nil)
		for _, v := range store.Created(c.stems) {
			values = append(values, v.Value)
		}
		if tick == 3 {
			sent = append(sent, c.send(emplaceStem(c, len(sent))))
		}
	}
	if !slices.IsSorted(values) || len(values) != len(sent) {
		t.Errorf("%d values of %d calls: %v", len(values), len(sent), values)
	}
	for _, s := range sent {
		s.returned(t)
	}
	if input, calls := c.claim.Seal(nil, 100); input != nil || calls.Len() != 0 {
		t.Errorf("%d bytes, %d calls", len(input), calls.Len())
	}
}

// encodedStem returns how long a call is that creates a stem, and an input of it.
func encodedStem(t tb) (n int, input []byte) {
	t.Helper()
	c := newClaimed(t, 1)
	c.send(emplaceStem(c, 1))
	input, calls := c.claim.Seal(nil, 0)
	calls.Done(0, nil)
	return len(input) - 2, input
}

func TestWhatBecomesOfACallIsTold(t *testing.T) {
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
			if _, err := c.Close(c.claim.Context(t.Context())); err != nil {
				t.Error(err)
			}
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

func TestSubmitSaysWhyACallIsNotTaken(t *testing.T) {
	c := newUnclaimed(t, store.Options{QueueLimit: 10, InboxLimit: 25, BatchLimit: 1})
	c.hold(t)
	record := func(n int) func(q store.Queue) error {
		return func(q store.Queue) error {
			c.stems.EmplaceItems(q, make([]stem, n), nil)
			return nil
		}
	}
	const not = "nothing of the call is applied"
	c.send(func(store.Queue) error { return errTask }).fails(t, errTask, not)
	c.send(record(11)).fails(t, store.ErrQueueFull, not)
	ctx, end := context.WithCancel(t.Context())
	end()
	for what, ctx := range map[string]context.Context{"the driver": c.claim.Context(t.Context()), "one that ended": ctx} {
		if _, err := c.claim.Submit(ctx, record(1)); err == nil || !strings.Contains(err.Error(), not) {
			t.Errorf("with the context of %s: %v", what, err)
		}
	}
	err := c.Read(t.Context(), func(ctx context.Context) error {
		_, err := c.claim.Submit(ctx, record(1))
		return err
	})
	if !errors.Is(err, store.ErrPhase) {
		t.Errorf("inside a Read: %v", err)
	}
	c.send(record(0)).returned(t) // at once
	if says := panicOf(func() {
		_, _ = c.claim.Submit(t.Context(), func(store.Queue) error { panic("the call") })
	}); says != "the call" {
		t.Errorf("%q", says)
	}

	first := c.send(record(10), record(10))
	c.send(record(6)).fails(t, store.ErrQueueFull, "exceed the limit 25 of the inbox")
	second := c.send(record(5))
	c.send(record(1)).fails(t, store.ErrQueueFull, "the inbox holds 25 commands")

	// What waits is timing, and what was sealed is in the log: neither is a limit of a batch.
	err = c.Write(c.claim.Context(t.Context()), func(ctx context.Context, _ *store.Writer) error {
		input, calls := c.claim.Seal(nil, 1<<20)
		defer calls.Done(1, nil)
		if err := c.claim.Put(ctx, input, calls); err != nil {
			return err
		}
		if err := c.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error { return record(1)(q) }); err != nil {
			return err
		}
		flushIn(t, c.Store, ctx)
		return nil
	})
	if err != nil || c.stems.Len() != 26 {
		t.Errorf("%d stems: %v", c.stems.Len(), err)
	}
	first.returned(t)
	second.returned(t)
}

func TestACallWhoseContextEndsIsUncertainAndKeepsNoMemoryOfTheCaller(t *testing.T) {
	c := newClaimed(t, 1)
	children := []store.ID{0, 7}
	ctx, end := context.WithCancelCause(t.Context())
	var name store.Handle[stem]
	_, err := c.claim.Submit(ctx, func(q store.Queue) error {
		name = c.stems.Emplace(q, stem{Children: children, Name: "kept"})
		children[0] = name.ID
		end(errTask)
		return nil
	})
	if !errors.Is(err, store.ErrUncertain) || !errors.Is(err, errTask) {
		t.Fatal(err)
	}
	if children[0] != name.ID {
		t.Error("the memory of the caller was changed")
	}
	clear(children)
	input, calls := c.claim.Seal(nil, 1000)
	clear(children)
	c.tick(t, input, calls)
	calls.Done(1, nil)
	for h, v := range c.stems.All() {
		if !slices.Equal(v.Children, []store.ID{h.ID, 7}) {
			t.Errorf("%v has children %v", h, v.Children)
		}
	}
}

// A flush that the commands of passes do not fit keeps the input for the next one of the
// tick.
func TestClaim_KeepsInputOfAFailedFlush(t *testing.T) {
	s := newStore(t, store.Options{})
	table := register(t, s, store.TableOptions[item]{MaxItems: 3})
	c := claim(t, s)
	var name store.Handle[item]
	done := make(chan error)
	waits := make(chan struct{})
	go func() {
		r, err := c.Submit(arriving{context.Background(), sync.OnceFunc(func() { close(waits) })}, func(q store.Queue) error {
			name = table.Emplace(q, item{Value: 1})
			table.EmplaceItems(q, make([]item, 3), nil)
			return nil
		})
		if err == nil {
			if _, ok := store.Resolved(r, name); !ok {
				err = errors.New("the name does not resolve")
			}
		}
		done <- err
	}()
	<-waits
	input, calls := c.Seal(nil, 1000)
	err := s.Write(c.Context(t.Context()), func(ctx context.Context, w *store.Writer) error {
		if err := c.Put(ctx, input, calls); err != nil {
			return err
		}
		if err := s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			table.EmplaceItems(q, make([]item, 4), nil)
			return nil
		}); err != nil {
			return err
		}
		if _, err := s.Flush(ctx); !errors.Is(err, store.ErrFull) {
			t.Errorf("%v", err)
		}
		if _, err := s.Flush(ctx); !errors.Is(err, store.ErrFull) {
			t.Errorf("%v", err)
		}
		if table, n := c.Left(); table != "store_test.item" || n != 8 {
			t.Errorf("%d left for %q", n, table)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	calls.Done(1, store.ErrFull)
	if err := <-done; !errors.Is(err, store.ErrFull) {
		t.Error(err)
	}
}

// Frames have no inbox of their own under a claim: only the first flush behind a Put
// takes anything from outside.
func TestOnlyTheFirstFlushOfATickTakesTheInput(t *testing.T) {
	c := newClaimed(t, 1)
	s1, s2 := c.send(emplaceStem(c, 1)), c.send(emplaceStem(c, 2))
	one, _ := encodedStem(t)
	input, calls := c.claim.Seal(nil, one)
	own := c.claim.Context(t.Context())
	err := c.Write(own, func(ctx context.Context, w *store.Writer) error {
		if err := c.claim.Put(ctx, input, calls); err != nil {
			return err
		}
		if err := c.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			c.stems.Emplace(q, stem{Value: 0})
			return nil
		}); err != nil {
			return err
		}
		flushIn(t, c.Store, ctx)
		w.EndFrame()
		if report := flushIn(t, c.Store, ctx); report.Total.Commands() != 0 {
			t.Errorf("the second flush: %v", report)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var values []int
	for _, v := range store.Created(c.stems) {
		values = append(values, v.Value)
	}
	if !slices.Equal(values, []int{0, 1}) { // behind what passes recorded
		t.Errorf("%v", values)
	}
	calls.Done(1, nil)
	s1.returned(t)
	input, calls = c.claim.Seal(nil, 1000)
	c.tick(t, input, calls)
	calls.Done(2, nil)
	s2.returned(t)
}

func TestManySubmitWhileTicksGoOn(t *testing.T) {
	const callers, each = 1000, 3
	c, replica := newClaimed(t, 2), newClaimed(t, 1)
	var all sync.WaitGroup
	var returned atomic.Int64
	var mistakes atomic.Int64
	for caller := range callers {
		all.Go(func() {
			for i := range each {
				var name store.Handle[stem]
				r, err := c.claim.Submit(context.Background(), func(q store.Queue) error {
					name = c.stems.Emplace(q, stem{Value: caller*each + i})
					c.leaves.Emplace(q, leaf{Of: name})
					return nil
				})
				h, ok := store.Handle[stem]{}, false
				if err == nil {
					h, ok = store.Resolved(r, name)
				}
				_ = c.Read(context.Background(), func(context.Context) error {
					if v, found := c.stems.Get(h); !ok || !found || v.Value != caller*each+i {
						mistakes.Add(1)
					}
					return nil
				})
				returned.Add(1)
			}
		})
	}
	var input []byte
	for tick := uint64(1); returned.Load() < callers*each; tick++ {
		var calls *store.Calls
		input, calls = c.claim.Seal(input[:0], 4<<10)
		c.tick(t, input, calls)
		calls.Done(tick, nil)
		replica.tick(t, input, nil)
	}
	all.Wait()
	if n := mistakes.Load(); n > 0 {
		t.Errorf("%d of %d callers do not find what they created", n, callers*each)
	}
	if c.stems.Len() != callers*each || c.digest(t) != replica.digest(t) {
		t.Errorf("%d stems; owner and replica are equal: %t", c.stems.Len(), c.digest(t) == replica.digest(t))
	}
}
