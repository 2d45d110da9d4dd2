package store_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

type lookup struct {
	name string
	res  store.Resource
	rest []store.Resource
	says string
	call func()
}

// notChanges returns the resource unless only Reads may have it.
func (l lookup) notChanges() []store.Resource {
	if strings.HasPrefix(l.res.Name(), "changes of ") {
		return nil
	}
	return []store.Resource{l.res}
}

func visit2[K, V any](all iter.Seq2[K, V]) {
	for range all {
	}
}

// lookups returns every kind of lookup. Each finds something.
func lookups(t *testing.T, s *store.Store) []lookup {
	packed := register(t, s, store.TableOptions[item]{Name: "packed", Changes: true})
	stable := registerStable(t, s, store.TableOptions[item]{Name: "stable", Changes: true})
	owners := register(t, s, store.TableOptions[item]{Name: "owners"})
	column := addColumn(t, packed, store.ColumnOptions[int]{Name: "column", Changes: true})
	optional := addSparse(t, stable, store.ColumnOptions[int]{Name: "optional", Changes: true})

	q := queues(t, s, 1)[0]
	h, g, o := packed.Emplace(q, item{}), stable.Emplace(q, item{}), owners.Emplace(q, item{})
	packed.Put(q, h, item{Parent: o})
	column.Set(q, h, 1)
	optional.Set(q, g, 1)
	flush(t, s)
	h, g, o = resolve(t, packed, h), resolve(t, stable, g), resolve(t, owners, o)
	var groups store.Groups[item, item]
	var kept store.Chunk[item]
	grouped := store.GroupBy(t.Context(), &groups, packed, owners, parent)
	_, reduced := store.Reduce(t.Context(), packed, func(r store.Chunk[item]) int { kept = r; return 0 }, addInt)
	noError(t, errors.Join(grouped, reduced))
	members := groups.Of(o)
	type on = []store.Resource
	// Lists of changes need ChangesOf; the table and its component are not enough.
	ofPacked, ofStable := store.ChangesOf(packed), store.ChangesOf(stable)
	return []lookup{
		{"Table.Get", packed, nil, `Get of table "packed"`, func() { packed.Get(h) }},
		{"Table.Has", packed, nil, `Has of table "packed"`, func() { packed.Has(h) }},
		{"Table.At", packed, nil, `At of table "packed"`, func() { packed.At(h) }},
		{"Table.All", packed, nil, `All of table "packed"`, func() { visit2(packed.All()) }},
		{"Table.Len", packed, nil, `Len of table "packed"`, func() { packed.Len() }},
		{"StableTable.Get", stable, nil, `Get of table "stable"`, func() { stable.Get(g) }},
		{"StableTable.Has", stable, nil, `Has of table "stable"`, func() { stable.Has(g) }},
		{"StableTable.At", stable, nil, `At of table "stable"`, func() { stable.At(g) }},
		{"StableTable.All", stable, nil, `All of table "stable"`, func() { visit2(stable.All()) }},
		{"StableTable.Len", stable, nil, `Len of table "stable"`, func() { stable.Len() }},
		{"Table.Resolve", packed, nil, `Resolve of table "packed"`, func() { packed.Resolve(h) }},
		{"StableTable.Resolve", stable, nil, `Resolve of table "stable"`, func() { stable.Resolve(g) }},
		{"Created", ofPacked, on{packed}, `Created of table "packed"`, func() { visit2(store.Created(packed)) }},
		{"Erased", ofStable, on{stable}, `Erased of table "stable"`, func() { visit2(store.Erased(stable)) }},
		{"Written", ofPacked, on{packed}, `Written of table "packed"`, func() { visit2(store.Written(packed)) }},
		{"Column.Get", column, on{packed}, `Get of column "packed.column"`, func() { column.Get(h) }},
		{"Column.At", column, on{packed}, `At of column "packed.column"`, func() { column.At(h) }},
		{"Column.Read", column, on{packed}, `Read of column "packed.column"`, func() { column.Read(kept) }},
		{"Column.Written", ofPacked, on{packed, column}, `Written of column "packed.column"`, func() { visit2(column.Written()) }},
		{"Sparse.Get", optional, on{stable}, `Get of sparse data "stable.optional"`, func() { optional.Get(g) }},
		{"Sparse.Has", optional, on{stable}, `Has of sparse data "stable.optional"`, func() { optional.Has(g) }},
		{"Sparse.All", optional, on{stable}, `All of sparse data "stable.optional"`, func() { visit2(optional.All()) }},
		{"Sparse.Created", ofStable, on{stable, optional}, `Created of sparse data "stable.optional"`, func() { visit2(optional.Created()) }},
		{"Sparse.Erased", ofStable, on{stable, optional}, `Erased of sparse data "stable.optional"`, func() { visit2(optional.Erased()) }},
		{"Sparse.Written", ofStable, on{stable, optional}, `Written of sparse data "stable.optional"`, func() { visit2(optional.Written()) }},
		{"Sparse.Len", optional, on{stable}, `Len of sparse data "stable.optional"`, func() { optional.Len() }},
		{"Store.DumpTable", stable, nil, `DumpTable of table "stable"`, func() { visit2(s.DumpTable("stable", 0)) }},
		{"Store.DumpColumns", optional, nil, `DumpColumns of table "stable"`, func() { visit2(s.DumpColumns(g.ID)) }},
		{"Store.DumpColumns, data", optional, on{stable}, `DumpColumns of sparse data "stable.optional"`, func() { visit2(s.DumpColumns(g.ID)) }},
		{"Store.DigestTables", stable, on{packed, owners}, `DigestTables of table "stable"`, func() { s.DigestTables() }},
		{"Column.Member", column, on{packed}, `Member of column "packed.column"`, func() { column.Member(members, 0) }},
		{"Groups.Of of owners", owners, on{packed}, `Of of table "owners"`, func() { groups.Of(o) }},
		{"Groups.Of of members", packed, on{owners}, `Of of table "packed"`, func() { groups.Of(o) }},
	}
}

