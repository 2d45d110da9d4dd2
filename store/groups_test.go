package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"handloom/internal/check"
	"handloom/store"

	"pgregory.net/rapid"
)

type shot struct {
	Target store.Handle[item]
	Damage uint64
}

func targetOf(v *shot) store.Handle[item] { return v.Target }

func parent(v *item) store.Handle[item] { return v.Parent }

func groupBy[T, K any](t tb, g *store.Groups[T, K], items store.TableOf[T], by store.TableOf[K], key func(*T) store.Handle[K]) {
	t.Helper()
	noError(t, store.GroupBy(context.Background(), g, items, by, key))
}

type groupTable[T any] interface {
	store.TableOf[T]
	Len() int
	Has(h store.Handle[T]) bool
	At(h store.Handle[T]) *T
	All() seqOf[T]
}

// checkGroups compares groups with a map that is filled in the order of shards and rows.
func checkGroups[T, K any](t tb, g *store.Groups[T, K], items groupTable[T], by groupTable[K], key func(*T) store.Handle[K]) {
	t.Helper()
	ctx := context.Background()
	want, stale := make(map[store.Handle[K]][]store.Handle[T]), 0
	for h, v := range items.All() {
		if owner := key(v); by.Has(owner) {
			want[owner] = append(want[owner], h)
		} else {
			stale++
		}
	}
	if g.Stale() != stale || g.Len() != items.Len()-stale {
		t.Fatalf("%d items with an owner, %d without; want %d and %d", g.Len(), g.Stale(), items.Len()-stale, stale)
	}
	names := func(m store.Members[T]) (hs []store.Handle[T]) {
		for h, v := range m.All() {
			if k := len(hs); v != items.At(h) || v != m.At(k) {
				t.Errorf("member %d, %v: %p by All, %p by At, want %p", k, h, v, m.At(k), items.At(h))
			}
			hs = append(hs, h)
		}
		equal(t, "Len of members", m.Len(), len(hs))
		return hs
	}
	for h := range by.All() {
		equalLists(t, fmt.Sprintf("group of %v", h), names(g.Of(h)), want[h]...)
	}
	var visited atomic.Int64
	err := g.ForEach(ctx, func(c store.GroupChunk[T, K]) {
		for i := range c.Owners.Items {
			h := c.Owners.Handle(i)
			if got := names(c.Members(i)); !slices.Equal(got, want[h]) {
				c.Owners.Queue.Fail(fmt.Errorf("owner %d of chunk %d, %v, has %v; want %v", i, c.Owners.Index, h, got, want[h]))
				return
			}
			if by.At(h) != &c.Owners.Items[i] || cap(c.Owners.Items) != len(c.Owners.Items) {
				c.Owners.Queue.Fail(fmt.Errorf("owner %d of chunk %d is not %v", i, c.Owners.Index, h))
				return
			}
			visited.Add(1)
		}
	})
	if _, isStable := by.(stable[K]); isStable {
		wantText(t, "ForEach of stable owners", err, "or call Of in a ForEach over the table")
		return
	}
	noError(t, err)
	equal(t, "visited owners", int(visited.Load()), by.Len())
}

func TestGroups_MatchAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStore(t)
		targets, shots := drawTable[item](t, s, "targets"), drawTable[shot](t, s, "shots")
		hs := fill(t, s, targets, rapid.IntRange(0, 40).Draw(t, "targets"))
		var g store.Groups[shot, item]
		for range rapid.IntRange(1, 4).Draw(t, "flushes") {
			q := queues(t, s, 1)[0]
			keys := append(hs, store.Handle[item]{}, handleOf(compose(1, 1, 1000)), handleOf(compose(9, 1, 0)), handleOf(compose(65, 1, 0)))
			keys = append(keys, targets.Emplace(q, item{}))
			for range rapid.IntRange(0, 60).Draw(t, "shots") {
				shots.Emplace(q, shot{Target: rapid.SampledFrom(keys).Draw(t, "target")})
			}
			for h := range shots.All() {
				if rapid.Bool().Draw(t, "erased") {
					shots.Erase(q, h)
				}
			}
			targets.EraseItems(q, hs[:min(len(hs), 2)])
			flush(t, s)
			groupBy(t, &g, shots, targets, targetOf)
			checkGroups(t, &g, shots, targets, targetOf)
		}
	})
}

