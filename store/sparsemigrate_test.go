package store_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"handloom/store"
)

// burn and laterBurn are optional data of an older version of a program and of a later one.
type (
	burn struct {
		Level int16
		Path  []uint16
	}
	laterBurn struct {
		Path  []uint16
		Level int64 // was narrower
		Fresh string
	}
)

// oldOptional is a snapshot of a table with optional data, and what some items had.
func oldOptional(t *testing.T, stable bool) (image []byte, want map[store.Handle[item]]int, items int) {
	t.Helper()
	ctx := context.Background()
	s := newStore(t, store.Options{})
	table := registerKind(t, s, store.TableOptions[item]{Name: "ships", Shards: 2}, stable)
	gone := addSparse(t, table, store.ColumnOptions[[]string]{Name: "gone"})
	burns := addSparse(t, table, store.ColumnOptions[burn]{Name: "burn"})
	tags := addSparse(t, table, store.ColumnOptions[struct{}]{Name: "tag"})
	q := queues(t, s, 1)[0]
	named := make(map[store.Handle[item]]int)
	for i := range 100 {
		h := table.Emplace(q, item{Value: uint64(i)})
		gone.Set(q, h, []string{"g", "one"}[:i%3])
		if i%4 == 0 {
			burns.Set(q, h, burn{int16(-i), make([]uint16, i%5)})
			tags.Set(q, h, struct{}{})
			named[h] = i
		}
	}
	flush(t, s)
	want = make(map[store.Handle[item]]int)
	for h, i := range named {
		h, _ = table.Resolve(h)
		want[h] = i
	}
	if err := s.Snapshot(ctx, writerTo(&image)); err != nil {
		t.Fatal(err)
	}
	return image, want, table.Len()
}

// Optional data is matched by name, as columns are.
func TestASnapshotOfOlderOptionalDataIsRead(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		ctx := context.Background()
		image, want, items := oldOptional(t, stable)
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[item]{Name: "ships", Shards: 2}, stable)
		tags := addSparse(t, table, store.ColumnOptions[struct{}]{Name: "tag"})
		fresh := addSparse(t, table, store.ColumnOptions[int]{Name: "fresh"})
		burns := addSparse(t, table, store.ColumnOptions[laterBurn]{Name: "burn"})
		if err := errors.Join(s.Load(ctx, bytes.NewReader(image)), s.Verify(ctx)); err != nil {
			t.Fatal(err)
		}
		if table.Len() != items || burns.Len() != len(want) || tags.Len() != len(want) || fresh.Len() != 0 {
			t.Fatalf("%d items; %d burn, %d have a tag, and %d what is new", table.Len(), burns.Len(), tags.Len(), fresh.Len())
		}
		for h, i := range want {
			got, ok := burns.Get(h)
			if !ok || got.Level != int64(-i) || len(got.Path) != i%5 || got.Fresh != "" || !tags.Has(h) {
				t.Fatalf("beside %v there is %+v, %v; want %d", h, got, ok, i)
			}
		}
		q := queues(t, s, 1)[0]
		for h := range want {
			fresh.Set(q, h, 1)
			burns.Unset(q, h)
		}
		flush(t, s)
		if err := s.Verify(ctx); err != nil || fresh.Len() != len(want) || burns.Len() != 0 {
			t.Errorf("%v; %d have what is new, %d burn", err, fresh.Len(), burns.Len())
		}
	})
}

func TestASchemaErrorNamesOptionalData(t *testing.T) {
	image, _, _ := oldOptional(t, false)
	refused := func(add func(table *store.Table[item]) error, want string) {
		t.Helper()
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships", Shards: 2})
		if err := add(table); err != nil {
			t.Fatal(err)
		}
		if err := s.Load(context.Background(), bytes.NewReader(image)); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	refused(func(table *store.Table[item]) error {
		_, err := store.AddSparse(table, store.ColumnOptions[int8]{Name: "burn"})
		return err
	}, `optional data "burn": int8 cannot be converted`)
	refused(func(table *store.Table[item]) error {
		_, err := store.AddColumn(table, store.ColumnOptions[burn]{Name: "burn"})
		return err
	}, `optional data "burn": it is of kind "column" in the store`)
}
