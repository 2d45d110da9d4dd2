package store_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"handloom/store"
)

// What lies beside the items of an older version of a program, and of a later one.
type (
	gauge struct {
		Level int16
		Note  string
		Old   []uint8
	}
	laterGauge struct {
		Fresh float64
		Note  string
		Level int64 // was narrower
	}
)

// oldColumns is a snapshot of a table with columns, of which some will be gone, and what
// each item had.
func oldColumns(t tb) (image []byte, want map[store.Handle[item]]beforeColumns) {
	t.Helper()
	ctx := context.Background()
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships", Shards: 3})
	count := addColumn(t, table, store.ColumnOptions[uint32]{Name: "count"})
	path := addColumn(t, table, store.ColumnOptions[[]uint16]{Name: "path"})
	gauges := addColumn(t, table, store.ColumnOptions[gauge]{Name: "gauge"})
	names := addColumn(t, table, store.ColumnOptions[string]{Name: "name"})
	addColumn(t, table, store.ColumnOptions[struct{}]{Name: "mark"})
	mates := addColumn(t, table, store.ColumnOptions[store.Handle[item]]{Name: "mate"})
	want = make(map[store.Handle[item]]beforeColumns)
	err := s.Write(ctx, func(ctx context.Context, w *store.Writer) error {
		var last store.Handle[item]
		for i := range 200 {
			h, err := table.Insert(w, item{Value: uint64(i * 7919 % 200)})
			if err != nil {
				return err
			}
			now := beforeColumns{uint32(i), int64(-i), "note" + strings.Repeat("!", i%5), strings.Repeat("n", i%7), last}
			*count.At(h), *path.At(h) = now.count, slices.Repeat([]uint16{uint16(i)}, i%4)
			*gauges.At(h) = gauge{int16(now.level), now.note, []byte(now.name)}
			*names.At(h), *mates.At(h) = now.name, now.mate
			want[h], last = now, h
		}
		for h := range want {
			if want[h].count%3 == 0 {
				table.Remove(w, h)
				delete(want, h)
			}
		}
		_, _, err := store.Defragment(ctx, table, w, func(a, b *item) int { return int(a.Value) - int(b.Value) }, 60)
		return err
	})
	if err == nil {
		err = s.Snapshot(ctx, writerTo(&image))
	}
	if err != nil {
		t.Fatal(err)
	}
	return image, want
}

type beforeColumns struct {
	count uint32
	level int64
	note  string
	name  string
	mate  store.Handle[item]
}

type appending struct{ to *[]byte }

func (a appending) Write(b []byte) (int, error) { *a.to = append(*a.to, b...); return len(b), nil }

func writerTo(b *[]byte) appending { return appending{b} }

// laterShips is the table of a later version.
type laterShips struct {
	*store.Store
	ships  *store.Table[item]
	mates  *store.Column[item, store.Handle[item]]
	gauges *store.Column[item, laterGauge]
	fresh  *store.Column[item, [3]uint64]
	count  *store.Column[item, int64]
	names  *store.Column[item, string]
}

func newLaterShips(t tb) *laterShips {
	t.Helper()
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Name: "ships", Shards: 3})
	return &laterShips{
		s, table,
		addColumn(t, table, store.ColumnOptions[store.Handle[item]]{Name: "mate"}),
		addColumn(t, table, store.ColumnOptions[laterGauge]{Name: "gauge"}),
		addColumn(t, table, store.ColumnOptions[[3]uint64]{Name: "fresh"}),
		addColumn(t, table, store.ColumnOptions[int64]{Name: "count"}),
		addColumn(t, table, store.ColumnOptions[string]{Name: "name"}),
	}
}

// goesOn creates, erases and sorts, and sees that nothing is broken.
func (w *laterShips) goesOn(t tb) {
	t.Helper()
	ctx := context.Background()
	q := queues(t, w.Store, 1)[0]
	i := 0
	for h := range w.ships.All() {
		if i++; i%3 == 0 {
			w.ships.Erase(q, h)
			w.fresh.Set(q, w.ships.Emplace(q, item{}), [3]uint64{1, 2, 3})
		}
	}
	if _, err := w.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	err := w.Write(ctx, func(ctx context.Context, x *store.Writer) error {
		return store.SortByKey(ctx, w.ships, x, func(v *item) uint64 { return v.Value })
	})
	if err := errors.Join(err, w.Verify(ctx)); err != nil {
		t.Fatal(err)
	}
}

