package store_test

import (
	"context"
	"testing"

	"handloom/batch"
	"handloom/store"
)

func newStable(t tb, o store.Options, to store.TableOptions[item]) (*store.Store, *store.StableTable[item]) {
	t.Helper()
	s := newStore(t, o)
	return s, registerStable(t, s, to)
}

func TestStableChunk_TasksMayStopEarly(t *testing.T) {
	s, table := newStable(t, store.Options{Workers: 3}, store.TableOptions[item]{ChunkItems: 8})
	fill(t, s, table, 100)
	noError(t, table.ForEach(t.Context(), func(c store.StableChunk[item]) {
		for h := range c.All() {
			table.Erase(c.Queue, h)
			c.Queue.Erase(h.ID)
			break
		}
	}))
	wantFlush(t, s, batch.Counts{Erased: 13, Redundant: 13})
	for _, v := range table.All() {
		if v.Value%8 == 0 {
			t.Errorf("the first item of a chunk, %d, is still there", v.Value)
		}
	}
}

func sumStable(ctx context.Context, table *store.StableTable[item]) (uint64, error) {
	return stableTable{table}.fold(ctx, func(_ int, items itemSeq) (sum uint64) {
		for _, v := range items {
			sum += v.Value
		}
		return sum
	})
}

func TestStableTable_Lookups(t *testing.T) {
	for _, shards := range []int{1, 2, 3, 64} {
		s, table := newStable(t, store.Options{}, store.TableOptions[item]{Name: "stable", Shards: shards, TypeID: 61})
		hs := fill(t, s, table, 200)
		table.Erase(queues(t, s, 1)[0], hs[1])
		flush(t, s)
		for what, id := range badHandles(hs[0].ID, hs[1].ID) {
			table.Put(queues(t, s, 1)[0], handleOf(id), item{Value: 1})
			if report := flush(t, s); report.Total != (batch.Counts{Stale: 1}) || table.Has(handleOf(id)) {
				t.Errorf("%d shards, handle %v (%s): %v", shards, id, what, report)
			}
		}
		func() {
			defer func() {
				stale, ok := recover().(*store.StaleError)
				equal(t, "At panics with it", ok, true)
				equal(t, "handle in the panic", stale.Handle, hs[1].ID)
			}()
			table.At(hs[1])
		}()
		n := 0
		for h, v := range table.All() {
			if hs[v.Value] != h || v != table.At(h) {
				t.Fatalf("All yields %v with %d", h, v.Value)
			}
			if n++; n == 150 {
				break
			}
		}
		if n != 150 || table.Len() != 199 || table.Name() != "stable" {
			t.Errorf("%d of %d items of %q", n, table.Len(), table.Name())
		}
	}
}

func TestRegisterStable_RefusesInvalidOptions(t *testing.T) {
	s := newStore(t, store.Options{})
	register(t, s, store.TableOptions[item]{Name: "taken", TypeID: 3, Shards: 2})
	for part, o := range map[string]store.TableOptions[item]{
		"taken":        {Name: "taken"},
		"4 to 4":       {TypeID: 4},
		"Shards 65":    {Shards: 65},
		"MinFree -1":   {MinFree: -1},
		"ChunkItems":   {ChunkItems: -1},
		"Reserve":      {Reserve: 9, MaxItems: 8},
		"MaxItems -1":  {MaxItems: -1},
		"32767 to 327": {TypeID: 32767, Shards: 2},
	} {
		wantText(t, "RegisterStable", faultOf(func() { store.RegisterStable(s, o) }), part)
	}
	wantText(t, "handles in a slice", faultOf(func() { store.RegisterStable(s, store.TableOptions[hidden]{}) }), "hidden.Inner.Targets")
	equal(t, "tables", len(s.Stats().Tables), 1)
	registerStable(t, s, store.TableOptions[item]{Name: "roomy", Reserve: 100, Shards: 2})
	atLeast(t, "reserved bytes", s.Stats().Tables[1].Bytes, 100*itemBytes)
}
