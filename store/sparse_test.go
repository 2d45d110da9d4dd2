package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"handloom/internal/check"
	snapshot "handloom/internal/image"
	"handloom/store"
)

func addSparse[C, T any](t tb, table store.TableOf[T], o store.ColumnOptions[C]) *store.Sparse[T, C] {
	t.Helper()
	s, err := store.AddSparse(table, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAddSparseNamesWhatIsWrong(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	addColumn(t, table, store.ColumnOptions[uint32]{Name: "speed"})
	addSparse(t, table, store.ColumnOptions[uint32]{Name: "shield"})
	for want, err := range map[string]error{
		`"speed" to table "ship": the name is taken`:  func() error { _, err := store.AddSparse(table, store.ColumnOptions[int]{Name: "speed"}); return err }(),
		`"shield" to table "ship": the name is taken`: func() error { _, err := store.AddColumn(table, store.ColumnOptions[int]{Name: "shield"}); return err }(),
		"keeps no changes": func() error {
			_, err := store.AddSparse(table, store.ColumnOptions[int]{Changes: true})
			return err
		}(),
		"declare it by ColumnOptions.Links": func() error {
			_, err := store.AddSparse(table, store.ColumnOptions[trace]{})
			return err
		}(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want something with %q", err, want)
		}
	}
	err := s.Read(t.Context(), func(context.Context) error {
		_, err := store.AddSparse(table, store.ColumnOptions[int]{})
		return err
	})
	if !errors.Is(err, store.ErrPhase) {
		t.Errorf("inside a Read: %v", err)
	}
}

// Sets and Unsets of an item are one sequence, whoever recorded them, and each is counted
// once.
func TestTheLastOfSetsAndUnsetsWins(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[item]{Name: "ship"}, stable)
		shield := addSparse(t, table, store.ColumnOptions[int]{Name: "shield"})
		hs := make([]store.Handle[item], 6)
		q := queues(t, s, 1)[0]
		for i := range hs {
			hs[i] = table.Emplace(q, item{})
		}
		shield.Set(q, hs[0], 1)
		shield.Set(q, hs[1], 2)
		shield.Unset(q, hs[1])
		shield.Unset(q, hs[2])
		report := flush(t, s)
		if got, want := fmt.Sprint(report.Columns), "[ship.shield: 1 put 1 superseded 2 redundant]"; got != want {
			t.Errorf("of creates: %v, want %v", got, want)
		}
		for i := range hs {
			hs[i] = resolve(t, table, hs[i])
		}
		first, second := queues(t, s, 2), store.Queue{}
		second = first[1]
		shield.Set(second, hs[1], 20)
		shield.Unset(first[0], hs[1])
		shield.Set(first[0], hs[2], 10)
		shield.Unset(second, hs[2])
		shield.Unset(first[0], hs[0])
		shield.Set(second, hs[3], 30)
		table.Erase(first[0], hs[3])
		shield.Unset(second, store.Handle[item]{})
		report = flush(t, s)
		if got, want := fmt.Sprint(report.Columns), "[ship.shield: 1 erased 1 put 2 superseded 1 dropped 1 redundant 1 stale]"; got != want {
			t.Errorf("of items: %v, want %v", got, want)
		}
		if got, want := report.Stale[0].String(), `unset of column "shield" of 0:0.0 by task 1 in pass 0 (typeId 1, sequence 3)`; got != want {
			t.Errorf("%v, want %v", got, want)
		}
		if v, ok := shield.Get(hs[1]); !ok || *v != 20 || shield.Len() != 1 || shield.Has(hs[0]) || shield.Has(hs[2]) {
			t.Errorf("%v items have one, and %v %t is that of the second", shield.Len(), v, ok)
		}
	})
}

