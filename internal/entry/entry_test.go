package entry

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
)

func someRecord(random *rand.Rand, k Kind) Record {
	r := Record{
		Kind: k, Cell: random.Uint64(), Incarnation: random.Uint64(), Term: random.Uint32(),
		Tick: random.Uint64(), Time: random.Int64(), Idle: random.Uint32N(MaxIdle + 1), State: StateDigest{Tick: random.Uint64()},
	}
	for i := range r.Chain {
		r.Chain[i] = byte(random.Uint32())
	}
	for range random.IntN(4) {
		r.State.Shards = append(r.State.Shards, ShardDigest{uint16(random.Uint32()), random.Uint64()})
	}
	switch k {
	case KindTermStart:
		r.Start = TermStart{Version: "p", Arch: "amd64", Go: "go1.26", Hz: 60, Schema: Chain{1, 2}}
	case KindTick:
		r.Input = []byte("some input")[:random.IntN(10)]
	case KindHandoff:
		r.To, r.Wait = "q", random.Int64()
	}
	return r
}

func TestRecord_RoundTrips(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		for k := KindTermStart; k <= KindIdle; k++ {
			want := someRecord(random, k)
			b := append(want.Append(nil), want.Input...)
			var got Record
			if err := got.Decode(b); err != nil || len(got.Input) != len(want.Input) {
				t.Fatalf("%v: %v", k, err)
			}
			got.Input, want.Input = nil, nil
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%v reads back as\n%+v, want\n%+v", k, got, want)
			}
		}
	}
}

func TestRecord_RefusesOtherBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	for k := KindTermStart; k <= KindIdle; k++ {
		r := someRecord(random, k)
		b := r.Append(nil)
		for n := range b {
			if err := new(Record).Decode(b[:n]); err == nil {
				t.Errorf("%v is read from %d of %d bytes", k, n, len(b))
			}
		}
		if err := new(Record).Decode(append(bytes.Clone(b), 0)); (err == nil) != (k == KindTick) {
			t.Errorf("%v with an extra byte: %v", k, err)
		}
		for at, value := range map[int]byte{0: 'X', 1: 'X', 2: 0, 3: byte(KindIdle) + 1} {
			bad := bytes.Clone(b)
			bad[at] = value
			if err := new(Record).Decode(bad); err != ErrRecord {
				t.Errorf("%v with byte %d of %d: %v", k, at, value, err)
			}
		}
		r.Idle = MaxIdle + 1
		if err := new(Record).Decode(r.Append(nil)); err != ErrRecord {
			t.Errorf("%v of %d idle ticks: %v", k, r.Idle, err)
		}
		b[2] = recordVersion + 1
		if err := new(Record).Decode(b); err != ErrVersion {
			t.Errorf("%v of a later version: %v", k, err)
		}
	}
}

func FuzzRecord(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 1))
	for k := KindTermStart; k <= KindIdle; k++ {
		r := someRecord(random, k)
		f.Add(append(r.Append(nil), r.Input...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Record
		if r.Decode(b) != nil || b[2] != recordVersion {
			return
		}
		if got := append(r.Append(nil), r.Input...); !bytes.Equal(got, b) {
			t.Fatalf("%x is written as %x", b, got)
		}
	})
}

func TestChain_DependsOnEveryByte(t *testing.T) {
	var c Chain
	rec := []byte("record")
	a := c.Next(rec)
	for i := range rec {
		b := bytes.Clone(rec)
		b[i] ^= 1
		if c.Next(b) == a {
			t.Errorf("byte %d is not in the chain", i)
		}
	}
	if a.Next(rec) == a || a.Seed(1) == a.Seed(2) || a.Seed(1) == c.Seed(1) {
		t.Error("two chains or seeds are equal")
	}
}
