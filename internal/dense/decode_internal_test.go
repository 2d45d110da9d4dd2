package dense

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"handloom/handle"
	"handloom/internal/digest"
	"handloom/internal/items"
)

// encoding returns the bytes that DigestTo hashes.
func encoding(m *Set) (b []byte) {
	var h digest.Hash
	h.Tee(digest.NewTee(96, func(piece []byte, _ bool) { b = append(b, piece...) }))
	m.DigestTo(&h)
	h.Flush()
	return b
}

// decoder reads b in pieces of n bytes.
func decoder(b []byte, n int) *digest.Decoder {
	return digest.NewDecoder(func() ([]byte, error) {
		if len(b) == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		piece := b[:min(n, len(b))]
		b = b[len(piece):]
		return piece, nil
	})
}

func load(b []byte, n int) (*Set, error) {
	m := Bind[int](new(Set))
	if err := m.Init(handle.Options{}); err != nil {
		return nil, err
	}
	in := decoder(b, n)
	m.Load(in)
	return m, in.Err()
}

func TestLoad_ContinuesLikeTheOriginal(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 20
	}
	stages := map[stage]int{}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		m := Bind[int](new(Set))
		other := Bind[int](new(Set)) // in an earlier round
		values := []int{1, 3, 10, 1000}[seed%4]
		for range r.IntN(200) {
			Insert(m, r.IntN(values))
		}
		for range 60 {
			for range r.IntN(3) * r.IntN(3) {
				disturb(m, r, values)
			}
			Defragment(m, ascending, 1+r.IntN(60))
			if m.ordering() != nil {
				stages[m.ordering().stage]++
			}
			back, err := load(encoding(m), 1+r.IntN(200))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			m.CopyTo(other, CloneFuncs{})
			for range 5 {
				changeAlike(t, r, back, other, values)
			}
		}
	}
	for s := resting; s <= moving; s++ {
		if stages[s] == 0 {
			t.Errorf("no map in stage %d was written", s)
		}
	}
}

func changeAlike(t *testing.T, r *rand.Rand, a, b *Set, values int) {
	t.Helper()
	seed, budget := r.Uint64(), 1+r.IntN(40)
	for _, m := range []*Set{a, b} {
		r := rand.New(rand.NewPCG(seed, 0))
		if r.IntN(2) == 0 && m.Len() > 1 {
			disturb(m, r, values)
		}
		Defragment(m, ascending, budget)
		verifyOrder(t, m)
	}
	if a.Digest() != b.Digest() || a.Len() != b.Len() {
		t.Fatalf("digests %x and %x", a.Digest(), b.Digest())
	}
}

// Load refuses forged bytes or loads exactly these.
func TestLoad_RefusesForgery(t *testing.T) {
	n := 6000
	if testing.Short() {
		n = 1000
	}
	r := rand.New(rand.NewPCG(11, 7))
	refused, loaded := 0, 0
	var images [][]byte
	for range 60 {
		m := Bind[int](new(Set))
		for range 20 + r.IntN(100) {
			Insert(m, r.IntN(10))
		}
		for range r.IntN(10) {
			disturb(m, r, 10)
		}
		Defragment(m, ascending, 1+r.IntN(400))
		for range r.IntN(4) {
			disturb(m, r, 10)
		}
		images = append(images, encoding(m))
	}
	for i := range n {
		b := append([]byte(nil), images[i%len(images)]...)
		for range 1 + r.IntN(3) {
			forge(r, b)
		}
		m, err := load(b, 64)
		if err != nil {
			refused++
			continue
		}
		loaded++
		if err := m.Verify(); err != nil {
			t.Fatalf("forgery %d: %v", i, err)
		}
		if !bytes.HasPrefix(b, encoding(m)) {
			t.Fatalf("forgery %d: another map than that of the bytes", i)
		}
		for range 5 {
			if m.Len() > 1 {
				disturb(m, r, 10)
			}
			Defragment(m, ascending, 1+r.IntN(50))
		}
		Defragment(m, ascending, 0)
		if err := m.Verify(); err != nil {
			t.Fatalf("forgery %d, later: %v", i, err)
		}
	}
	t.Logf("%d refused, %d loaded", refused, loaded)
	if refused < n/4 || loaded < n/50 {
		t.Errorf("%d refused, %d loaded of %d", refused, loaded, n)
	}
}

// forge changes some bytes, mainly of numbers.
func forge(r *rand.Rand, b []byte) {
	at := r.IntN(len(b))
	switch r.IntN(4) {
	case 0:
		b[at] ^= 1 << r.IntN(8)
	case 1:
		b[at] = byte(r.IntN(4))
	case 2:
		b[at]++
	default:
		from := r.IntN(len(b))
		copy(b[at:min(at+8, len(b))], b[from:])
	}
}

// Unlimited doubling would overflow a 32-bit int.
func TestDefragment_LimitsStep(t *testing.T) {
	const n = 1 << 17
	m := Bind[int](new(Set))
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	m.InsertItems(items.From(all), nil)
	Defragment(m, ascending, 0)
	values(m)[0] = n
	m.TouchRows(0, 1)
	for done := false; !done; {
		_, done = Defragment(m, ascending, 1)
		if step := m.ordering().step; step < 0 || step > 2*n+2 {
			t.Fatalf("a step of %d rows among %d", step, n)
		}
	}
	if values(m)[n-1] != n {
		t.Errorf("the last item is %d", values(m)[n-1])
	}
}

// A Migration changes keys, so their order is unknown.
func TestLoad_ForgetsOrderOfMigratedKeys(t *testing.T) {
	m := Bind[int32](new(Set))
	for i := range int32(200) {
		Insert(m, i*77%200)
	}
	byValue := func(a, b *int32) int { return int(*a - *b) }
	if _, done := Defragment(m, byValue, 0); !done {
		t.Fatal("not sorted")
	}
	old, err := digest.ParseSchema("int32")
	noError(t, err)
	how := digest.Of(reflect.TypeFor[int]()).From(old)
	how.Item = func(_ digest.Fields, item unsafe.Pointer) error { *(*int)(item) *= -1; return nil }
	back := Bind[int](new(Set))
	noError(t, back.Init(handle.Options{}))
	in := decoder(encoding(m), 64)
	in.Migrate(how)
	if back.Load(in); in.Err() != nil {
		t.Fatal(in.Err())
	}
	for done := false; !done; {
		_, done = Defragment(back, ascending, 10)
	}
	if !slices.IsSorted(values(back)) {
		t.Errorf("Defragment is done, but the order is %v", values(back))
	}
}

func TestLoadItems_LargeItems(t *testing.T) {
	type large struct {
		Text string
		Rest [bytesAtOnce/8 + 100]uint64
	}
	m := Bind[large](new(Set))
	for i := range 3 {
		Insert(m, large{Text: fmt.Sprint(i), Rest: [bytesAtOnce/8 + 100]uint64{99: uint64(i)}})
	}
	b := encoding(m)
	back := Bind[large](new(Set))
	noError(t, back.Init(handle.Options{}))
	in := decoder(b, 1<<20)
	if back.Load(in); in.Err() != nil || !bytes.Equal(encoding(back), b) {
		t.Errorf("Load: %v", in.Err())
	}
}
