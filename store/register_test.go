package store_test

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"math"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

func TestRegister_RefusalChangesNothing(t *testing.T) {
	for what, c := range map[string]struct {
		options store.TableOptions[item]
		message string
	}{
		"a name that is taken":         {store.TableOptions[item]{Name: "taken"}, "taken"},
		"a typeId that is taken":       {store.TableOptions[item]{TypeID: 12}, "12"},
		"a run into a taken typeId":    {store.TableOptions[item]{TypeID: 8, Shards: 3}, "8 to 10"},
		"a typeId beyond the last":     {store.TableOptions[item]{TypeID: 32768}, "32768"},
		"a run beyond the last typeId": {store.TableOptions[item]{TypeID: 32760, Shards: 9}, "32768"},
		"an absurd typeId":             {store.TableOptions[item]{TypeID: math.MaxInt, Shards: 2}, "TypeID"},
		"a negative typeId":            {store.TableOptions[item]{TypeID: -1}, "-1"},
		"more than 64 shards":          {store.TableOptions[item]{Shards: 65}, "65"},
		"negative Shards":              {store.TableOptions[item]{Shards: -1}, "-1"},
		"negative ChunkItems":          {store.TableOptions[item]{ChunkItems: -2}, "ChunkItems -2"},
		"negative Reserve":             {store.TableOptions[item]{Reserve: -3}, "Reserve -3"},
		"negative Reserve of shards":   {store.TableOptions[item]{Reserve: -3, Shards: 8}, "Reserve -3"},
		"absurd Reserve":               {store.TableOptions[item]{Reserve: math.MaxInt}, "Reserve"},
		"absurd Reserve of shards":     {store.TableOptions[item]{Reserve: math.MaxInt, Shards: 2}, "Reserve"},
		"negative MinFree":             {store.TableOptions[item]{MinFree: -4}, "MinFree -4"},
		"negative MaxItems":            {store.TableOptions[item]{MaxItems: -5}, "MaxItems -5"},
		"Reserve above MaxItems":       {store.TableOptions[item]{Reserve: 30, MaxItems: 20, Shards: 4}, "Reserve"},
	} {
		s, taken := newTable(t, store.Options{}, store.TableOptions[item]{Name: "taken", TypeID: 10, Shards: 4})
		hs := fill(t, s, taken, 5)
		before := digest(t, s)
		if c.options.Name == "" {
			c.options.Name = "new"
		}
		err := faultOf(func() { store.Register(s, c.options) })
		wantText(t, "the call", err, c.message)
		wantText(t, "the call", err, c.options.Name)
		if len(s.Stats()) != 1 || digest(t, s) != before || !taken.Has(hs[4]) {
			t.Errorf("%s: the store has changed", what)
		}
		fill(t, s, register(t, s, store.TableOptions[item]{Name: "next", TypeID: 1, Shards: 9}), 9)
		register(t, s, store.TableOptions[item]{Name: "new"})
	}
}

