package store_test

import (
	"errors"
	"math"
	"runtime"
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
		if len(s.Stats().Tables) != 1 || digest(t, s) != before || !taken.Has(hs[4]) {
			t.Errorf("%s: the store has changed", what)
		}
		fill(t, s, register(t, s, store.TableOptions[item]{Name: "next", TypeID: 1, Shards: 9}), 9)
		register(t, s, store.TableOptions[item]{Name: "new"})
	}
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

// Values take the same check as tables and compile faster.
func TestRegister_RefusesHandlesBehindReferences(t *testing.T) {
	s := newStore(t, store.Options{})
	inner := faultOf(func() { store.Register(s, store.TableOptions[hidden]{}) })
	values := faultOf(func() { store.AddValue(s, store.ColumnOptions[struct{ ByName map[string]store.ID }]{Name: "v"}) })
	keys := faultOf(func() { store.AddValue(s, store.ColumnOptions[struct{ Keys map[store.ID]int }]{Name: "v"}) })
	pointer := faultOf(func() { store.AddValue(s, store.ColumnOptions[struct{ Next *hidden }]{Name: "v"}) })
	array := faultOf(func() { store.AddValue(s, store.ColumnOptions[struct{ Many [3][]store.ID }]{Name: "v"}) })
	stable := faultOf(func() { store.RegisterStable(s, store.TableOptions[node]{}) })
	for err, parts := range map[error][]string{
		inner:   {"hidden.Inner.Targets", "slice"},
		values:  {".ByName", "map"},
		keys:    {".Keys", "map"},
		pointer: {".Next", "pointer", "slice"},
		array:   {".Many[0]", "slice"},
		stable:  {"node.Kids", "node.Named", "node.Deep", "Links"},
	} {
		for _, part := range parts {
			wantText(t, "the call", err, part)
		}
	}
	equal(t, "tables", len(s.Stats().Tables), 0)
	type list struct {
		Next *list
		Data map[string][]int
	}
	store.AddValue(s, store.ColumnOptions[list]{Name: "v"})
}

type loose struct{ Target any }

func TestRegister_RefusesInterfacesWithoutLinks(t *testing.T) {
	s := newStore(t, store.Options{})
	err := faultOf(func() { store.Register(s, store.TableOptions[loose]{}) })
	wantText(t, "the call", err, "store_test.loose.Target is of type interface {}, which may hold a handle")
	equal(t, "tables", len(s.Stats().Tables), 0)
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

func TestRegister_NamesATableAfterItsType(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	equal(t, "name", table.Name(), "store_test.item")
	if err := faultOf(func() { store.Register(s, store.TableOptions[item]{}) }); err == nil || errors.Is(err, store.ErrPhase) {
		t.Errorf("a second table of that name: %v", err)
	}
}

func TestReserve_ChangesNoState(t *testing.T) {
	a, _ := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 4})
	b, _ := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 4, Reserve: 1000})
	equal(t, "digest", digest(t, b), digest(t, a))
	atLeast(t, "bytes", b.Stats().Tables[0].Bytes, 1000*int64(len("12345678")))
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