// So many rows need several blocks and buckets.
func TestGroups_OfManyRows(t *testing.T) {
	for _, owners := range []int{0, 1, 1023, 1024, 1025, 5000} {
		s, targets := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 3})
		shots := register(t, s, store.TableOptions[shot]{Shards: 2})
		hs := fill(t, s, targets, owners)
		q := queues(t, s, 1)[0]
		for i := range 40_000 {
			v := shot{Damage: uint64(i)}
			if owners > 0 && i%11 > 0 {
				v.Target = hs[i*i%len(hs)]
			}
			shots.Emplace(q, v)
		}
		flush(t, s)
		var g store.Groups[shot, item]
		groupBy(t, &g, shots, targets, targetOf)
		checkGroups(t, &g, shots, targets, targetOf)
	}
}

// So many owners need larger buckets.
func TestGroups_OfManyOwners(t *testing.T) {
	s := newStore(t, store.Options{Workers: 2})
	targets := register(t, s, store.TableOptions[uint64]{Shards: 2})
	shots := register(t, s, store.TableOptions[store.Handle[uint64]]{})
	q := queues(t, s, 1)[0]
	names := targets.EmplaceItems(q, make([]uint64, 1<<19+5), nil)
	for i := range 3000 {
		shots.Emplace(q, names[i*i%len(names)])
	}
	flush(t, s)
	var g store.Groups[store.Handle[uint64], uint64]
	self := func(h *store.Handle[uint64]) store.Handle[uint64] { return *h }
	groupBy(t, &g, shots, targets, self)
	sum := 0
	for h := range targets.All() {
		m := g.Of(h)
		for k := range m.Len() {
			equal(t, "owner", *m.At(k), h)
		}
		sum += m.Len()
	}
	equal(t, "the members", sum, 3000)
	equal(t, "g.Len", g.Len(), 3000)
}

type grouped struct {
	*store.Store
	shots   *store.Table[shot]
	targets *store.Table[item]
	other   *store.Table[item]
	hits    []store.Handle[shot]
	hs      []store.Handle[item]
	groups  store.Groups[shot, item]
}

func newGrouped(t tb) *grouped {
	t.Helper()
	g := &grouped{Store: newStore(t, store.Options{})}
	g.targets = register(t, g.Store, store.TableOptions[item]{ChunkItems: 4})
	g.shots = register(t, g.Store, store.TableOptions[shot]{})
	g.other = register(t, g.Store, store.TableOptions[item]{Name: "other"})
	g.hs = fill(t, g.Store, g.targets, 10)
	q := queues(t, g.Store, 1)[0]
	for _, h := range g.hs {
		g.hits = append(g.hits, g.shots.Emplace(q, shot{Target: h}))
	}
	flush(t, g.Store)
	resolveAll(t, g.shots, g.hits)
	groupBy(t, &g.groups, g.shots, g.targets, targetOf)
	return g
}

// use calls both methods that need valid groups, and returns their panics.
func (g *grouped) use(t tb) string {
	t.Helper()
	said := panicOf(func() { g.groups.Of(g.hs[0]) })
	forEach := panicOf(func() {
		noError(t, g.groups.ForEach(context.Background(), func(store.GroupChunk[shot, item]) {}))
	})
	equal(t, "panic of Of", strings.TrimPrefix(said, "store: Of"), strings.TrimPrefix(forEach, "store: ForEach"))
	return said
}

