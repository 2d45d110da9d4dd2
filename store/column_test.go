package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"handloom/store"
)

// crew and trace are elements of columns: the first has handles, the second memory of its
// own.
type crew struct {
	Mate  store.Handle[item]
	Boats [2]store.ID
	Cabin int
}

type trace struct {
	Points []uint32
	Near   []store.Handle[item]
}

func cloneTrace(dst, src *trace) {
	points, near := append(dst.Points[:0], src.Points...), append(dst.Near[:0], src.Near...)
	*dst = trace{points, near}
}

func (tr *trace) links(visit func(id *store.ID)) {
	for i := range tr.Near {
		visit(&tr.Near[i].ID)
	}
}

// fleet is a table with columns of every sort, and what a program expects of them.
type fleet struct {
	*store.Store
	t      tb
	items  *store.Table[item]
	small  *store.Column[item, uint32]
	name   *store.Column[item, string]
	large  *store.Column[item, [12]uint64]
	crew   *store.Column[item, crew]
	traces *store.Column[item, trace]

	want map[store.Handle[item]]uint32 // the number that all elements of an item are made of
}

func newFleet(t tb, o store.Options) *fleet {
	t.Helper()
	s, table := newTable(t, o, store.TableOptions[item]{Name: "ships", Shards: 3, ChunkItems: 16, Changes: true, MinFree: 2})
	return &fleet{
		Store: s, t: t, items: table, want: make(map[store.Handle[item]]uint32),
		small:  addColumn(t, table, store.ColumnOptions[uint32]{Name: "small", Changes: true}),
		name:   addColumn(t, table, store.ColumnOptions[string]{Name: "name"}),
		large:  addColumn(t, table, store.ColumnOptions[[12]uint64]{Name: "large"}),
		crew:   addColumn(t, table, store.ColumnOptions[crew]{}),
		traces: addColumn(t, table, store.ColumnOptions[trace]{Name: "traces", Clone: cloneTrace, Links: (*trace).links}),
	}
}