// Components and values name the cause as tables do, and a refused call adds nothing.
func TestAdd_RefusesInvalidOptions(t *testing.T) {
	f := newFleet(t, store.Options{})
	s, ships, plain := f.Store, f.items, register(t, f.Store, store.TableOptions[item]{TypeID: 32766})
	addSparse(t, ships, store.ColumnOptions[int]{Name: "shield"})
	newValue(t, s, "score")
	column := func(to *store.Table[item], o store.ColumnOptions[int]) func() {
		return func() { store.AddColumn(to, o) }
	}
	sparse := func(to *store.Table[item], o store.ColumnOptions[int]) func() {
		return func() { store.AddSparse(to, o) }
	}
	value := func(o store.ColumnOptions[int]) func() { return func() { store.AddValue(s, o) } }
	inRead := func(add func()) func() {
		return func() { _ = s.Read(t.Context(), func(context.Context) error { add(); return nil }) }
	}
	late := store.ColumnOptions[int]{Name: "late"}
	sum := digest(t, s)
	for _, c := range []struct {
		add  func()
		want string
	}{
		{func() { store.Register(s, store.TableOptions[item]{}) }, `"store_test.item": the name is taken`},
		{func() { store.RegisterStable(s, store.TableOptions[item]{Name: "ships"}) }, `"ships": the name is taken`},
		{func() { store.RegisterStable(s, store.TableOptions[hidden]{}) }, "hidden.Inner.Targets"},
		{column(ships, store.ColumnOptions[int]{Name: "small"}), `"small" to table "ships": the name is taken`},
		{column(ships, store.ColumnOptions[int]{Name: "shield"}), `"shield" to table "ships": the name is taken`},
		{column(plain, store.ColumnOptions[int]{Changes: true}), "the table keeps no changes"},
		{func() { store.AddColumn(plain, store.ColumnOptions[[]store.ID]{}) }, "declare it by ColumnOptions.Links"},
		{inRead(column(ships, late)), "phase"},
		{sparse(ships, store.ColumnOptions[int]{Name: "small"}), `"small" to table "ships": the name is taken`},
		{sparse(plain, store.ColumnOptions[int]{Changes: true}), "the table keeps no changes"},
		{func() { store.AddSparse(plain, store.ColumnOptions[[]store.ID]{}) }, "declare it by ColumnOptions.Links"},
		{inRead(sparse(ships, late)), "phase"},
		{value(store.ColumnOptions[int]{Name: "score"}), `AddValue "score": the name is taken`},
		{value(store.ColumnOptions[int]{Name: "ships"}), `AddValue "ships": the name is taken`},
		{value(store.ColumnOptions[int]{Changes: true}), "keeps no changes"},
		{func() { store.AddValue(s, store.ColumnOptions[map[int]store.ID]{}) }, "Links"},
		{func() { newValue(t, nil, "x") }, "AddValue"},
		{inRead(value(late)), "phase"},
	} {
		wantIn(t, c.want, panicOf(c.add), c.want)
	}
	equal(t, "digest", digest(t, s), sum)
	equal(t, "tables", len(s.Stats()), 3)
	column(plain, store.ColumnOptions[int]{Name: "small"})() // free in another table
	noError(t, onlyError(s.Close(t.Context())))
	wantError(t, "on a closed store", faultOf(column(plain, late)), store.ErrClosed)
}

func TestRegister_ReportsAllFaultsAtOnce(t *testing.T) {
	s, _ := newTable(t, store.Options{}, store.TableOptions[item]{Name: "a"})
	slices := faultOf(func() { store.Register(s, store.TableOptions[[]store.ID]{Name: "a", ChunkItems: -1, TypeID: -1}) })
	all := faultOf(func() {
		store.Register(s, store.TableOptions[item]{Name: "a", Shards: 65, TypeID: 40000, Reserve: -1, MaxItems: -1, MinFree: -1, ChunkItems: -1})
	})
	options := faultOf(func() { store.New(store.Options{Workers: -1, QueueLimit: -2}) })
	for err, parts := range map[error][]string{
		slices:  {"taken", "ChunkItems", "TypeIDs", "slice"},
		all:     {"taken", "Shards 65", "TypeIDs 40000", "Reserve", "MaxItems", "MinFree", "ChunkItems"},
		options: {"Workers -1", "QueueLimit -2"},
	} {
		for _, part := range parts {
			wantText(t, "the call", err, part)
		}
	}
	equal(t, "lines of the error", strings.Count(all.Error(), `store: Register table "a": `), 7)
}

type hidden struct {
	Good  store.Handle[item]
	Inner struct{ Targets []store.Handle[item] }
}

type loose struct{ Target any }

