package paged_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"handloom/handle"
	"handloom/internal/digest"
	"handloom/internal/items"
	"handloom/internal/paged"
)

type item struct {
	N    int
	Text string
}

func empty(t *testing.T) *paged.Set {
	t.Helper()
	s, err := paged.New(paged.TypeFor[item](), handle.Options{TypeID: 3, MinFree: 2})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// encoding returns the bytes that DigestTo hashes.
func encoding(s *paged.Set) (b []byte) {
	var h digest.Hash
	h.Tee(digest.NewTee(1<<10, func(piece []byte, _ bool) { b = append(b, piece...) }))
	s.DigestTo(&h)
	h.Flush()
	return b
}

func load(t *testing.T, b []byte) (*paged.Set, error) {
	t.Helper()
	s := empty(t)
	in := digest.NewDecoder(func() ([]byte, error) {
		if len(b) == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		piece := b[:min(777, len(b))]
		b = b[len(piece):]
		return piece, nil
	})
	s.Load(in)
	return s, in.Err()
}

func idsOf(s *paged.Set) (ids []handle.ID) {
	for id := range s.All {
		ids = append(ids, id)
	}
	return ids
}

// disturb makes a random change to s.
func disturb(s *paged.Set, r *rand.Rand) {
	ids := idsOf(s)
	some := func(n int) (chosen []handle.ID) {
		for range min(n, len(ids)) {
			chosen = append(chosen, ids[r.IntN(len(ids))])
		}
		return chosen
	}
	switch r.IntN(6) {
	case 0, 1:
		values := make([]item, r.IntN(3000))
		for i := range values {
			values[i] = item{r.IntN(100), string(rune('a' + i%26))}
		}
		if _, err := s.InsertItems(items.From(values), nil); err != nil {
			panic(err)
		}
	case 2:
		s.EraseItems(some(1 + r.IntN(20)))
	case 3:
		s.EraseItems(ids[r.IntN(len(ids)+1):])
	case 4:
		s.Shrink()
	default:
		if r.IntN(10) == 0 {
			s.Clear()
		}
	}
}

// A loaded map and a clone behave alike, also after MoveFrom, with released pages.
func TestLoad_ContinuesLikeTheOriginal(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := empty(t)
		for step := range 12 {
			disturb(s, r)
			back, err := load(t, encoding(s))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			other := s.Clone()
			if step%2 == 0 {
				back = moved(t, r, back)
			} else {
				other = moved(t, r, other)
			}
			if back.Digest() != other.Digest() {
				t.Fatalf("seed %d: digests %x and %x", seed, back.Digest(), other.Digest())
			}
			for range 4 {
				again := r.Uint64()
				for _, s := range []*paged.Set{back, other} {
					disturb(s, rand.New(rand.NewPCG(again, 2)))
				}
				if err := back.Verify(); err != nil || back.Digest() != other.Digest() {
					t.Fatalf("seed %d: digests %x and %x, %v", seed, back.Digest(), other.Digest(), err)
				}
			}
		}
	}
}

// Load refuses forged bytes or loads exactly these bytes, with all invariants.
func TestLoad_RefusesForgery(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	s := empty(t)
	for range 10 {
		disturb(s, r)
	}
	s.InsertItems(items.From(make([]item, 50)), nil)
	s.EraseItems(idsOf(s)[:s.Len()-40])
	image := encoding(s)
	refused, loaded := 0, 0
	for range 2000 {
		b := append([]byte(nil), image...)
		at := r.IntN(len(b))
		switch r.IntN(3) {
		case 0:
			b[at] ^= 1 << r.IntN(8)
		case 1:
			b[at]++
		default:
			copy(b[at:min(at+8, len(b))], b[r.IntN(len(b)):])
		}
		back, err := load(t, b)
		if err != nil {
			refused++
			continue
		}
		loaded++
		if !bytes.HasPrefix(b, encoding(back)) {
			t.Fatal("another map than that of the bytes")
		}
		for range 3 {
			disturb(back, r)
		}
		if err := back.Verify(); err != nil {
			t.Fatal(err)
		}
	}
	if refused < 100 || loaded < 50 {
		t.Errorf("%d refused, %d loaded", refused, loaded)
	}
}

// moved returns a map that takes over from, and may have had other items.
func moved(t *testing.T, r *rand.Rand, from *paged.Set) *paged.Set {
	t.Helper()
	stats, to := from.Stats(), empty(t)
	for range r.IntN(3) {
		disturb(to, r)
	}
	to.MoveFrom(from)
	if err := to.Verify(); err != nil || to.Stats() != stats {
		t.Fatalf("Stats = %+v, want %+v; %v", to.Stats(), stats, err)
	}
	return to
}