// Columns are matched by name, wherever they are, and their fields as those of items.
func TestASnapshotOfOlderColumnsIsRead(t *testing.T) {
	ctx := context.Background()
	image, want := oldColumns(t)
	w := newLaterShips(t)
	if err := w.Load(ctx, bytes.NewReader(image)); err != nil {
		t.Fatal(err)
	}
	if w.ships.Len() != len(want) {
		t.Fatalf("%d ships, want %d", w.ships.Len(), len(want))
	}
	for h, was := range want {
		got := beforeColumns{uint32(*w.count.At(h)), w.gauges.At(h).Level, w.gauges.At(h).Note, *w.names.At(h), *w.mates.At(h)}
		if got != was || *w.fresh.At(h) != [3]uint64{} || w.gauges.At(h).Fresh != 0 {
			t.Fatalf("%v has %+v, %v and %v; want %+v", h, got, w.fresh.At(h), w.gauges.At(h), was)
		}
	}
	var read store.Checkpoint
	sum := digest(t, w.Store)
	if err := errors.Join(w.Verify(ctx), w.ReadCheckpoint(ctx, bytes.NewReader(image), &read), w.Rollback(ctx, &read)); err != nil || digest(t, w.Store) != sum {
		t.Fatalf("read as a checkpoint: %v", err)
	}
	w.goesOn(t)
	var later []byte
	if err := w.Snapshot(ctx, writerTo(&later)); err != nil {
		t.Fatal(err)
	}
	again := newLaterShips(t)
	if err := again.Load(ctx, bytes.NewReader(later)); err != nil || digest(t, again.Store) != digest(t, w.Store) {
		t.Errorf("written and read as what it is: %v", err)
	}
}

// Columns alone make no items other ones, so that a Defragment goes on.
func TestADefragmentGoesOnBesideOtherColumns(t *testing.T) {
	ctx := context.Background()
	compared := func(load func(image []byte) (*store.Store, *store.Table[item])) (n int) {
		image, _ := oldColumns(t)
		s, table := load(image)
		err := s.Write(ctx, func(ctx context.Context, w *store.Writer) error {
			_, done, err := store.Defragment(ctx, table, w, func(a, b *item) int { n++; return int(a.Value) - int(b.Value) }, 1<<20)
			if !done {
				t.Error("Defragment is not done")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	loaded := func(with bool) func(image []byte) (*store.Store, *store.Table[item]) {
		return func(image []byte) (*store.Store, *store.Table[item]) {
			s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{Name: "ships", Shards: 3})
			if with {
				addColumn(t, table, store.ColumnOptions[int]{Name: "other"})
			}
			if err := s.Load(ctx, bytes.NewReader(image)); err != nil {
				t.Fatal(err)
			}
			return s, table
		}
	}
	without, with := compared(loaded(false)), compared(loaded(true))
	if without != with || without == 0 {
		t.Errorf("it compares %d times, and with a column %d", without, with)
	}
}

func TestASchemaErrorNamesTheColumn(t *testing.T) {
	image, _ := oldColumns(t)
	type unlike struct{ Level string }
	for _, tt := range []struct {
		add  func(table *store.Table[item]) error
		want string
	}{
		{func(table *store.Table[item]) error {
			return second(store.AddColumn(table, store.ColumnOptions[uint16]{Name: "count"}))
		}, `column "count": uint16 cannot be converted`},
		{func(table *store.Table[item]) error {
			return second(store.AddColumn(table, store.ColumnOptions[unlike]{Name: "gauge"}))
		}, `column "gauge": store_test.unlike.Level cannot be converted`},
	} {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships", Shards: 3})
		if err := tt.add(table); err != nil {
			t.Fatal(err)
		}
		before := digest(t, s)
		err := s.Load(context.Background(), bytes.NewReader(image))
		if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "\ncolumn \"path\", []uint16") {
			t.Errorf("%v; want %s", err, tt.want)
		}
		if digest(t, s) != before {
			t.Error("the store has changed")
		}
	}
	s, _ := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships", Shards: 3})
	twice, _ := signed(bytes.Replace(image, []byte("\x04\x00\x00\x00path"), []byte("\x04\x00\x00\x00name"), 1))
	if err := s.Load(context.Background(), bytes.NewReader(twice)); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), `column "name": it is there twice`) {
		t.Errorf("a column that is there twice: %v", err)
	}
}

// Whatever a forger makes of older columns is refused or is a state that the store can go
// on from.
func TestForgedOlderColumnsAreRefusedOrAState(t *testing.T) {
	image, _ := oldColumns(t)
	r := rand.New(rand.NewPCG(5, 9))
	refused, n := 0, 150
	for range n {
		w := newLaterShips(t)
		if loadForged(t, w.Store, forged(r, image)) {
			refused++
		} else if !w.leaks() {
			w.goesOn(t)
		}
	}
	if refused < n/10 || refused > n*99/100 {
		t.Errorf("%d of %d were refused", refused, n)
	}
}

// leaks reports whether an element is a provisional handle, as a forger may make it.
func (w *laterShips) leaks() bool {
	for h := range w.ships.All() {
		if w.mates.At(h).ID.IsProvisional() {
			return true
		}
	}
	return false
}