var places = []struct {
	name string
	run  func(ctx context.Context, s *store.Store, look func()) error
}{
	{"Run", func(_ context.Context, _ *store.Store, look func()) error { look(); return nil }},
	{"task", func(ctx context.Context, s *store.Store, look func()) error {
		return s.Each(ctx, 3, func(int, store.Queue) { look() })
	}},
	{"after labels of other code", func(ctx context.Context, _ *store.Store, look func()) error {
		pprof.Do(ctx, pprof.Labels("key", "other"), func(context.Context) {})
		look()
		return nil
	}},
	{"goroutine", func(_ context.Context, _ *store.Store, look func()) error { return onGoroutine(look) }},
	{"goroutine of a task", func(ctx context.Context, s *store.Store, look func()) error {
		return s.Each(ctx, 3, func(_ int, q store.Queue) { q.Fail(onGoroutine(look)) })
	}},
}

func onGoroutine(look func()) error {
	found := make(chan error)
	go func() {
		defer func() {
			err, _ := recover().(error)
			found <- err
		}()
		look()
	}()
	return <-found
}

func TestLookup_UndeclaredIsFoundByCheckedBuilds(t *testing.T) {
	type on = []store.Resource
	for _, workers := range []int{1, 2, 8} {
		s := newStore(t, store.Options{Workers: workers})
		for _, l := range lookups(t, s) {
			for _, place := range places {
				frame := func(y store.System) error {
					y.Name = "x"
					y.Run = func(ctx context.Context) error { return place.run(ctx, s, l.call) }
					c := newSchedule(t, s, y)
					run := func(ctx context.Context) error { return onlyError(c.Run(ctx)) }
					if workers == 8 {
						return s.Team(t.Context(), run)
					}
					return run(t.Context())
				}
				t.Run(fmt.Sprintf("%s/%s/workers=%d", l.name, place.name, workers), func(t *testing.T) {
					for where, err := range map[string]error{
						"nothing": frame(store.System{Reads: l.rest}),
						"Emits":   frame(store.System{Reads: l.rest, Emits: l.notChanges()}),
					} {
						system := new(store.SystemError)
						if !check.Cheap {
							wantError(t, "declared in "+where, err, nil)
						} else if !errors.Is(err, store.ErrPhase) || !errors.As(err, &system) || system.System != "x" || !strings.Contains(err.Error(), l.says) {
							t.Errorf("declared in %s: %v; want ErrPhase that says %q", where, err, l.says)
						}
					}
					for where, err := range map[string]error{
						"Reads":  frame(store.System{Reads: append(on{l.res}, l.rest...)}),
						"Writes": frame(store.System{Reads: l.rest, Writes: l.notChanges()}),
					} {
						if where == "Writes" && l.notChanges() == nil {
							continue
						}
						wantError(t, "declared in "+where, err, nil)
					}
				})
			}
		}
	}
}

