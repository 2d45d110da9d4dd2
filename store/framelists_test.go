package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"weak"

	"handloom/internal/check"
	"handloom/store"
)

// framed is a table in a Write, each of whose flushes is told what to do.
type framed struct {
	t     *testing.T
	s     *store.Store
	table itemTable
	ctx   context.Context
	w     *store.Writer
}

// inFrame calls f inside a Write over a table with items of the values 0 to 9.
func inFrame(t *testing.T, stable bool, f func(y *framed, hs []store.Handle[item])) (*store.Store, itemTable) {
	t.Helper()
	s := newStore(t, store.Options{})
	y := &framed{t: t, s: s, table: registerKind(t, s, store.TableOptions[item]{Changes: true}, stable)}
	q := queues(t, s, 1)[0]
	var hs []store.Handle[item]
	for i := range 10 {
		hs = append(hs, y.table.Emplace(q, item{Value: uint64(i)}))
	}
	flush(t, s)
	for i, p := range hs {
		hs[i] = resolve(t, y.table, p)
	}
	write(t, s, func(ctx context.Context, w *store.Writer) error {
		y.ctx, y.w = ctx, w
		f(y, hs)
		return nil
	})
	return s, y.table
}

// flush records and flushes.
func (y *framed) flush(record func(q store.Queue)) {
	y.t.Helper()
	err := y.s.Each(y.ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
		record(q)
		return nil
	})
	if err != nil {
		y.t.Fatal(err)
	}
	flushIn(y.t, y.s, y.ctx)
}

// create has one flush create an item.
func (y *framed) create(value uint64) (h store.Handle[item]) {
	y.t.Helper()
	var p store.Handle[item]
	y.flush(func(q store.Queue) { p = y.table.Emplace(q, item{Value: value}) })
	return resolve(y.t, y.table, p)
}

func (y *framed) put(h store.Handle[item], value uint64) {
	y.t.Helper()
	y.flush(func(q store.Queue) { y.table.Put(q, h, item{Value: value}) })
}

func (y *framed) erase(h store.Handle[item]) {
	y.t.Helper()
	y.flush(func(q store.Queue) { y.table.Erase(q, h) })
}

// lists prints the values in the lists: created, erased, replaced.
func lists(table itemTable) string {
	values := func(list []change) (values []uint64) {
		for _, c := range list {
			values = append(values, c.value.Value)
		}
		return values
	}
	c := changesOf(table)
	return fmt.Sprint(values(c.created), values(c.erased), values(c.replaced))
}

