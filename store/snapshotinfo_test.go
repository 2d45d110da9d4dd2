package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"handloom/internal/entrance"
	snapshot "handloom/internal/image"
	"handloom/store"
)

func TestInspect_ReturnsTablesColumnsAndTheTag(t *testing.T) {
	w := newRealm(t, 1)
	addColumn(t, w.units, store.ColumnOptions[plan]{Name: "plan", Clone: clonePlan})
	for tick := range uint64(5) {
		w.tick(t, tick)
	}
	saved, b := new(store.Checkpoint), new(bytes.Buffer)
	checkpoint(t, w.Store, saved)
	tag := snapshot.Tag{At: 9, Tick: 8, Chain: [16]byte{7}, Version: "one"}
	*saved.Entrance(entrance.Key{}) = tag
	noError(t, onlyError(saved.WriteTo(b)))
	whole := bytes.Clone(b.Bytes())
	b.WriteString("after it")
	info, err := snapshot.Inspect(b)
	noError(t, err)
	equal(t, "the rest", b.String(), "after it")
	if info.Tag != tag || info.Epoch != w.Epoch() || info.Digest != digest(t, w.Store) || len(info.Tables) != 2 {
		t.Errorf("%+v", info)
	}
	places := map[string]bool{}
	for n := 0; n < len(whole); n += 1 + n/100 {
		_, err := snapshot.Inspect(bytes.NewReader(whole[:n]))
		if at, ok := errors.AsType[*snapshot.Error](err); ok {
			places[fmt.Sprint(at.Table, at.Shard)] = true
		}
	}
	for i, want := range w.Stats().Tables {
		got := info.Tables[i]
		for shard := range got.Shards {
			equal(t, fmt.Sprint("a cut is in ", got.Name, shard), places[fmt.Sprint(got.Name, shard)], true)
		}
		if got.Name != want.Name || got.Rows != want.Live || got.Slots != want.Live+want.Vacant+want.Depleted || got.Stable != (i == 1) || got.Shards != 3-i || got.TypeID != 1+3*i {
			t.Errorf("%+v; want %+v", got, want)
		}
	}
	if c := info.Tables[0].Columns; len(c) != 1 || c[0].Name != "plan" || c[0].Schema != "struct{\n\tName string\n\tSteps []int64\n\tOdds map[uint8]float64\n}" {
		t.Errorf("%+v", c)
	}
}
