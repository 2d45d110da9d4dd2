package sparse_test

import (
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"handloom/handle"
	"handloom/internal/dense"
	"handloom/internal/digest"
	"handloom/internal/items"
	"handloom/internal/sparse"
)

type part struct {
	N    int
	Text string
}

var parts = items.For[part]()

// host returns a map of n items.
func host(t *testing.T, n int) (*dense.Set, []handle.ID) {
	t.Helper()
	m, err := dense.New(items.For[int](), handle.Options{TypeID: 3})
	noError(t, err)
	ids, err := m.InsertItems(items.From(make([]int, n)), nil)
	noError(t, err)
	return m, ids
}

// encoding returns the bytes that DigestTo hashes.
func encoding(d *sparse.Map) (b []byte) {
	var h digest.Hash
	h.Tee(digest.NewTee(1<<10, func(piece []byte, _ bool) { b = append(b, piece...) }))
	d.DigestTo(&h)
	h.Flush()
	return b
}

func load(m *dense.Set, b []byte) (*sparse.Map, error) {
	d := sparse.New(parts)
	in := digest.NewDecoder(func() ([]byte, error) {
		if len(b) == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		piece := b[:min(77, len(b))]
		b = b[len(piece):]
		return piece, nil
	})
	d.Load(in, m, m.Len(), m.Stats().Slots)
	return d, in.Err()
}

// Load restores the state; it refuses forged bytes or loads a valid state.
func TestLoad_RefusesForgery(t *testing.T) {
	m, ids := host(t, 100)
	d := filled(ids[:40])
	m.EraseItems(ids[90:])
	written := encoding(d)
	read, err := load(m, written)
	if err != nil || read.Verify(m) != nil || !slices.Equal(encoding(read), written) {
		t.Fatalf("it is not read back: %v", err)
	}
	for n := range written {
		if _, err := load(m, written[:n]); err == nil {
			t.Fatalf("the first %d bytes of %d are taken", n, len(written))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	taken := 0
	for range 20_000 {
		b := slices.Clone(written)
		for range 1 + r.IntN(3) {
			switch at := r.IntN(len(b)); r.IntN(3) {
			case 0:
				b[at] ^= 1 << r.IntN(8)
			case 1: // a row gets the item of another
				copy(b[8+8*r.IntN(40):], b[8+8*r.IntN(40):][:8])
			default:
				b[at] = byte(r.IntN(256))
			}
		}
		if d, err := load(m, b); err == nil {
			taken++
			noError(t, d.Verify(m))
		}
	}
	if taken == 0 {
		t.Error("no forgery is taken: none reaches the values")
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// filled returns data of the items: their indexes.
func filled(ids []handle.ID) *sparse.Map {
	d := sparse.New(parts)
	d.Reserve(len(ids), 200)
	for i, id := range ids {
		d.Set(id, unsafe.Pointer(&part{i, "text"}))
	}
	return d
}
