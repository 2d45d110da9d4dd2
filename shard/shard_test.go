package shard_test

import (
	"testing"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/dense"
	"handloom/internal/items"
	"handloom/internal/paged"
	"handloom/internal/sparse"
	"handloom/shard"
)

// written is a map to change without a flush.
type written interface {
	EraseItems(ids []handle.ID) int
	InsertItems(values items.Slice, dst []handle.ID) ([]handle.ID, error)
}

// table is a table of one shard with sparse data.
type table struct {
	*shard.Shard
	batch    *batch.Batch
	recorder batch.Recorder
	extras   batch.SetLog // of *uint64
	data     *sparse.Map
}

func newTable(t testing.TB, stable bool) *table {
	t.Helper()
	tab := &table{batch: batch.New(batch.Limits{}), data: sparse.New(items.For[*uint64]())}
	tab.recorder.Init(tab.batch, 7, 1, items.For[uint64]())
	o := handle.Options{TypeID: 7}
	if stable {
		m, err := paged.New(paged.TypeFor[uint64](), o)
		noError(t, err)
		tab.Shard = shard.New(m, items.For[uint64](), nil, nil)
	} else {
		m, err := dense.New(items.For[uint64](), o)
		noError(t, err)
		tab.Shard = shard.New(m, items.For[uint64](), nil, nil)
	}
	tab.extras.Init(&tab.recorder, items.For[*uint64](), true, nil, nil)
	tab.AddSparse(tab.data, "extra", tab.extras.Index(), nil, nil, nil)
	return tab
}

func kinds(t *testing.T, test func(t *testing.T, stable bool)) {
	t.Run("packed", func(t *testing.T) { test(t, false) })
	t.Run("stable", func(t *testing.T) { test(t, true) })
}

func (tab *table) queue() batch.Queue { return tab.batch.Begin(1).Queue(0) }

func (tab *table) setExtra(q batch.Queue, id handle.ID, v uint64) {
	*(**uint64)(tab.extras.Set(q, id)) = &v
}

func (tab *table) plan(t testing.TB) *batch.Commands {
	t.Helper()
	tab.batch.Seal()
	tab.batch.Gather()
	c := tab.recorder.Pending
	tab.Begin()
	tab.Plan(c, 0)
	c.FixSurvivors()
	noError(t, tab.Deal(c, 0, c.Survivors()))
	return c
}

// cancel undoes plan; the batch remains.
func (tab *table) cancel() {
	tab.Cancel()
	tab.recorder.Pending.Reset()
}

// flush applies the recorded batch and verifies the state.
func (tab *table) flush(t testing.TB) {
	t.Helper()
	c := tab.plan(t)
	if tab.NeedsMemory() {
		tab.MakeRoom()
	}
	if tab.NeedsMemory() {
		t.Fatal("NeedsMemory after MakeRoom")
	}
	tab.Apply(c, 0)
	tab.recorder.Publish(true)
	tab.batch.Finish()
	noError(t, tab.State().Verify())
}

// fill creates n items and returns their handles. Values count from 0; every gap-th item
// has a sparse value.
func (tab *table) fill(t testing.TB, n, gap int) []handle.ID {
	t.Helper()
	q := tab.queue()
	ids := make([]handle.ID, n)
	for i := range ids {
		ids[i] = batch.Emplace(&tab.recorder, q, uint64(i)).ID
		if i%gap == gap-1 {
			tab.setExtra(q, ids[i], uint64(i))
		}
	}
	tab.flush(t)
	for i := range ids {
		ids[i], _ = tab.recorder.Resolve(ids[i])
	}
	return ids
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
