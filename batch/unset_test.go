package batch_test

import (
	"testing"
	"unsafe"

	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// Later batches reuse the marks of Unset.
func TestUnset_EndsWithItsBatch(t *testing.T) {
	for name, end := range map[string]func(b *bench){
		"flushed": func(b *bench) { b.Finish() },
		"dropped": func(b *bench) { b.Drop(nil) },
	} {
		b := newBench(1<<20, 1)
		var a batch.SetLog
		a.Init(&b.Recorder, items.For[uint32](), true, nil, nil)
		for round := range 6 {
			const creates = 70 // Sets after the first record no mark
			q := b.Begin(1).Queue(0)
			for range creates {
				id := b.Emplace(q, value{}).ID
				a.Set(q, id)
				if round%2 == 0 {
					a.Unset(q, id)
				}
			}
			c, given := b.commands(), 0
			c.CountOptional(a.Index(), new(batch.Counts))
			c.FixSurvivors()
			c.Given(a.Index(), 0, creates, func(handle.ID, unsafe.Pointer) { given++ })
			if want := round % 2 * creates; given != want {
				t.Errorf("%s: batch %d gives %d values, want %d", name, round, given, want)
			}
			end(b)
		}
	}
}
