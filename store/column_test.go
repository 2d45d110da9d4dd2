package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"handloom/store"
)

type fleet struct {
	*store.Store
	items *store.Table[item]
	small *store.Column[item, uint32]
	name  *store.Column[item, string]
	large *store.Column[item, [12]uint64]
}

func newFleet(t tb, o store.Options) *fleet {
	t.Helper()
	s, table := newTable(t, o, store.TableOptions[item]{Name: "ships", Shards: 3, ChunkItems: 16, Changes: true, MinFree: 2})
	return &fleet{
		Store: s, items: table,
		small: addColumn(t, table, store.ColumnOptions[uint32]{Name: "small", Changes: true}),
		name:  addColumn(t, table, store.ColumnOptions[string]{Name: "name"}),
		large: addColumn(t, table, store.ColumnOptions[[12]uint64]{}),
	}
}

func addColumn[C, T any](t tb, table *store.Table[T], o store.ColumnOptions[C]) *store.Column[T, C] {
	t.Helper()
	return store.AddColumn(table, o)
}

func TestColumn_Lookups(t *testing.T) {
	f := newFleet(t, store.Options{})
	shield := addSparse(t, f.items, store.ColumnOptions[int]{Name: "shield"})
	hs := fill(t, f.Store, f.items, 10)
	q := queues(t, f.Store, 1)[0]
	f.small.Set(q, hs[4], 42)
	shield.Set(q, hs[4], 7)
	f.items.Erase(q, hs[7])
	flush(t, f.Store)
	if v, ok := f.small.Get(hs[4]); !ok || *v != 42 {
		t.Errorf("%v, %t", v, ok)
	}
	for _, h := range []store.Handle[item]{{}, hs[7], {ID: hs[4].ID | 1<<63}, {ID: hs[4].ID + 40<<48}} {
		if v, ok := f.small.Get(h); ok || v != nil {
			t.Errorf("%v has the element %d", h, *v)
		}
		if said := panicOf(func() { f.small.At(h) }); said == "" {
			t.Errorf("At(%v) does not panic", h)
		}
	}
	for h, want := range map[store.Handle[item]]string{
		hs[4]: "small name [12]uint64 shield", hs[5]: "small name [12]uint64", hs[7]: "",
	} {
		var names []string
		for name, element := range f.DumpColumns(h.ID) {
			names = append(names, name)
			if v, ok := element.(*int); ok && *v != 7 {
				t.Errorf("the shield is dumped as %d", *v)
			}
		}
		equal(t, fmt.Sprintf("dump of %v", h), strings.Join(names, " "), want)
	}
	if _, err := f.Close(t.Context()); err != nil || shield.Has(hs[4]) || shield.Len() != 0 {
		t.Errorf("after Close %d items have a shield; %v", shield.Len(), err)
	}
}

func TestAddColumn_RefusesInvalidOptions(t *testing.T) {
	ctx := context.Background()
	f := newFleet(t, store.Options{})
	plain := register(t, f.Store, store.TableOptions[item]{Name: "plain"})
	for says, err := range map[string]error{
		"the name is taken":   faultOf(func() { store.AddColumn(f.items, store.ColumnOptions[int]{Name: "small"}) }),
		"keeps no changes":    faultOf(func() { store.AddColumn(plain, store.ColumnOptions[int]{Name: "a", Changes: true}) }),
		"ColumnOptions.Links": faultOf(func() { store.AddColumn(plain, store.ColumnOptions[[]store.ID]{Name: "a"}) }),
	} {
		wantText(t, "the call", err, says)
	}
	wantError(t, "inside a phase", f.Read(ctx, func(context.Context) error {
		return faultOf(func() { store.AddColumn(f.items, store.ColumnOptions[int]{Name: "late"}) })
	}), store.ErrPhase)
	wantError(t, "another table may have a column of the name", faultOf(func() { store.AddColumn(plain, store.ColumnOptions[int]{Name: "small"}) }), nil)
	noError(t, onlyError(f.Close(ctx)))
	wantError(t, "on a closed store", faultOf(func() { store.AddColumn(plain, store.ColumnOptions[int]{Name: "late"}) }), store.ErrClosed)
}

func TestRollback_RefusesStateOlderThanAColumn(t *testing.T) {
	ctx := t.Context()
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships"})
	var before store.Checkpoint
	for says, add := range map[string]func(){
		`column "a"`: func() { addColumn(t, table, store.ColumnOptions[int]{Name: "a"}) },
		`sparse data "b" was added to table "ships"`: func() { addSparse(t, table, store.ColumnOptions[int]{Name: "b"}) },
	} {
		var image, out bytes.Buffer
		noError(t, errors.Join(s.Checkpoint(ctx, &before), s.Snapshot(ctx, &image)))
		add()
		wantError(t, "Rollback", s.Rollback(ctx, &before), store.ErrCheckpoint, says)
		if _, err := before.WriteTo(&out); err != nil || !bytes.Equal(out.Bytes(), image.Bytes()) {
			t.Errorf("the older checkpoint is written as something else: %v", err)
		}
		wantError(t, "used again", errors.Join(s.Checkpoint(ctx, &before), s.Rollback(ctx, &before)), nil)
	}
	sum := digest(t, s)
	addColumn(t, table, store.ColumnOptions[[]int]{Name: "c"})
	wantError(t, "a column of slices", s.Checkpoint(ctx, &before), store.ErrCheckpoint, "ColumnOptions.Clone")
	equal(t, "digest with columns and without items", digest(t, s), sum)
	addColumn(t, table, store.ColumnOptions[*int]{Name: "d"})
	wantError(t, "a column of pointers is saved", s.Snapshot(ctx, new(bytes.Buffer)), store.ErrSnapshot)
}

func TestCheckpoint_PanicOfElementCloneChangesNothing(t *testing.T) {
	ctx := t.Context()
	for _, sparse := range []bool{false, true} {
		s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 2})
		left := 0
		o := store.ColumnOptions[[]int]{Name: "a", Clone: func(dst, src *[]int) {
			if left--; left == 0 {
				panic("clone")
			}
			*dst = append((*dst)[:0], *src...)
		}}
		var c interface {
			Set(q store.Queue, h store.Handle[item], v []int)
		}
		if sparse {
			c = addSparse(t, table, o)
		} else {
			c = addColumn(t, table, o)
		}
		q := queues(t, s, 1)[0]
		for i := range 20 {
			c.Set(q, table.Emplace(q, item{}), []int{i})
		}
		flush(t, s)
		var saved store.Checkpoint
		checkpoint(t, s, &saved)
		sum := digest(t, s)
		for what, call := range map[string]func(context.Context, *store.Checkpoint) error{"Checkpoint": s.Checkpoint, "Rollback": s.Rollback} {
			left = 5
			if err := call(ctx, &saved); !strings.Contains(fmt.Sprint(err), "clone") || digest(t, s) != sum || s.Verify(ctx) != nil {
				t.Errorf("sparse %t, %s: %v; the digest is %x, want %x", sparse, what, err, digest(t, s), sum)
			}
			checkpoint(t, s, &saved)
		}
	}
}
