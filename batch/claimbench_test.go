package batch_test

import (
	"errors"
	"testing"

	"handloom/batch"
	"handloom/handle"
)

type wide [4]uint64

type worded struct {
	Link handle.ID
	Name string
	Of   [2]uint64
}

var errReleased = errors.New("the claim is over")

func BenchmarkClaim(b *testing.B) {
	claims(b, "memory", wide{1, 2, 3, 4})
	claims(b, "words", worded{Name: "a name"})
}

func claims[T any](b *testing.B, kind string, v T) {
	const calls = 1000
	var input []byte
	record := func(b *testing.B, r *recorder[T], enter func() (queue, error), add func(queue, *batch.Call) error, call *batch.Call) {
		for range calls {
			q, err := enter()
			noError(b, err)
			r.Emplace(q, v)
			noError(b, add(q, call))
		}
	}
	for _, step := range []struct {
		name string
		run  func(b *testing.B, pending *batch.Batch, r *recorder[T])
	}{
		{"inbox", func(b *testing.B, pending *batch.Batch, r *recorder[T]) {
			for b.Loop() {
				record(b, r, pending.Enter, pending.AddCall, nil)
				pending.Drop(nil)
			}
		}},
		{"seal", func(b *testing.B, pending *batch.Batch, r *recorder[T]) {
			a, call := pending.Claim(errReleased), batch.NewCall()
			for b.Loop() {
				record(b, r, a.Enter, a.AddCall, call)
				input, _ = a.Seal(input[:0], 1<<30)
			}
		}},
		{"put", func(b *testing.B, pending *batch.Batch, _ *recorder[T]) {
			for b.Loop() {
				noError(b, pending.PutInput(input, nil))
				pending.Drop(nil)
			}
		}},
	} {
		b.Run("op=claim/step="+step.name+"/items="+kind, func(b *testing.B) {
			pending, r := newTable[T](1)
			if kind == "words" {
				r.Links([]uintptr{0}, nil)
			}
			b.ReportAllocs()
			step.run(b, pending, r)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/calls, "ns/call")
		})
	}
}
