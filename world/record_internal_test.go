package world

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
)

func someRecord(random *rand.Rand, k kind) record {
	r := record{
		kind: k, cell: random.Uint64(), incarnation: random.Uint64(), term: random.Uint32(),
		tick: random.Uint64(), time: random.Int64(), state: stateDigest{tick: random.Uint64()},
	}
	for i := range r.chain {
		r.chain[i] = byte(random.Uint32())
	}
	for range random.IntN(4) {
		r.state.shards = append(r.state.shards, shardDigest{uint16(random.Uint32()), random.Uint64()})
	}
	switch k {
	case kindTermStart:
		r.epoch = epoch{program: "p", arch: "amd64", goVersion: "go1.26", hz: 60, schema: chain{1, 2}}
	case kindTick:
		r.input = []byte("some input")[:random.IntN(10)]
	case kindHandoff:
		r.to = "q"
	}
	return r
}

func TestRecordsReadBackAsTheyWereWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		for k := kindTermStart; k <= kindSkip; k++ {
			want := someRecord(random, k)
			b := append(want.append(nil), want.input...)
			var got record
			if err := got.decode(b); err != nil || len(got.input) != len(want.input) {
				t.Fatalf("%v: %v", k, err)
			}
			got.input, want.input = nil, nil
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%v reads back as\n%+v, want\n%+v", k, got, want)
			}
		}
	}
}

func TestBytesThatAreNoRecordAreRefused(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	for k := kindTermStart; k <= kindSkip; k++ {
		r := someRecord(random, k)
		b := r.append(nil)
		for n := range b {
			if err := new(record).decode(b[:n]); err == nil {
				t.Errorf("%v is read from %d of %d bytes", k, n, len(b))
			}
		}
		if err := new(record).decode(append(bytes.Clone(b), 0)); (err == nil) != (k == kindTick) {
			t.Errorf("%v with a byte behind it: %v", k, err)
		}
		for at, value := range map[int]byte{0: 'X', 1: 'X', 2: 0, 3: byte(kindSkip) + 1} {
			bad := bytes.Clone(b)
			bad[at] = value
			if err := new(record).decode(bad); err != errRecord {
				t.Errorf("%v with byte %d of %d: %v", k, at, value, err)
			}
		}
		b[2] = recordVersion + 1
		if err := new(record).decode(b); err != errVersion {
			t.Errorf("%v of a later version: %v", k, err)
		}
	}
}

func FuzzRecord(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 1))
	for k := kindTermStart; k <= kindSkip; k++ {
		r := someRecord(random, k)
		f.Add(append(r.append(nil), r.input...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r record
		if r.decode(b) != nil {
			return
		}
		if got := append(r.append(nil), r.input...); !bytes.Equal(got, b) {
			t.Fatalf("%x is written as %x", b, got)
		}
	})
}

func TestChainsAndSeedsDependOnEveryByteBefore(t *testing.T) {
	var c chain
	rec := []byte("record")
	a := c.next(rec)
	for i := range rec {
		b := bytes.Clone(rec)
		b[i] ^= 1
		if c.next(b) == a {
			t.Errorf("byte %d is not in the chain", i)
		}
	}
	if a.next(rec) == a || a.seed(1) == a.seed(2) || a.seed(1) == c.seed(1) {
		t.Error("two chains or seeds are equal")
	}
}
