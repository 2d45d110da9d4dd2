package batch_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// Creates that no Set names have zero values, whichever queue sets the others, and
// whatever the batches before have left in the memory.
func TestSetCreate_LeavesOtherCreatesZero(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 9))
		b := newBench(1<<20, 1)
		var a batch.SetLog
		a.Init(&b.Recorder, items.For[uint32](), false, nil, nil)
		for round := range 8 {
			p := b.Begin(2)
			own, other := p.Queue(0), p.Queue(1)
			want := make([]uint32, 1+r.IntN(200))
			for i := range want {
				id := b.Emplace(own, value{}).ID
				if r.IntN(4) > 0 {
					continue
				}
				q := own
				if r.IntN(3) > 0 {
					q = other
				}
				want[i] = r.Uint32()
				*(*uint32)(a.Set(q, id)) = want[i]
			}
			b.Gather() // in memory of the batches before
			c := b.Recorder.Pending
			b.plan(c)
			var counts batch.Counts
			c.CountStaged(a.Index(), &counts)
			for _, sets := range c.Sets(a.Index()) {
				for i, id := range sets.Puts(0).IDs {
					c.SetCreate(a.Index(), id, sets.Puts(0).Values.Pointer(i, 4), sets.Key(), &counts)
				}
			}
			got := make([]uint32, len(want))
			c.Staged(a.Index(), 0, len(want), func(offset int, values items.Slice) {
				copy(got[offset:], *items.As[uint32](&values))
			})
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, batch %d: values of the creates = %v, want %v", seed, round, got, want)
			}
			b.Publish(true)
			b.Finish()
		}
	}
}

// Erases by row that got handles are erases by handle, once.
func TestNameRows_ReplacesRowsByHandles(t *testing.T) {
	b := newBench(1<<20, 2)
	for range 3 {
		p := b.Begin(2)
		for task := range 2 {
			q := p.Queue(task)
			b.Erase(q, name{ID: handle.New(uint16(7+task), 1, 100)})
			*q.Rows() = append(*q.Rows(), 3, 5)
			b.EraseRows(q, task)
		}
		if err := p.End(false); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time there are none
			b.ResolveRows(&b.Recorder, func(shard int, rows []uint32, ids []handle.ID) {
				for i, row := range rows {
					ids[i] = handle.New(uint16(7+shard), 1, row)
				}
			})
		}
		if n := b.Pending().Commands; n != 6 {
			t.Errorf("%d commands are pending, want 6", n)
		}
		c := b.commands()
		for shard := range 2 {
			var ids []handle.ID
			for _, erases := range c.Erases(shard) {
				ids = append(ids, erases.IDs...)
				if len(erases.Rows) > 0 {
					t.Errorf("rows %v of shard %d are erased, want handles alone", erases.Rows, shard)
				}
			}
			of := func(slot uint32) handle.ID { return handle.New(uint16(7+shard), 1, slot) }
			if want := []handle.ID{of(100), of(3), of(5)}; !slices.Equal(ids, want) {
				t.Errorf("erases of shard %d = %v, want %v", shard, ids, want)
			}
		}
		b.Finish()
	}
}
