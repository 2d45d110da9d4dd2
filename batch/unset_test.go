package batch_test

import (
	"maps"
	"math/rand/v2"
	"testing"
	"unsafe"

	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard/handle"
)

func TestUnset_EndsWithItsBatch(t *testing.T) {
	for name, end := range map[string]func(b *bench){
		"flushed": func(b *bench) { b.Finish() },
		"dropped": func(b *bench) { b.Drop(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 1))
			b := newBench(1<<20, 1)
			var a batch.SetLog
			a.Init(&b.Recorder, items.For[uint32](), true, nil, nil)
			for round := range 50 {
				q := b.Begin(1).Queue(0)
				want := make(map[int]uint32) // by creation number
				n := 1 + r.IntN(70)
				unset := r.IntN(3) // none, some, all
				for i := range n {
					id := b.Emplace(q, value{N: uint64(i)}).ID
					if v := a.Set(q, id); v != nil {
						*(*uint32)(v) = uint32(1000*round + i)
					}
					want[i] = uint32(1000*round + i)
					if unset == 2 || unset == 1 && r.IntN(3) == 0 {
						a.Unset(q, id)
						delete(want, i)
					}
				}
				if got := given(b, &a, n); !maps.Equal(got, want) {
					t.Fatalf("batch %d: creates with a value = %v, want %v", round, got, want)
				}
				end(b)
			}
		})
	}
}

// given returns the creates' values, by creation number.
func given(b *bench, a *batch.SetLog, n int) map[int]uint32 {
	c := b.commands()
	var counts batch.Counts
	c.CountOptional(a.Index(), &counts)
	c.FixSurvivors()
	survivors(c, 0, n)
	got := make(map[int]uint32)
	c.Given(a.Index(), 0, n, func(id handle.ID, v unsafe.Pointer) { got[int(id.Slot())] = *(*uint32)(v) })
	return got
}
