package shard_test

import (
	"testing"

	"handloom/batch"
)

func TestVerify_FindsSparseDataWithoutItem(t *testing.T) {
	kinds(t, func(t *testing.T, stable bool) {
		tab := newTable(t, stable)
		ids := tab.fill(t, 10, 1)
		noError(t, tab.State().Verify())
		tab.Map.(written).EraseItems(ids[3:4]) // but keeps its data
		if tab.State().Verify() == nil {
			t.Error("Verify = nil, want an error")
		}
	})
}

func TestFlush_ReusesSparseMemory(t *testing.T) {
	kinds(t, func(t *testing.T, stable bool) {
		tab := newTable(t, stable)
		ids := tab.fill(t, 20, 1)
		flush := func() {
			q := tab.queue()
			for _, id := range ids[5:10] {
				tab.extras.Unset(q, id)
			}
			tab.plan(t)
			tab.cancel() // these five keep their values
			tab.batch.Drop(nil)
			q = tab.queue()
			for _, id := range ids[:5] {
				tab.setExtra(q, id, 1)
			}
			tab.setExtra(q, batch.Emplace(&tab.recorder, q, 1).ID, 1)
			tab.flush(t)
			name := tab.recorder.Published()[0].Created()[0]
			q = tab.queue()
			for _, id := range append(ids[:5:5], name) {
				tab.extras.Unset(q, id)
			}
			tab.recorder.Erase(q, name)
			tab.flush(t)
		}
		for range 10 {
			flush()
		}
		before := tab.data.Bytes()
		for range 500 {
			flush()
		}
		if after := tab.data.Bytes(); after != before || tab.data.Len() != 15 {
			t.Errorf("%d values in %d bytes after 500 flushes more, want 15 in %d", tab.data.Len(), after, before)
		}
		if got, want := tab.State().Stats().Bytes, tab.Map.Stats().Bytes+before; got != want {
			t.Errorf("the state has %d bytes, want %d", got, want)
		}
	})
}