func addColumn[C, T any](t tb, table *store.Table[T], o store.ColumnOptions[C]) *store.Column[T, C] {
	t.Helper()
	c, err := store.AddColumn(table, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// elements are those that a number makes; 0 makes none.
func nameOf(n uint32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func largeOf(n uint32) [12]uint64 { return [12]uint64{0: uint64(n), 11: uint64(n) << 1} }

func crewOf(n uint32) crew { return crew{Cabin: int(n)} }

func traceOf(n uint32) trace {
	if n == 0 {
		return trace{}
	}
	return trace{Points: []uint32{n, n + 1}}
}

// set makes all elements of an item of a number, in place.
func (f *fleet) set(h store.Handle[item], n uint32) {
	*f.small.At(h), *f.name.At(h), *f.large.At(h), *f.crew.At(h), *f.traces.At(h) = n, nameOf(n), largeOf(n), crewOf(n), traceOf(n)
	f.want[h] = n
}

// compare compares all elements of all items with what is wanted.
func (f *fleet) compare(ctx context.Context, when any) {
	f.t.Helper()
	if err := f.Verify(ctx); err != nil {
		f.t.Fatalf("%v: %v", when, err)
	}
	for h := range f.items.All() {
		n := f.want[h]
		ok := *f.small.At(h) == n && *f.name.At(h) == nameOf(n) && *f.large.At(h) == largeOf(n) && f.crew.At(h).Cabin == int(n)
		if points := f.traces.At(h).Points; !ok || !slices.Equal(points, traceOf(n).Points) {
			f.t.Fatalf("%v: %v has %d %q %v %+v %v; want those of %d",
				when, h, *f.small.At(h), *f.name.At(h), *f.large.At(h), *f.crew.At(h), points, n)
		}
	}
}

// step changes the fleet in one of the ways in which rows move.
func (f *fleet) step(ctx context.Context, w *store.Writer, r *rand.Rand) (name string) {
	t := f.items
	living := f.living()
	check := func(err error) {
		if err != nil {
			f.t.Fatal(name, err)
		}
	}
	switch r.IntN(12) {
	case 0, 1, 2:
		name = "insert"
		for range r.IntN(20) {
			h, err := t.Insert(w, item{Value: r.Uint64N(100)})
			check(err)
			if r.IntN(2) == 0 {
				f.set(h, r.Uint32())
			}
		}
	case 3:
		name = "remove"
		for _, h := range living[:min(len(living), r.IntN(4))] {
			t.Remove(w, h)
		}
	case 4, 5:
		name = "flush"
		check(f.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			for _, h := range living[:r.IntN(len(living)+1)/3] {
				t.Erase(q, h)
			}
			for range r.IntN(30) {
				t.Emplace(q, item{Value: r.Uint64N(100)})
			}
			return nil
		}))
		_, err := f.Flush(ctx)
		check(err)
	case 6:
		name = "sort"
		check(store.SortByKey(ctx, t, w, func(v *item) uint64 { return v.Value }))
	case 7:
		name = "defragment"
		_, _, err := store.Defragment(ctx, t, w, func(a, b *item) int { return int(b.Value) - int(a.Value) }, r.IntN(50))
		check(err)
	case 8:
		name = "maps"
		m := store.Maps(t, w)[r.IntN(3)]
		switch r.IntN(5) {
		case 0:
			m.Reset()
		case 1:
			m.Shrink()
		case 2:
			m.Partition(func(v *item) bool { return v.Value%2 == 0 })
		case 3:
			m.Reserve(r.IntN(100))
		default:
			m.EraseFunc(func(h store.Handle[item], v *item) bool { return v.Value%7 == 0 })
		}
	case 9:
		name = "in place"
		for _, h := range living[:r.IntN(len(living)+1)] {
			f.set(h, r.Uint32())
		}
	case 10:
		name = "a pass"
		x := r.Uint32()
		check(t.ForEach(ctx, func(_ context.Context, c store.Chunk[item]) error {
			for i, v := range f.small.Rows(c) {
				n := v + x
				f.small.Rows(c)[i], f.name.Rows(c)[i], f.large.Rows(c)[i] = n, nameOf(n), largeOf(n)
				f.crew.Rows(c)[i].Cabin, f.traces.Rows(c)[i] = int(n), traceOf(n)
			}
			return nil
		}))
		for _, h := range living {
			f.want[h] += x
		}
	default:
		name = "clear"
		if r.IntN(5) == 0 {
			t.Clear(w)
		}
	}
	return name
}

// living returns the handles of all items.
func (f *fleet) living() (all []store.Handle[item]) {
	for h := range f.items.All() {
		all = append(all, h)
	}
	return all
}

// Whatever moves rows, elements stay with their items, and new items have zero ones; a
// checkpoint and a snapshot have them, too.
func TestColumnsKeepStepWithTheirTable(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 3))
		f := newFleet(t, store.Options{Workers: 1 + int(seed%3)})
		var saved store.Checkpoint
		var then map[store.Handle[item]]uint32
		var image bytes.Buffer
		ctx := context.Background()
		check := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		sum := uint64(0)
		for round := range 60 {
			check(f.Write(ctx, func(ctx context.Context, w *store.Writer) error {
				f.compare(ctx, fmt.Sprint(seed, " ", round, " ", f.step(ctx, w, r)))
				return nil
			}))
			switch {
			case round == 20:
				check(f.Checkpoint(ctx, &saved))
				then, sum = maps.Clone(f.want), digest(t, f.Store)
				check(f.Snapshot(ctx, &image))
				var again bytes.Buffer
				if _, err := saved.WriteTo(&again); err != nil || !bytes.Equal(image.Bytes(), again.Bytes()) {
					t.Fatalf("a checkpoint and a snapshot are written as different bytes: %v", err)
				}
			case round == 40 || round == 50:
				check(f.Rollback(ctx, &saved))
				f.want = maps.Clone(then)
				f.compare(ctx, "rolled back")
				if got := digest(t, f.Store); got != sum {
					t.Fatalf("seed %d: rolled back to digest %x, want %x", seed, got, sum)
				}
			}
		}
		other := newFleet(t, store.Options{})
		check(other.Load(ctx, bytes.NewReader(image.Bytes())))
		other.want = then
		other.compare(ctx, "loaded")
		if got := digest(t, other.Store); got != sum {
			t.Errorf("loaded to digest %x, want %x", got, sum)
		}
	}
}