// Each flush of a frame does one thing. The lists are those of the whole frame, inside
// of it and behind it.
func TestListsSayWhatTheFlushesOfAFrameCameTo(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(y *framed, hs []store.Handle[item])
		want string // created, erased, replaced
	}{
		{"created twice", func(y *framed, _ []store.Handle[item]) { y.create(11); y.create(10) }, "[11 10] [] []"},
		{"erased twice", func(y *framed, hs []store.Handle[item]) { y.erase(hs[7]); y.erase(hs[3]) }, "[] [7 3] []"},
		{"replaced two", func(y *framed, hs []store.Handle[item]) { y.put(hs[7], 70); y.put(hs[3], 30) }, "[] [] [70 30]"},
		{"replaced again", func(y *framed, hs []store.Handle[item]) { y.put(hs[7], 70); y.put(hs[3], 30); y.put(hs[7], 71) }, "[] [] [71 30]"},
		{"created, replaced", func(y *framed, _ []store.Handle[item]) { y.put(y.create(10), 11) }, "[11] [] []"},
		{"created, erased", func(y *framed, _ []store.Handle[item]) { y.erase(y.create(10)) }, "[] [] []"},
		{"created, erased, created in its slot", func(y *framed, _ []store.Handle[item]) {
			y.erase(y.create(10))
			y.erase(y.create(11))
			y.put(y.create(12), 13)
		}, "[13] [] []"},
		{"replaced, erased", func(y *framed, hs []store.Handle[item]) { y.put(hs[7], 70); y.erase(hs[7]) }, "[] [70] []"},
		{"replaced, erased, created in its slot", func(y *framed, hs []store.Handle[item]) {
			y.put(hs[7], 70)
			y.erase(hs[7])
			y.put(y.create(71), 72)
		}, "[72] [70] []"},
		{"erased, created in its slot, erased", func(y *framed, hs []store.Handle[item]) { y.erase(hs[7]); y.erase(y.create(70)) }, "[] [7] []"},
		{"written, erased", func(y *framed, hs []store.Handle[item]) {
			y.create(10)
			y.table.At(hs[7]).Value = 77
			y.erase(hs[7])
		}, "[10] [77] []"},
		{"created, removed at once", func(y *framed, _ []store.Handle[item]) { y.table.Remove(y.w, y.create(10)) }, "[] [] []"},
		{"inserted at once", func(y *framed, hs []store.Handle[item]) { y.insert(10); y.put(hs[0], 100) }, "[] [] [100]"},
		{"created, removed, inserted in its slot, replaced", func(y *framed, _ []store.Handle[item]) {
			y.table.Remove(y.w, y.create(10))
			y.put(y.insert(11), 12)
		}, "[] [] [12]"},
		{"replaced, removed, inserted in its slot, replaced", func(y *framed, hs []store.Handle[item]) {
			y.put(hs[9], 90)
			y.table.Remove(y.w, hs[9])
			y.put(y.insert(91), 92)
		}, "[] [] [92]"},
		{"created, removed, inserted in its slot, erased", func(y *framed, _ []store.Handle[item]) {
			y.table.Remove(y.w, y.create(10))
			y.erase(y.insert(11))
		}, "[] [11] []"},
		{"an empty flush", func(y *framed, _ []store.Handle[item]) { y.create(10); flushIn(y.t, y.s, y.ctx) }, "[10] [] []"},
		{"a frame ended", func(y *framed, hs []store.Handle[item]) { y.create(10); y.w.EndFrame() }, "[10] [] []"},
		{"a frame ended, flushed nothing", func(y *framed, hs []store.Handle[item]) {
			y.create(10)
			y.w.EndFrame()
			flushIn(y.t, y.s, y.ctx)
		}, "[10] [] []"},
		{"a frame ended, another flushed", func(y *framed, hs []store.Handle[item]) {
			made := y.create(10)
			y.w.EndFrame()
			y.put(made, 11)
		}, "[] [] [11]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, stable bool) {
				_, table := inFrame(t, stable, func(y *framed, hs []store.Handle[item]) {
					c.do(y, hs)
					if got := lists(y.table); got != c.want {
						t.Errorf("inside the frame the lists are %v, want %v", got, c.want)
					}
				})
				if got := lists(table); got != c.want {
					t.Errorf("behind the frame the lists are %v, want %v", got, c.want)
				}
			})
		})
	}
}

// insert creates an item at once.
func (y *framed) insert(value uint64) store.Handle[item] {
	y.t.Helper()
	h, err := y.table.Insert(y.w, item{Value: value})
	if err != nil {
		y.t.Fatal(err)
	}
	return h
}

// A schedule flushes between its waves. What Run did is one list, and every provisional
// handle of it resolves.
func TestARunIsOneFrame(t *testing.T) {
	s := newStore(t, store.Options{})
	shots := register(t, s, store.TableOptions[item]{Name: "shots", Changes: true})
	ships := register(t, s, store.TableOptions[item]{Name: "ships", Changes: true})
	var names []store.Handle[item]
	fail := false
	frame := newSchedule(t, s,
		store.System{Name: "shoot", Emits: on(shots), Run: func(ctx context.Context) error {
			names = append(names, emplaceIn(t, s, ctx, shots, 1), emplaceIn(t, s, ctx, shots, 2))
			return nil
		}},
		store.System{Name: "hit", Reads: on(shots), Emits: on(ships, shots), Run: func(ctx context.Context) error {
			if fail {
				return errTask
			}
			names = append(names, emplaceIn(t, s, ctx, ships, 3))
			return s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
				h, ok := shots.Resolve(names[0])
				if !ok {
					t.Error("a name of the flush before does not resolve in the frame")
				}
				shots.Erase(q, h)
				return nil
			})
		}},
	)
	if _, err := frame.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := lists(packedTable{shots}) + lists(packedTable{ships}); got != "[2] [] [][3] [] []" {
		t.Errorf("the lists are %v", got)
	}
	for i, p := range names {
		if _, ok := s.Resolve(p.ID); !ok {
			t.Errorf("name %d does not resolve behind the frame", i)
		}
	}
	old := slices.Clone(names)
	names, fail = nil, true
	if _, err := frame.Run(t.Context()); !errors.Is(err, errTask) {
		t.Fatal(err)
	}
	if got := lists(packedTable{shots}) + lists(packedTable{ships}); got != "[1 2] [] [][] [] []" {
		t.Errorf("behind a frame that failed the lists are %v; its first flush is to be there", got)
	}
	for _, p := range old {
		if h, ok := s.Resolve(p.ID); ok {
			t.Errorf("%v of the frame before resolves to %v", p, h)
		}
	}
}