func TestRegister_RefusesInterfacesWithoutLinks(t *testing.T) {
	s := newStore(t, store.Options{})
	err := faultOf(func() { store.Register(s, store.TableOptions[loose]{}) })
	wantText(t, "the call", err, "store_test.loose.Target is of type interface {}, which may hold a handle")
	equal(t, "tables", len(s.Stats()), 0)
	table := register(t, s, store.TableOptions[loose]{Links: func(v *loose, visit func(*store.ID)) {
		if id, ok := v.Target.(*store.ID); ok {
			visit(id)
		}
	}})
	q := queues(t, s, 1)[0]
	h := table.Emplace(q, loose{})
	to := h.ID
	table.Emplace(q, loose{&to})
	flush(t, s)
	equal(t, "handle behind the interface", to, resolve(t, table, h).ID)
}

func TestRegister_GivesTypeIDsInFreeRuns(t *testing.T) {
	s := newStore(t, store.Options{})
	for _, c := range []struct {
		name                 string
		typeID, shards, want int
	}{
		{"a", 0, 1, 1},
		{"b", 4, 2, 4},
		{"c", 0, 3, 6},
		{"d", 0, 2, 2},
		{"e", 32767, 1, 32767},
		{"f", 0, 64, 9},
		{"g", 32704, 63, 32704},
	} {
		table := register(t, s, store.TableOptions[item]{Name: c.name, TypeID: c.typeID, Shards: c.shards})
		equal(t, "first typeId of "+c.name, int(fill(t, s, table, 1)[0].ID.TypeID()), c.want)
		for n := -1; n <= c.shards; n++ {
			if _, ok := table.Handle(compose(uint16(c.want+n), 1, 0)); ok != (n >= 0 && n < c.shards) {
				t.Errorf("%s has typeId %d: %t", c.name, c.want+n, ok)
			}
		}
	}
}

func TestTable_FindsItemsOfEachShard(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[item]{Shards: store.MaxShards, TypeID: 77}, stable)
		sparse := addSparse(t, table, store.ColumnOptions[uint64]{Name: "sparse"})
		table.EmplaceItems(queues(t, s, 1)[0], make([]item, 3*store.MaxShards), nil)
		flush(t, s)
		for h, v := range table.All() {
			write(t, s, func(w *store.Writer) { sparse.Put(w, h, uint64(h.ID)) })
			found, ok := table.Get(h)
			with, has := sparse.Get(h)
			if !ok || !has || found != v || table.At(h) != v || !table.Has(h) || *with != uint64(h.ID) {
				t.Errorf("%v is not found", h)
			}
		}
	})
}

func TestReserve_ChangesNoState(t *testing.T) {
	a, _ := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 4})
	b, _ := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 4, Reserve: 1000})
	equal(t, "digest", digest(t, b), digest(t, a))
	room := b.Stats()[0].Bytes
	atLeast(t, "bytes", room, 1000*int64(len("12345678")))
	var saved bytes.Buffer
	noError(t, a.Snapshot(t.Context(), &saved))
	noError(t, b.Load(t.Context(), &saved))
	equal(t, "bytes after Load", b.Stats()[0].Bytes, room)
}

// Another table must not cost more in a store with many tables.
func TestRegister_CostIgnoresOtherTables(t *testing.T) {
	s := newStore(t, store.Options{})
	perTable := func(from, to int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := from; i < to; i++ {
			register(t, s, store.TableOptions[item]{Name: strconv.Itoa(i)})
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / uint64(to-from)
	}
	perTable(0, 256)
	few := perTable(256, 512)
	perTable(512, 2048)
	if many := perTable(2048, 4096); 2*many > 3*few && !check.Cheap {
		t.Errorf("behind 2,048 tables one more allocates %d bytes, behind 256 of them %d", many, few)
	}
}

var aliased = map[string]reflect.Type{
	"ID":          reflect.TypeFor[store.ID](),
	"Handle":      reflect.TypeFor[store.Handle[item]](),
	"PanicError":  reflect.TypeFor[store.PanicError](),
	"SystemError": reflect.TypeFor[store.SystemError](),
	"StaleError":  reflect.TypeFor[store.StaleError](),
}

func TestAlias_CommentListsItsMembers(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "alias.go", nil, parser.ParseComments)
	noError(t, err)
	seen := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		typ := aliased[spec.Name.Name]
		if typ == nil {
			t.Errorf("%s is an alias that the test does not know", spec.Name)
			return false
		}
		seen++
		equalLists(t, "list in the comment of "+spec.Name.Name, listedIn(spec.Doc.Text()), members(typ)...)
		return false
	})
	equal(t, "aliases of alias.go", seen, len(aliased))
}

