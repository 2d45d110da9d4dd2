package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/entrance"
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

// encodedStem returns the size of a call, and an input with that call.
func encodedStem(t tb) (n int, input []byte) {
	t.Helper()
	c := newClaimed(t, 1)
	c.send(emplaceStem(c, 1))
	input, calls := c.claim.Seal(nil, 0)
	calls.Done(0, nil)
	return len(input) - 2, input
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

	waits := c.send(record(1))
	c.claim.Release()
	waits.fails(t, store.ErrDiscarded, "the claim of the store was released; "+not)
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
		equal(t, "the second flush", batch.Commanded(flushIn(t, c.Store, ctx).Total), 0)
		return nil
	}))
	equalLists(t, "the creates, after what passes recorded", values, 0, 1)
	calls.Done(1, nil)
	input, calls = c.claim.Seal(nil, 1000)
	c.tick(t, input, calls)
	calls.Done(2, nil)
	sent.returned(t)
}

func sample(t tb) (before [][]byte, input []byte) {
	t.Helper()
	c := newClaimed(t, 1)
	random := rand.New(rand.NewPCG(1, 2))
	scratch := make([]store.ID, 1000)
	for range 4 {
		var calls []func(q store.Queue) error
		for range 6 {
			n := c.names()
			var commands []command
			for kind := range kindsOfCommand {
				commands = append(commands, command{kind, random.IntN(1000), random.IntN(1000), random.IntN(1000), random.IntN(1000), 1})
			}
			calls = append(calls, func(q store.Queue) error { c.record(q, commands, &n, scratch); return nil })
		}
		sent := c.send(calls...)
		input, sealed := c.claim.Seal(nil, 1<<20)
		before = append(before, slices.Clone(input))
		c.tick(t, input, sealed)
		sealed.Done(1, nil)
		sent.returned(t)
	}
	return before[:3], before[3]
}

// takes calls Unseal with bytes that may be forged, and checks the memory.
func (c *claimed) takes(t tb, input []byte) (refused bool) {
	t.Helper()
	own := c.claim.Context(context.Background())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := c.claim.Unseal(own, input, nil)
	runtime.ReadMemStats(&after)
	if grew, most := after.TotalAlloc-before.TotalAlloc, uint64(64*len(input)+1<<17); grew > most && !check.Cheap {
		t.Fatalf("%d bytes were allocated for %d", grew, len(input))
	}
	if err != nil {
		wantError(t, "", err, entrance.ErrInput)
		if n := c.Pending().Commands; n > 0 {
			t.Fatalf("%d commands are kept of %v", n, err)
		}
		return true
	}
	noError(t, onlyError(c.Flush(own)))
	return false
}

func prepared(t tb, before [][]byte) *claimed {
	t.Helper()
	c := newClaimed(t, 1)
	for _, input := range before {
		c.tick(t, input, nil)
	}
	return c
}

func TestClaim_RefusesDamagedInputs(t *testing.T) {
	before, input := sample(t)
	c := prepared(t, before)
	var start store.Checkpoint
	own := c.claim.Context(t.Context())
	noError(t, c.Checkpoint(own, &start))
	try := func(b []byte) (refused bool) {
		if refused = c.takes(t, b); !refused {
			noError(t, errors.Join(c.Verify(own), c.Rollback(own, &start)))
		}
		return refused
	}
	for n := 1; n < len(input); n++ {
		if !try(input[:n]) {
			t.Fatalf("the first %d bytes of %d are taken", n, len(input))
		}
	}
	equal(t, "a byte more is refused", try(append(slices.Clone(input), 0)), true)
	step := 1
	if check.Cheap {
		step = 13
	}
	taken := 0
	for bit := 0; bit < 8*len(input); bit += step {
		b := slices.Clone(input)
		b[bit/8] ^= 1 << (bit % 8)
		if !try(b) {
			taken++
		}
	}
	atLeast(t, "flips that are another input", taken, 1)
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 / step {
		try(forgedInput(r, input))
	}
	equal(t, "the sample itself is refused", try(input), false)
}

func forgedInput(r *rand.Rand, input []byte) []byte {
	b := slices.Clone(input)
	for range 1 + r.IntN(4) {
		at := r.IntN(len(b))
		end := min(len(b), at+r.IntN(40))
		switch r.IntN(5) {
		case 0:
			b[at] = byte(r.Uint32())
		case 1:
			b[at] = []byte{0, 1, 2, 0x7f, 0x80, 0xff}[r.IntN(6)]
		case 2:
			b = slices.Delete(b, at, end)
		case 3:
			b = slices.Insert(b, at, slices.Clone(b[at:end])...)
		case 4:
			b = slices.Insert(b, at, binary.AppendUvarint(nil, r.Uint64()>>r.IntN(64))...)
		}
		if len(b) == 0 {
			return []byte{1}
		}
	}
	return b
}

