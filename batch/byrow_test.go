package batch_test

import (
	"slices"
	"testing"

	"handloom/shard/handle"
)

func TestResolveRows_ReplacesRowsByHandles(t *testing.T) {
	b := newBench(1<<20, 2)
	for range 3 {
		p := b.Begin(2)
		for task := range 2 {
			q := p.Queue(task)
			b.Erase(q, name{ID: handle.New(uint16(7+task), 1, 100)})
			*q.Rows() = append(*q.Rows(), 3, 5)
			b.EraseRows(q, task)
		}
		noError(t, p.End(false))
		for range 2 { // the second call has no effect
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
			at := func(slot uint32) handle.ID { return handle.New(uint16(7+shard), 1, slot) }
			if want := []handle.ID{at(100), at(3), at(5)}; !slices.Equal(ids, want) {
				t.Errorf("erases of shard %d = %v, want %v", shard, ids, want)
			}
		}
		b.Finish()
	}
}