func TestLookup_OutsideSystemsIsUnchecked(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{})
	other, foreign := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{})
	fill(t, s, table, 1)
	inner := newSchedule(t, other, store.System{Name: "inner", Run: func(context.Context) error {
		table.Len()
		return nil
	}})
	c := newSchedule(t, s, store.System{Name: "a", Run: func(ctx context.Context) error {
		foreign.Len()
		_, err := inner.Run(ctx)
		if check.Cheap && panicOf(func() { table.Len() }) == "" {
			t.Error("a frame of another store within the system ends the checks")
		}
		return err
	}}, store.System{Name: "b", If: func() bool { return table.Len() == 1 }, Run: nothing})
	for range 2 {
		noError(t, onlyError(c.Run(t.Context())))
		table.Len()
	}
	// The workers of a team are not part of the system whose tasks they ran.
	noError(t, s.Team(t.Context(), func(ctx context.Context) error {
		pass := func(ctx context.Context) error {
			return s.Each(ctx, 64, func(int, store.Queue) { runtime.Gosched() })
		}
		c := newSchedule(t, s, store.System{Name: "a", Run: pass})
		_, err := c.Run(ctx)
		return errors.Join(err, s.Each(ctx, 64, func(int, store.Queue) { table.Len() }))
	}))
}

// Methods with a result and without a context, queue or Writer are lookups.
func TestLookup_CasesAreComplete(t *testing.T) {
	tested := map[string]bool{
		"Value.Get": true,
		// A pass checks Write of its chunk. The others read no item that a flush changes.
		"Column.Write": true, "Table.Handle": true,
		"Table.Resolve": true, "StableTable.Resolve": true,
	}
	for _, l := range lookups(t, newStore(t, store.Options{})) {
		tested[l.name] = true
	}
	others := []reflect.Type{reflect.TypeFor[context.Context](), reflect.TypeFor[store.Queue](), reflect.TypeFor[*store.Writer]()}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*store.Table[item]](), reflect.TypeFor[*store.StableTable[item]](),
		reflect.TypeFor[*store.Column[item, int]](), reflect.TypeFor[*store.Sparse[item, int]](), reflect.TypeFor[*store.Value[int]](),
	} {
		name, _, _ := strings.Cut(typ.Elem().Name(), "[")
		for m := range typ.Methods() {
			takes := slices.ContainsFunc(others, func(o reflect.Type) bool { return slices.Contains(slices.Collect(m.Type.Ins()), o) })
			if !takes && m.Type.NumOut() > 0 && m.Name != "Name" && !tested[name+"."+m.Name] {
				t.Errorf("%s.%s is not among the look-ups of this test", name, m.Name)
			}
		}
	}
}

// goroutines counts the goroutines that meet, by the value of their label "system".
func goroutines() string {
	var b strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
	numbers := map[string]int{}
	for group := range strings.SplitSeq(b.String(), "\n\n") {
		m := regexp.MustCompile(`(?m)^(\d+) @.*\n# labels: {.*"system":"(\w+)"`).FindStringSubmatch(group)
		if m == nil || !strings.Contains(group, "LabelsItsGoroutines") {
			continue
		}
		n, _ := strconv.Atoi(m[1])
		numbers[m[2]] += n
	}
	return fmt.Sprint(numbers)
}

// Each worker runs one of the two tasks, or systems, that meet.
func TestSystem_LabelsItsGoroutines(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{})
	var seen []string
	var met sync.WaitGroup
	var once sync.Once
	meet := func(undeclared bool) {
		met.Done()
		met.Wait()
		once.Do(func() { seen = append(seen, goroutines()) })
		if found := panicOf(func() { table.Len() }) != ""; found != (check.Cheap && undeclared) {
			t.Errorf("%s: the look-up panics, got %v, want %v", seen[len(seen)-1], found, !found)
		}
	}
	expect := func() { once = sync.Once{}; met.Add(2) }
	pass := func(ctx context.Context, undeclared bool) error {
		expect()
		return s.Each(ctx, 2, func(int, store.Queue) { meet(undeclared) })
	}
	tasks := func(ctx context.Context) error {
		name, _ := pprof.Label(ctx, "system")
		seen = append(seen, name)
		return pass(ctx, true)
	}
	both := func(context.Context) error { meet(true); return nil }
	c := newSchedule(t, s, store.System{Name: "a", Run: tasks}, store.System{Name: "b", After: []string{"a"}, Run: tasks},
		store.System{Name: "c", After: []string{"b"}, If: func() bool { expect(); return true }, Run: both},
		store.System{Name: "d", After: []string{"b"}, Run: both})
	frame := func(ctx context.Context) error { return errors.Join(onlyError(c.Run(ctx)), pass(ctx, false)) }
	for _, run := range []func(context.Context) error{frame, func(ctx context.Context) error { return s.Team(ctx, frame) }} {
		seen = nil
		pprof.Do(t.Context(), pprof.Labels("system", "none"), func(ctx context.Context) { noError(t, run(ctx)) })
		equalLists(t, "goroutines", seen, "a", "map[a:2]", "b", "map[b:2]", "map[c:1 d:1]", "map[none:2]")
	}
}