func TestClaim_CountsInInputAreChecked(t *testing.T) {
	huge := binary.AppendUvarint(nil, 1<<40)
	for what, b := range map[string][]byte{
		"a version":                    {3, 1, 5, 1, 0},
		"no calls":                     {2, 0},
		"more calls than bytes":        append([]byte{2}, huge...),
		"a call without commands":      {2, 1, 0},
		"a kind of part":               {2, 1, 9, 0},
		"a table":                      {2, 1, 5, 5, 0},
		"a create of a value":          {2, 1, 1, 4, 1, 0, 0},
		"a put of a value":             {2, 1, 2, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"an erase of a value":          {2, 1, 3, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"an erase of all values":       {2, 1, 5, 4, 0},
		"table 0":                      {2, 1, 5, 0, 0},
		"no creates":                   {2, 1, 1, 1, 0, 0},
		"more stems than bytes":        append([]byte{2, 1, 1, 1}, huge...),
		"more marks than bytes":        append([]byte{2, 1, 1, 3}, huge...),
		"more erases than bytes":       append([]byte{2, 1, 3, 1}, huge...),
		"more puts than bytes":         append([]byte{2, 1, 2, 2}, huge...),
		"more unrouted than bytes":     append([]byte{2, 1, 4}, huge...),
		"a number that does not end":   append([]byte{2}, bytes.Repeat([]byte{0x80}, 20)...),
		"a byte behind the calls":      {2, 1, 5, 1, 0, 7},
		"a name that is longer than b": append([]byte{2, 1, 1, 1, 1}, bytes.Repeat([]byte{0xff}, 60)...),
	} {
		c := newClaimed(t, 1)
		equal(t, what+" is refused", c.takes(t, b), true)
	}
	c := newClaimed(t, 1)
	for what, b := range map[string][]byte{
		"nothing":   {},
		"erase all": {2, 1, 5, 1, 0},
		"a mark":    {2, 1, 1, 3, 1, 0, 0},
	} {
		equal(t, what+" is refused", c.takes(t, b), false)
	}
}

func TestClaim_RefusesCallsOfAnotherInput(t *testing.T) {
	c := newClaimed(t, 1)
	sent := c.send(emplaceStem(c, 1), func(q store.Queue) error { c.leaves.Emplace(q, leaf{}); return nil })
	one, _ := encodedStem(t)
	first, callsOfFirst := c.claim.Seal(nil, one)
	second, callsOfSecond := c.claim.Seal(nil, one)
	own := c.claim.Context(t.Context())
	for what, f := range map[string]func() error{
		"another input": func() error { return c.claim.Unseal(own, first, callsOfSecond) },
		"no input":      func() error { return c.claim.Unseal(own, nil, callsOfFirst) },
		"two inputs":    func() error { return c.claim.Unseal(own, append(slices.Clone(first), second...), callsOfFirst) },
	} {
		wantError(t, what, f(), entrance.ErrInput)
	}
	c.tick(t, first, callsOfFirst)
	c.tick(t, second, callsOfSecond)
	callsOfFirst.Done(1, nil)
	callsOfSecond.Done(2, nil)
	sent.returned(t)
}

func TestClaim_PanicOfLinksIsReturned(t *testing.T) {
	s := newStore(t, store.Options{})
	table := register(t, s, store.TableOptions[picky]{Links: func(v *picky, visit func(*store.ID)) { visit(&v.Near[0]) }})
	c := claim(t, s)
	says := panicOf(func() {
		_, _ = c.Submit(t.Context(), context.Background(), func(q store.Queue) error { table.Emplace(q, picky{}); return nil })
	})
	wantIn(t, "the panic of Submit", says, "index out of range")
	var p *store.PanicError
	if err := c.Unseal(c.Context(t.Context()), append([]byte{2, 1, 1, 1, 1}, make([]byte, 10)...), nil); !errors.As(err, &p) {
		t.Errorf("%v", err)
	}
	equal(t, "commands that are kept", s.Pending().Commands, 0)
	_, calls := c.Seal(nil, 100)
	equal(t, "calls that arrived", calls.Len(), 0)
}

func FuzzPut(f *testing.F) {
	before, input := sample(f)
	f.Add(input)
	for _, b := range before {
		f.Add(b)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		f.Add(forgedInput(r, input))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := prepared(t, before)
		if c.takes(t, b) {
			return
		}
		noError(t, c.Verify(t.Context()))
		again := prepared(t, before)
		equal(t, "refused the second time", again.takes(t, b), false)
		equal(t, "digest the second time", again.digest(t), c.digest(t))
	})
}

// The owner applies the encoded input: an empty slice becomes nil, and nothing is shared.
func TestClaim_OwnerAppliesTheBytesToo(t *testing.T) {
	c := newClaimed(t, 1)
	shared := []store.ID{1, 2, 3}
	sent := c.send(callOf(func(q store.Queue) {
		c.stems.Emplace(q, stem{Children: shared})
		c.stems.Emplace(q, stem{Children: shared[:2]})
		c.stems.Emplace(q, stem{Children: shared[:0], Counts: map[uint8]int32{}})
	}))
	input, calls := c.claim.Seal(nil, 1000)
	c.tick(t, input, calls)
	calls.Done(1, nil)
	sent.returned(t)
	last := store.ID(9)
	for _, v := range c.stems.All() {
		if v.Counts != nil || len(v.Children) == 0 && v.Children != nil || slices.Contains(v.Children, last) {
			t.Errorf("%v", v)
		}
		for i := range v.Children {
			v.Children[i] = last
		}
	}
	equalLists(t, "the memory of the caller", shared, 1, 2, 3)
}