var name = regexp.MustCompile(`^([A-Z]\w*)\b|, ([A-Z]\w*) \w+:`)

func listedIn(comment string) (names []string) {
	for line := range strings.Lines(comment) {
		line, isItem := strings.CutPrefix(line, "  - ")
		if !isItem {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(line, -1) {
			names = append(names, m[1]+m[2])
		}
	}
	slices.Sort(names)
	return names
}

func members(t reflect.Type) (names []string) {
	var embedded []reflect.Type
	if t.Kind() == reflect.Struct {
		for f := range t.Fields() {
			switch {
			case f.Anonymous:
				embedded = append(embedded, f.Type)
			case f.IsExported():
				names = append(names, f.Name)
			}
		}
	}
	for m := range reflect.PointerTo(t).Methods() {
		if !slices.ContainsFunc(embedded, func(e reflect.Type) bool { return has(e, m) }) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names
}

func has(e reflect.Type, m reflect.Method) bool {
	own, ok := reflect.PointerTo(e).MethodByName(m.Name)
	return ok && slices.Equal(slices.Collect(own.Type.Ins())[1:], slices.Collect(m.Type.Ins())[1:]) &&
		slices.Equal(slices.Collect(own.Type.Outs()), slices.Collect(m.Type.Outs()))
}

type anyTable[T any] interface {
	store.TableOf[T]
	Len() int
	Has(h store.Handle[T]) bool
	Get(h store.Handle[T]) (*T, bool)
	At(h store.Handle[T]) *T
	All() seqOf[T]
	Resolve(p store.Handle[T]) (store.Handle[T], bool)

	Emplace(q store.Queue, v T) store.Handle[T]
	EmplaceItems(q store.Queue, items []T, dst []store.Handle[T]) []store.Handle[T]
	Staged(q store.Queue, p store.Handle[T]) (*T, bool)
	Erase(q store.Queue, h store.Handle[T])
	EraseItems(q store.Queue, hs []store.Handle[T])
	EraseAll(q store.Queue)
	Put(q store.Queue, h store.Handle[T], v T)

	Insert(w *store.Writer, v T) store.Handle[T]
	Remove(w *store.Writer, h store.Handle[T]) bool
	Clear(w *store.Writer)
}

type seqOf[T any] = iter.Seq2[store.Handle[T], *T]

type (
	itemTable   = anyTable[item]
	itemSeq     = seqOf[item]
	packedTable = packed[item]
	stableTable = stable[item]
)

type packed[T any] struct{ *store.Table[T] }

type stable[T any] struct{ *store.StableTable[T] }

func registerKind[T any](t tb, s *store.Store, o store.TableOptions[T], isStable bool) anyTable[T] {
	t.Helper()
	if isStable {
		return stable[T]{registerStable(t, s, o)}
	}
	return packed[T]{register(t, s, o)}
}

func registerStable[T any](t tb, s *store.Store, o store.TableOptions[T]) *store.StableTable[T] {
	t.Helper()
	return store.RegisterStable(s, o)
}

func bothKinds(t *testing.T, test func(t *testing.T, stable bool)) {
	t.Helper()
	t.Run("kind=packed", func(t *testing.T) { test(t, false) })
	t.Run("kind=stable", func(t *testing.T) { test(t, true) })
}
