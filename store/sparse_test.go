package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	snapshot "handloom/internal/image"
	"handloom/store"
)

func addSparse[C, T any](t tb, table store.TableOf[T], o store.ColumnOptions[C]) *store.Sparse[T, C] {
	t.Helper()
	return store.AddSparse(table, o)
}

type pal struct {
	N    uint64
	Mate store.Handle[item]
}

func TestAddSparse_RefusesInvalidOptions(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	addColumn(t, table, store.ColumnOptions[uint32]{Name: "speed"})
	addSparse(t, table, store.ColumnOptions[uint32]{Name: "shield"})
	for want, err := range map[string]error{
		`"speed" to table "ship": the name is taken`:  faultOf(func() { store.AddSparse(table, store.ColumnOptions[int]{Name: "speed"}) }),
		`"shield" to table "ship": the name is taken`: faultOf(func() { store.AddColumn(table, store.ColumnOptions[int]{Name: "shield"}) }),
		"the table keeps no changes":                  faultOf(func() { store.AddSparse(table, store.ColumnOptions[int]{Changes: true}) }),
		"declare it by ColumnOptions.Links":           faultOf(func() { store.AddSparse(table, store.ColumnOptions[[]store.ID]{}) }),
	} {
		wantText(t, "the call", err, want)
	}
	wantError(t, "inside a Read", s.Read(t.Context(), func(context.Context) error {
		return faultOf(func() { store.AddSparse(table, store.ColumnOptions[int]{}) })
	}), store.ErrPhase)
}

func TestSet_QueueOfTheCreateWins(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	speed := addColumn(t, table, store.ColumnOptions[int]{Name: "speed"})
	shield := addSparse(t, table, store.ColumnOptions[int]{Name: "shield"})
	q := queues(t, s, 2)
	set, unset := table.Emplace(q[1], item{}), table.Emplace(q[1], item{})
	speed.Set(q[0], set, 1)
	speed.Set(q[1], set, 2)
	shield.Set(q[0], set, 1)
	shield.Set(q[0], unset, 1)
	shield.Set(q[1], set, 2)
	shield.Unset(q[1], unset)
	report := flush(t, s)
	equal(t, "columns", fmt.Sprint(report.Columns), "[ship.speed: 1 put 1 superseded ship.shield: 1 put 2 superseded 1 redundant]")
	set, unset = resolve(t, table, set), resolve(t, table, unset)
	if v, ok := shield.Get(set); !ok || *v != 2 || *speed.At(set) != 2 || shield.Has(unset) {
		t.Errorf("speed is %d, shield %v; the other has a shield: %t", *speed.At(set), v, shield.Has(unset))
	}
}

func TestSnapshot_RecordsSparseData(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	shield := addSparse(t, table, store.ColumnOptions[uint32]{Name: "shield"})
	hs := fill(t, s, table, 3)
	shield.Set(queues(t, s, 1)[0], hs[1], 7)
	flush(t, s)
	var image bytes.Buffer
	noError(t, s.Snapshot(t.Context(), &image))
	info, err := snapshot.Inspect(bytes.NewReader(image.Bytes()))
	noError(t, err)
	equalLists(t, "info.Tables[0].Columns", info.Tables[0].Columns, snapshot.ColumnInfo{Name: "shield", Optional: true, Schema: "uint32"})
	other, ships := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	addColumn(t, ships, store.ColumnOptions[uint32]{Name: "shield"})
	wantError(t, "a column is loaded from optional data", other.Load(t.Context(), &image), store.ErrSchema)
}

// A system declares the sparse data that it writes, and does not conflict with readers of the
// items.
func TestSparse_IsAResource(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	shield := addSparse(t, table, store.ColumnOptions[int]{Name: "shield"})
	hs := fill(t, s, table, 2)
	shield.Set(queues(t, s, 1)[0], hs[1], 7)
	flush(t, s)
	wear := func(ctx context.Context) error {
		return shield.ForEach(ctx, func(c store.SparseChunk[item, int]) { c.Items[0]-- })
	}
	look := func(ctx context.Context) error {
		return onlyError(store.Reduce(ctx, table, func(store.Chunk[item]) int { return 0 }, addInt))
	}
	take := func(ctx context.Context) error {
		return s.Do(ctx, func(q store.Queue) { shield.Unset(q, hs[0]) })
	}
	frame := newSchedule(
		t, s,
		store.System{Name: "wear", Writes: on(shield), Run: wear},
		store.System{Name: "look", Reads: on(table), Run: look},
		store.System{Name: "take", Emits: on(shield), Run: take},
	)
	if says := frame.Explain(); strings.Count(says, "wave") != 1 || !strings.Contains(says, "take emits ship.shield") {
		t.Errorf("the schedule is\n%v", says)
	}
	_, err := frame.Run(t.Context())
	if v, ok := shield.Get(hs[1]); err != nil || !ok || *v != 6 {
		t.Errorf("the shield is %v, want 6; %v", v, err)
	}
}

func TestSet_AllocatesNothing(t *testing.T) {
	plainBuild(t)
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{Workers: 1})
		table := registerKind(t, s, store.TableOptions[item]{Shards: 2, ChunkItems: chunkItems}, stable)
		shield := addSparse(t, table, store.ColumnOptions[pal]{Name: "shield"})
		tag := addSparse(t, table, store.ColumnOptions[struct{}]{Name: "tag"})
		name := func(store.Queue, store.Handle[item], string) {}
		if p, ok := table.(packed[item]); ok {
			name = addColumn(t, p.Table, store.ColumnOptions[string]{Name: "name"}).Set
		}
		kept := fill(t, s, table, 500)
		recordAll := func(_ int, q store.Queue) {
			for i, h := range kept {
				switch i % 4 {
				case 0:
					shield.Set(q, h, pal{N: 1})
					tag.Unset(q, h)
				case 1:
					shield.Unset(q, h)
					tag.Set(q, h, struct{}{})
				default:
					name(q, h, "a")
				}
			}
			for range 200 {
				h := table.Emplace(q, item{})
				shield.Set(q, h, pal{Mate: h})
				tag.Unset(q, h)
				name(q, h, "b")
			}
		}
		wear := func(c store.SparseChunk[item, pal]) {
			for i := range c.Items {
				c.Items[i].N++
				if c.Items[i].Mate == c.Owners[i] {
					table.Erase(c.Queue, c.Owners[i])
				}
			}
		}
		ctx := t.Context()
		frame := func() {
			noError(t, errors.Join(s.Each(ctx, 1, recordAll), onlyError(s.Flush(ctx)), shield.ForEach(ctx, wear), onlyError(s.Flush(ctx))))
		}
		for range 200 {
			frame()
		}
		const phases = 4
		atMost(t, "allocations in a frame", testing.AllocsPerRun(50, frame), 2*phases+3)
		equal(t, "shield.Len", shield.Len(), 125)
		equal(t, "tag.Len", tag.Len(), 125)
	})
}