// A table that has no commands for a while gives up what it keeps for flushes, but not
// what the frame lists.
func TestALongFrameKeepsItsLists(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		_, table := inFrame(t, stable, func(y *framed, hs []store.Handle[item]) {
			made := y.create(10)
			y.put(hs[1], 11)
			y.erase(hs[2])
			for range 300 {
				y.flush(func(q store.Queue) { q.Erase(compose(900, 1, 1)) }) // of no table
			}
			y.put(made, 12)
		})
		if got := lists(table); got != "[12] [2] [11]" {
			t.Errorf("the lists are %v", got)
		}
	})
}

// The names and lists of flushes of a frame that grow and shrink are in memory that is
// used again.
func TestFramesOfSeveralFlushesAllocateNothingInTheSteadyState(t *testing.T) {
	if check.Full || raceDetector {
		t.Skip("checks allocate, and so does the race detector")
	}
	s := newStore(t, store.Options{Workers: 1})
	table := register(t, s, store.TableOptions[item]{Changes: true})
	values := make([]item, 300)
	var hs []store.Handle[item]
	step := func(ctx context.Context, n int) {
		hs = hs[:0]
		for h := range table.All() {
			hs = append(hs, h)
		}
		_ = s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			hs = hs[:min(n, len(hs))]
			table.EraseItems(q, hs)
			table.EmplaceItems(q, values[:n], hs[:0])
			return nil
		})
		_, _ = s.Flush(ctx)
	}
	frame := func() {
		_ = s.Write(context.Background(), func(ctx context.Context, _ *store.Writer) error {
			step(ctx, 300)
			step(ctx, 10)
			step(ctx, 100)
			return nil
		})
	}
	for range 200 {
		frame()
	}
	before := testing.AllocsPerRun(100, frame)
	empty := testing.AllocsPerRun(100, func() {
		_ = s.Write(context.Background(), func(ctx context.Context, _ *store.Writer) error {
			for range 3 {
				step(ctx, 0)
			}
			return nil
		})
	})
	if before > empty {
		t.Errorf("a frame allocates %v objects, one without commands %v", before, empty)
	}
}

// What a frame erased is reachable until the next one has flushed something, and what it
// created and erased not at all.
func TestErasedValuesOfAFrameAreForgottenWithIt(t *testing.T) {
	type big struct{ data *[1 << 16]byte }
	s := newStore(t, store.Options{})
	table := register(t, s, store.TableOptions[big]{Changes: true})
	var old, passing weak.Pointer[[1 << 16]byte]
	emplace := func(ctx context.Context, data *[1 << 16]byte) (p store.Handle[big]) {
		_ = s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			p = table.Emplace(q, big{data})
			return nil
		})
		flushIn(t, s, ctx)
		return resolve(t, table, p)
	}
	func() {
		data := new([1 << 16]byte)
		old = weak.Make(data)
		first := emplace(t.Context(), data)
		write(t, s, func(ctx context.Context, _ *store.Writer) error {
			data := new([1 << 16]byte)
			passing = weak.Make(data)
			second := emplace(ctx, data)
			_ = s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
				table.Erase(q, first)
				table.Erase(q, second)
				return nil
			})
			flushIn(t, s, ctx)
			return nil
		})
	}()
	runtime.GC()
	if old.Value() == nil || passing.Value() != nil {
		t.Errorf("behind the frame what it erased is reachable: %t, what it created and erased: %t", old.Value() != nil, passing.Value() != nil)
	}
	emplace(t.Context(), nil)
	runtime.GC()
	if old.Value() != nil {
		t.Error("behind the next frame what the one before erased is reachable")
	}
	runtime.KeepAlive(s)
}