func TestLookupsInAColumn(t *testing.T) {
	f := newFleet(t, store.Options{})
	var hs []store.Handle[item]
	err := f.Write(context.Background(), func(_ context.Context, w *store.Writer) error {
		for n := range uint32(100) {
			h, err := f.items.Insert(w, item{})
			if err != nil {
				return err
			}
			f.set(h, n)
			hs = append(hs, h)
		}
		f.items.Remove(w, hs[7])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := f.small.Get(hs[42]); !ok || *v != 42 {
		t.Errorf("%v, %t", v, ok)
	}
	for _, h := range []store.Handle[item]{{}, hs[7], {ID: hs[42].ID | 1<<63}, {ID: hs[42].ID + 40<<48}} {
		if v, ok := f.small.Get(h); ok || v != nil {
			t.Errorf("%v has the element %d", h, *v)
		}
		if said := panicOf(func() { f.small.At(h) }); said == "" {
			t.Errorf("At(%v) does not panic", h)
		}
	}
	var names strings.Builder
	for name, element := range f.DumpColumns(hs[42].ID) {
		if name == "small" {
			names.WriteString(fmt.Sprint(*element.(*uint32), " "))
		}
		names.WriteString(name + " ")
	}
	if want := "42 small name large store_test.crew traces "; names.String() != want {
		t.Errorf("columns are dumped as %q, want %q", names.String(), want)
	}
	for range f.DumpColumns(hs[7].ID) {
		t.Error("an item that is gone has columns")
	}
}

func TestAddColumnRefusesWhatItCannotKeep(t *testing.T) {
	ctx := context.Background()
	f := newFleet(t, store.Options{})
	plain := register(t, f.Store, store.TableOptions[item]{Name: "plain"})
	for says, err := range map[string]error{
		"the name is taken":   second(store.AddColumn(f.items, store.ColumnOptions[int]{Name: "small"})),
		"keeps no changes":    second(store.AddColumn(plain, store.ColumnOptions[int]{Name: "a", Changes: true})),
		"ColumnOptions.Links": second(store.AddColumn(plain, store.ColumnOptions[[]store.ID]{Name: "a"})),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want it to say %q", err, says)
		}
	}
	err := f.Read(ctx, func(context.Context) error {
		return second(store.AddColumn(f.items, store.ColumnOptions[int]{Name: "late"}))
	})
	if !errors.Is(err, store.ErrPhase) {
		t.Errorf("inside a phase: %v", err)
	}
	if _, err := store.AddColumn(plain, store.ColumnOptions[int]{Name: "small"}); err != nil {
		t.Errorf("another table may have a column of the name: %v", err)
	}
	if _, err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := second(store.AddColumn(plain, store.ColumnOptions[int]{Name: "late"})); !errors.Is(err, store.ErrClosed) {
		t.Errorf("on a closed store: %v", err)
	}
}

func second[V any](_ V, err error) error { return err }

// What is older than a column cannot be gone back to.
func TestWhatIsOlderThanAColumnIsRefused(t *testing.T) {
	ctx := context.Background()
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships"})
	var before store.Checkpoint
	var image bytes.Buffer
	if err := errors.Join(s.Checkpoint(ctx, &before), s.Snapshot(ctx, &image)); err != nil {
		t.Fatal(err)
	}
	sum := digest(t, s)
	addColumn(t, table, store.ColumnOptions[int]{Name: "a"})
	if err := s.Rollback(ctx, &before); !errors.Is(err, store.ErrCheckpoint) || !strings.Contains(err.Error(), `column "a"`) {
		t.Errorf("Rollback: %v", err)
	}
	var out bytes.Buffer
	if _, err := before.WriteTo(&out); err != nil || !bytes.Equal(out.Bytes(), image.Bytes()) {
		t.Errorf("the checkpoint of before is written as something else: %v", err)
	}
	if err := errors.Join(s.Checkpoint(ctx, &before), s.Rollback(ctx, &before)); err != nil {
		t.Errorf("used again: %v", err)
	}
	addColumn(t, table, store.ColumnOptions[[]int]{Name: "b"})
	if err := s.Checkpoint(ctx, &before); !errors.Is(err, store.ErrCheckpoint) || !strings.Contains(err.Error(), "ColumnOptions.Clone") {
		t.Errorf("a column of slices: %v", err)
	}
	if digest(t, s) != sum {
		t.Error("a table without items is another one with columns") // there is nothing of them
	}
	addColumn(t, table, store.ColumnOptions[*int]{Name: "c"})
	if err := s.Snapshot(ctx, &out); !errors.Is(err, store.ErrSnapshot) {
		t.Errorf("a column of pointers is saved: %v", err)
	}
}

// A panic over an element, of Clone, ends as one over an item does.
func TestACloneOfAnElementThatPanicsLosesNothing(t *testing.T) {
	ctx := context.Background()
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 2})
	armed := false
	c := addColumn(t, table, store.ColumnOptions[[]int]{Name: "a", Clone: func(dst, src *[]int) {
		if armed {
			panic("clone")
		}
		*dst = append((*dst)[:0], *src...)
	}})
	var saved store.Checkpoint
	err := s.Write(ctx, func(ctx context.Context, w *store.Writer) error {
		for i := range 50 {
			h, err := table.Insert(w, item{})
			if err != nil {
				return err
			}
			*c.At(h) = []int{i}
		}
		return s.Checkpoint(ctx, &saved)
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := digest(t, s)
	armed = true
	var other store.Checkpoint
	if err := s.Checkpoint(ctx, &other); !strings.Contains(fmt.Sprint(err), "clone") || digest(t, s) != sum {
		t.Errorf("Checkpoint: %v", err)
	}
	err = s.Write(ctx, func(_ context.Context, w *store.Writer) error { table.Clear(w); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Rollback(ctx, &saved); !strings.Contains(fmt.Sprint(err), "clone") || digest(t, s) != sum {
		t.Errorf("Rollback: %v; the digest is %x, want %x", err, digest(t, s), sum)
	}
}
