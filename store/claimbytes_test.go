package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"handloom/internal/check"
	"handloom/internal/entrance"
	"handloom/store"
)

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
		"a table":                      {2, 1, 5, 4, 0},
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