// What the queue of a create says of it wins over a command by handle with a lower key.
func TestTheOwnQueueOfACreateWinsByItsKey(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[item]{Name: "ship"}, stable)
		shield := addSparse(t, table, store.ColumnOptions[int]{Name: "shield"})
		q := queues(t, s, 2)
		set, unset := table.Emplace(q[1], item{}), table.Emplace(q[1], item{})
		shield.Set(q[0], set, 1)
		shield.Set(q[0], unset, 1)
		shield.Set(q[1], set, 2)
		shield.Unset(q[1], unset)
		report := flush(t, s)
		if got, want := fmt.Sprint(report.Columns), "[ship.shield: 1 put 2 superseded 1 redundant]"; got != want {
			t.Errorf("%v, want %v", got, want)
		}
		if v, ok := shield.Get(resolve(t, table, set)); !ok || *v != 2 || shield.Has(resolve(t, table, unset)) {
			t.Errorf("the one set has %v, %t, and the other %t", v, ok, shield.Has(resolve(t, table, unset)))
		}
	})
}

func TestACheckpointFromBeforeOptionalDataIsRefused(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	fill(t, s, table, 10)
	var c store.Checkpoint
	if err := s.Checkpoint(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	addSparse(t, table, store.ColumnOptions[int]{Name: "shield"})
	err := s.Rollback(t.Context(), &c)
	if !errors.Is(err, store.ErrCheckpoint) || !strings.Contains(err.Error(), `before optional data "shield" was added to table "ship"`) {
		t.Errorf("rolled back: %v", err)
	}
	if err := s.Checkpoint(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	if err := s.Rollback(t.Context(), &c); err != nil {
		t.Error(err)
	}
}

func TestASnapshotSaysWhatIsOptional(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	shield := addSparse(t, table, store.ColumnOptions[uint32]{Name: "shield"})
	hs := fill(t, s, table, 3)
	shield.Set(queues(t, s, 1)[0], hs[1], 7)
	flush(t, s)
	var image bytes.Buffer
	if err := s.Snapshot(t.Context(), &image); err != nil {
		t.Fatal(err)
	}
	info, err := snapshot.Inspect(bytes.NewReader(image.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if want := []snapshot.ColumnInfo{{Name: "shield", Optional: true, Schema: "uint32"}}; !slices.Equal(info.Tables[0].Columns, want) {
		t.Errorf("%v, want %v", info.Tables[0].Columns, want)
	}
	other, ships := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	addColumn(t, ships, store.ColumnOptions[uint32]{Name: "shield"})
	if err := other.Load(t.Context(), &image); !errors.Is(err, store.ErrSchema) {
		t.Errorf("a column is loaded from optional data: %v", err)
	}
}

// What an item has is dumped with it, and what it has not is left out.
func TestOptionalDataIsDumped(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	shield := addSparse(t, table, store.ColumnOptions[int]{Name: "shield"})
	addColumn(t, table, store.ColumnOptions[int]{Name: "speed"})
	hs := fill(t, s, table, 2)
	shield.Set(queues(t, s, 1)[0], hs[1], 7)
	flush(t, s)
	var got []string
	for _, h := range hs {
		for name, v := range s.DumpColumns(h.ID) {
			got = append(got, fmt.Sprint(name, *v.(*int)))
		}
	}
	if want := []string{"speed0", "shield7", "speed0"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A system names the data that it writes, and is in nobody's way who looks at the items.
func TestSystemsNameOptionalData(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	shield := addSparse(t, table, store.ColumnOptions[int]{Name: "shield"})
	hs := fill(t, s, table, 2)
	shield.Set(queues(t, s, 1)[0], hs[1], 7)
	flush(t, s)
	type on = []store.Resource
	wear := func(ctx context.Context) error {
		return shield.ForEach(ctx, func(_ context.Context, c store.SparseChunk[item, int]) error {
			c.Items[0]--
			return nil
		})
	}
	look := func(ctx context.Context) error {
		_, err := store.Reduce(ctx, table, func(context.Context, store.Rows[item]) (int, error) { return 0, nil }, addInt)
		return err
	}
	take := func(ctx context.Context) error {
		return s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			shield.Unset(q, hs[0])
			return nil
		})
	}
	frame, err := store.NewSchedule(
		s,
		store.System{Name: "wear", Writes: on{shield}, Run: wear},
		store.System{Name: "look", Reads: on{table}, Run: look},
		store.System{Name: "take", Emits: on{shield}, Run: take},
	)
	if err != nil {
		t.Fatal(err)
	}
	if says := frame.Explain(); strings.Count(says, "wave") != 1 || !strings.Contains(says, "take emits ship.shield") {
		t.Errorf("the schedule is\n%v", says)
	}
	if _, err := frame.Run(t.Context()); err != nil || *shieldOf(shield, hs[1]) != 6 {
		t.Errorf("%v", err)
	}
	if !check.Cheap {
		return
	}
	for _, y := range []store.System{
		{Name: "wear", Writes: on{table}, Run: wear},
		{Name: "take", Emits: on{table}, Run: take},
	} {
		frame, err := store.NewSchedule(s, y)
		if err != nil {
			t.Fatal(err)
		}
		_, err = frame.Run(t.Context())
		if !errors.Is(err, store.ErrUndeclared) || !strings.Contains(err.Error(), `optional data "ship.shield"`) {
			t.Errorf("%s: %v", y.Name, err)
		}
	}
}

func shieldOf(shield *store.Sparse[item, int], h store.Handle[item]) *int {
	v, _ := shield.Get(h)
	return v
}

// A Clone that panics leaves a whole state behind.
func TestAPanicOfCloneLeavesOptionalDataWhole(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	left := -1
	trails := addSparse(t, table, store.ColumnOptions[trace]{Links: (*trace).links, Clone: func(dst, src *trace) {
		if left--; left == 0 {
			panic("no copy")
		}
		cloneTrace(dst, src)
	}})
	hs := fill(t, s, table, 10)
	q := queues(t, s, 1)[0]
	for _, h := range hs {
		trails.Set(q, h, trace{Points: []uint32{h.ID.Slot()}})
	}
	flush(t, s)
	var c store.Checkpoint
	sum := digest(t, s)
	for _, step := range []func() error{
		func() error { return s.Checkpoint(t.Context(), &c) },
		func() error { return s.Rollback(t.Context(), &c) },
	} {
		left = 5
		var panicked *store.PanicError
		if err := step(); !errors.As(err, &panicked) {
			t.Errorf("%v", err)
		}
		if err := s.Verify(t.Context()); err != nil || digest(t, s) != sum {
			t.Errorf("the state is another one, or broken: %v", err)
		}
		left = -1
		if err := s.Checkpoint(t.Context(), &c); err != nil {
			t.Fatal(err)
		}
	}
}

func TestASteadyFrameOfOptionalDataAllocatesNothing(t *testing.T) {
	if check.Cheap {
		t.Skip("checks allocate")
	}
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{Workers: 1})
		table := registerKind(t, s, store.TableOptions[item]{Shards: 2, ChunkItems: chunkItems}, stable)
		shield := addSparse(t, table, store.ColumnOptions[pal]{Name: "shield"})
		tag := addSparse(t, table, store.ColumnOptions[struct{}]{Name: "tag"})
		var kept []store.Handle[item]
		recordAll := func(_ context.Context, _ int, q store.Queue) error {
			for i, h := range kept {
				switch i % 4 {
				case 0:
					shield.Set(q, h, pal{N: 1})
					tag.Unset(q, h)
				case 1:
					shield.Unset(q, h)
					tag.Set(q, h, struct{}{})
				}
			}
			for range 200 {
				h := table.Emplace(q, item{})
				shield.Set(q, h, pal{Mate: h})
				tag.Unset(q, h)
			}
			return nil
		}
		wear := func(_ context.Context, c store.SparseChunk[item, pal]) error {
			for i := range c.Items {
				c.Items[i].N++
				if c.Items[i].Mate == c.Owners[i] {
					table.Erase(c.Queue, c.Owners[i])
				}
			}
			return nil
		}
		ctx := t.Context()
		frame := func() {
			err := errors.Join(
				s.Each(ctx, 1, recordAll), func() error { _, err := s.Flush(ctx); return err }(),
				shield.ForEach(ctx, wear), func() error { _, err := s.Flush(ctx); return err }(),
			)
			if err != nil {
				t.Fatal(err)
			}
		}
		q := queues(t, s, 1)[0]
		for range 500 {
			kept = append(kept, table.Emplace(q, item{}))
		}
		flush(t, s)
		for i, p := range kept {
			kept[i] = resolve[item](t, table, p)
		}
		for range 200 {
			frame()
		}
		const phases = 4 // each allocates itself
		if n := testing.AllocsPerRun(50, frame); n > 2*phases+3 {
			t.Errorf("%v allocations in a frame", n)
		}
		if len(kept) != 500 || shield.Len() != 125 || tag.Len() != 125 {
			t.Errorf("%d and %d have one", shield.Len(), tag.Len())
		}
	})
}

// Behind Close lookups find nothing.
func TestAClosedStoreHasNoOptionalData(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	tag := addSparse(t, table, store.ColumnOptions[struct{}]{Name: "tag"})
	hs := fill(t, s, table, 2)
	tag.Set(queues(t, s, 1)[0], hs[1], struct{}{})
	flush(t, s)
	if !tag.Has(hs[1]) {
		t.Fatal("it has none")
	}
	if _, err := s.Close(t.Context()); err != nil || tag.Has(hs[1]) || tag.Len() != 0 {
		t.Errorf("%v, %d", err, tag.Len())
	}
}

// A Links function that panics leaves all as it was, and the next flush does the whole
// batch.
func TestAPanicOfLinksOfOptionalDataChangesNothing(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[item]{Shards: 3}, stable)
		fails := false
		trails := addSparse(t, table, store.ColumnOptions[trace]{Clone: cloneTrace, Links: func(v *trace, visit func(*store.ID)) {
			if fails {
				panic("no links")
			}
			v.links(visit)
		}})
		hs := make([]store.Handle[item], 30)
		q := queues(t, s, 1)[0]
		for i := range hs {
			hs[i] = table.Emplace(q, item{})
			trails.Set(q, hs[i], trace{Points: []uint32{uint32(i)}})
		}
		flush(t, s)
		for i, h := range hs {
			hs[i] = resolve[item](t, table, h)
		}
		sum, qs := digest(t, s), queues(t, s, 2)
		table.Erase(qs[0], hs[0])
		trails.Unset(qs[0], hs[1])
		made := table.Emplace(qs[0], item{})
		for _, h := range []store.Handle[item]{made, hs[2]} {
			trails.Set(qs[1], h, trace{Near: []store.Handle[item]{made}})
		}
		fails = true
		var panicked *store.PanicError
		if _, err := s.Flush(t.Context()); !errors.As(err, &panicked) || digest(t, s) != sum {
			t.Errorf("%v, or the state is another one", err)
		}
		fails = false
		if got, want := fmt.Sprint(flush(t, s).Columns[0].Counts), "1 erased 2 put"; got != want {
			t.Errorf("%v, want %v", got, want)
		}
		for _, h := range []store.Handle[item]{resolve[item](t, table, made), hs[2]} {
			if v, ok := trails.Get(h); !ok || v.Near[0] != resolve[item](t, table, made) {
				t.Errorf("%v has %v", h, v)
			}
		}
		if err := s.Verify(t.Context()); err != nil || trails.Len() != len(hs)-1 {
			t.Errorf("%d have one; %v", trails.Len(), err)
		}
	})
}