func TestGroups_PanicAfterChanges(t *testing.T) {
	const over = `of table "store_test.shot" by table "store_test.item", changed since by a flush, sort, Rollback or Writer; call GroupBy again`
	inWrite := func(f func(ctx context.Context, g *grouped, w *store.Writer)) func(g *grouped) {
		return func(g *grouped) {
			runFrame(t, g.Store, func(ctx context.Context, w *store.Writer) error { f(ctx, g, w); return nil })
		}
	}
	for name, c := range map[string]struct {
		change func(g *grouped)
		want   string
	}{
		"nothing":                  {func(*grouped) {}, ""},
		"a flush without commands": {func(g *grouped) { flush(t, g.Store) }, ""},
		"a flush of another table": {func(g *grouped) { fill(t, g.Store, g.other, 1) }, ""},
		"a Write of another table": {inWrite(func(_ context.Context, g *grouped, w *store.Writer) { g.other.Clear(w) }), ""},
		"a pass":                   {func(g *grouped) { _, _ = sum(context.Background(), g.targets) }, ""},
		"a flush of the owners":    {func(g *grouped) { fill(t, g.Store, g.targets, 1) }, over},
		"a flush of the members":   {func(g *grouped) { g.shots.Erase(queues(t, g.Store, 1)[0], g.hits[3]); flush(t, g.Store) }, over},
		"an Insert": {inWrite(func(_ context.Context, g *grouped, w *store.Writer) {
			g.targets.Insert(w, item{})
		}), over},
		"a Remove": {inWrite(func(_ context.Context, g *grouped, w *store.Writer) { g.shots.Remove(w, g.hits[0]) }), over},
		"a Clear":  {inWrite(func(_ context.Context, g *grouped, w *store.Writer) { g.shots.Clear(w) }), over},
		"a sort":   {inWrite(func(ctx context.Context, g *grouped, w *store.Writer) { _ = store.SortFunc(ctx, g.targets, w, byValue) }), over},
		"a Rollback": {func(g *grouped) {
			var c store.Checkpoint
			checkpoint(t, g.Store, &c)
			_ = g.Rollback(context.Background(), &c)
		}, over},
		"a GroupBy whose key panics": {func(g *grouped) {
			_ = store.GroupBy(context.Background(), &g.groups, g.shots, g.targets, func(v *shot) store.Handle[item] { panic("no") })
		}, "whose last GroupBy failed; look at its error"},
		"becoming zero": {func(g *grouped) { g.groups = store.Groups[shot, item]{} }, "of Groups that no GroupBy has filled; call GroupBy first"},
	} {
		g := newGrouped(t)
		c.change(g)
		if got := g.use(t); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("after %s: %q; want %q", name, got, c.want)
		}
		groupBy(t, &g.groups, g.shots, g.targets, targetOf)
		checkGroups(t, &g.groups, g.shots, g.targets, targetOf)
	}
	g := newGrouped(t)
	noError(t, onlyError(g.Close(t.Context())))
	err := g.groups.ForEach(t.Context(), func(store.GroupChunk[shot, item]) {})
	wantError(t, "after Close", err, store.ErrClosed)
	wantIn(t, "Of after Close", panicOf(func() { g.groups.Of(g.hs[0]) }), over)
}

func TestColumn_MemberEqualsAt(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 3})
	column := addColumn(t, table, store.ColumnOptions[int]{})
	other := addColumn(t, register(t, s, store.TableOptions[item]{Name: "other"}), store.ColumnOptions[int]{})
	hs := fill(t, s, table, 100)
	for i, h := range hs {
		table.At(h).Parent = hs[i/10]
	}
	var g store.Groups[item, item]
	groupBy(t, &g, table, table, parent)
	for _, h := range hs[:10] {
		m, k := g.Of(h), 0
		for child := range m.All() {
			equal(t, "element", column.Member(m, k), column.At(child))
			k++
		}
		equal(t, "members", k, 10)
		wantIn(t, "members of another table", panicOf(func() { other.Member(m, 0) }), `not of table "other"`)
	}
}

