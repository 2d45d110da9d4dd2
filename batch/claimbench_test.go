package batch_test

import (
	"errors"
	"testing"

	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// wide is memory, and has strings beside numbers in its other form.
type wide [4]uint64

type worded struct {
	Link handle.ID
	Name string
	Of   [2]uint64
}

var errReleased = errors.New("the claim is over")

// BenchmarkClaim measures calls of one create each: left in the inbox as they are, made
// bytes, with a seal for every 1,000, and recorded again from the bytes.
func BenchmarkClaim(b *testing.B) {
	claims(b, "memory", wide{1, 2, 3, 4})
	claims(b, "words", worded{Name: "a name"})
}

func claims[T any](b *testing.B, kind string, v T) {
	const calls = 1000
	begin := func() (*batch.Batch, *recorder[T]) {
		pending, r := batch.New(batch.Limits{}), new(recorder[T])
		r.Init(pending, 7, 1, items.For[T]())
		if kind == "words" {
			r.Links([]uintptr{0}, nil)
		}
		return pending, r
	}
	perCall := func(b *testing.B, n int) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
	}
	b.Run("op=claim/step=inbox/items="+kind, func(b *testing.B) {
		pending, r := begin()
		for b.Loop() {
			for range calls {
				q, err := pending.Enter()
				if err != nil {
					b.Fatal(err)
				}
				r.Emplace(q, v)
				if err := pending.AddCall(q, nil); err != nil {
					b.Fatal(err)
				}
			}
			pending.Drop(nil)
		}
		perCall(b, calls)
	})
	var input []byte
	b.Run("op=claim/step=seal/items="+kind, func(b *testing.B) {
		pending, r := begin()
		a := pending.Claim(errReleased)
		b.ReportAllocs()
		call := batch.NewCall(0)
		for b.Loop() {
			for range calls {
				q, err := a.Enter()
				if err != nil {
					b.Fatal(err)
				}
				r.Emplace(q, v)
				if err := a.AddCall(q, call); err != nil {
					b.Fatal(err)
				}
			}
			input, _ = a.Seal(input[:0], 1<<30)
		}
		perCall(b, calls)
	})
	b.Run("op=claim/step=put/items="+kind, func(b *testing.B) {
		pending, r := begin()
		b.ReportAllocs()
		for b.Loop() {
			if err := pending.PutInput(input, nil); err != nil {
				b.Fatal(err)
			}
			pending.Drop(nil)
		}
		_ = r
		perCall(b, calls)
	})
}