func TestGroupBy_OfTwoStoresPanics(t *testing.T) {
	g := newGrouped(t)
	_, stranger := newTable(t, store.Options{}, store.TableOptions[item]{Name: "stranger"})
	got := panicOf(func() { _ = store.GroupBy(t.Context(), &g.groups, g.shots, stranger, targetOf) })
	wantIn(t, "GroupBy", got, `by table "stranger" of another store; use tables of one store`)
	equal(t, "use after it", g.use(t), "")
}

// A table may be grouped by itself. The panic of the lowest block is returned.
func TestGroupBy_ReturnsThePanicOfTheLowestBlock(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 4})
	hs := fill(t, s, table, 4000)
	for i, h := range hs[1:] {
		table.At(h).Parent = hs[i/2]
	}
	var g store.Groups[item, item]
	groupBy(t, &g, table, table, parent)
	checkGroups(t, &g, table, table, parent)
	err := store.GroupBy(t.Context(), &g, table, table, func(v *item) store.Handle[item] {
		if v.Value >= 1500 {
			panic(v.Value)
		}
		return v.Parent
	})
	var p *store.PanicError
	if !errors.As(err, &p) || p.Task != 1 || p.Value != uint64(1500) || !strings.Contains(err.Error(), "GroupBy of table") {
		t.Errorf("%v", err)
	}
	usable(t, s, table)
}

func TestMembers_OutsideTheChunkPanics(t *testing.T) {
	g := newGrouped(t)
	var kept store.GroupChunk[shot, item]
	noError(t, g.groups.ForEach(t.Context(), func(c store.GroupChunk[shot, item]) {
		if panicOf(func() { c.Members(len(c.Owners.Items)) }) == "" || panicOf(func() { c.Members(-1) }) == "" || panicOf(func() { c.Members(0).At(1) }) == "" {
			t.Error("a row of another chunk has members")
		}
		if c.Owners.Index == 0 {
			kept = c
		}
	}))
	wantIn(t, "Erase", panicOf(func() { kept.Owners.Erase(0) }), "Erase of chunk 0")
	if got := panicOf(func() { kept.Members(0) }); check.Cheap && !strings.Contains(got, "Members of chunk 0") {
		t.Error(got)
	}
}

func TestGroupBy_AllocatesNothing(t *testing.T) {
	plainBuild(t)
	for _, workers := range []int{1, 2} {
		s, targets := newTable(t, store.Options{Workers: workers}, store.TableOptions[item]{Shards: 2})
		shots := register(t, s, store.TableOptions[shot]{})
		hs := fill(t, s, targets, 3000)
		q := queues(t, s, 1)[0]
		for i := range 30_000 {
			shots.Emplace(q, shot{Target: hs[i*i%len(hs)]})
		}
		flush(t, s)
		var g store.Groups[shot, item]
		fold := func(c store.GroupChunk[shot, item]) {
			for i := range c.Owners.Items {
				m := c.Members(i)
				for k := range m.Len() {
					c.Owners.Items[i].Value += m.At(k).Damage
				}
			}
		}
		var sorts, folds uint64
		err := s.Team(t.Context(), func(ctx context.Context) error {
			sorts = allocations(ctx, func(ctx context.Context) {
				wantError(t, "", store.GroupBy(ctx, &g, shots, targets, targetOf), nil)
			})
			folds = allocations(ctx, func(ctx context.Context) {
				wantError(t, "", g.ForEach(ctx, fold), nil)
				_ = s.Discard()
			})
			return nil
		})
		if err != nil || sorts > slack || folds > frameCount+slack {
			t.Errorf("%d workers: %d times GroupBy allocate %d objects, ForEach %d, which should be its phases, %v", workers, frameCount, sorts, folds, err)
		}
	}
}
