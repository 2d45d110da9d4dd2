package store_test

import (
	"errors"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"handloom/store"
)

func TestRegisterRefusesWhatDoesNotFitAndLeavesTheStoreAlone(t *testing.T) {
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
		t.Run(what, func(t *testing.T) {
			s := newStore(t, store.Options{})
			taken := register(t, s, store.TableOptions[item]{Name: "taken", TypeID: 10, Shards: 4})
			hs := fill(t, s, taken, 5)
			before := digest(t, s)
			if c.options.Name == "" {
				c.options.Name = "new"
			}
			if _, err := store.Register(s, c.options); err == nil || !strings.Contains(err.Error(), c.message) ||
				!strings.Contains(err.Error(), c.options.Name) {
				t.Fatalf("Register: %v; want it to name %q", err, c.message)
			}
			if len(s.Stats().Tables) != 1 || digest(t, s) != before || !s.Has(hs[4].ID) {
				t.Error("the store has changed")
			}
			// Neither the name nor a typeId is used up.
			next := register(t, s, store.TableOptions[item]{Name: "next", TypeID: 1, Shards: 9})
			fill(t, s, next, 9)
			register(t, s, store.TableOptions[item]{Name: "new"})
		})
	}
}

func TestAllFaultsAreReportedAtOnce(t *testing.T) {
	s, _ := newTable(t, store.Options{}, store.TableOptions[item]{Name: "a"})
	_, err := store.Register(s, store.TableOptions[[]store.ID]{Name: "a", ChunkItems: -1, TypeID: -1})
	for _, part := range []string{"taken", "ChunkItems", "TypeIDs", "slice"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not mention %s: %v", part, err)
		}
	}
	_, err = store.Register(s, store.TableOptions[item]{Name: "a", Shards: 65, TypeID: 40000, Reserve: -1, MaxItems: -1, MinFree: -1, ChunkItems: -1})
	for _, part := range []string{"taken", "Shards 65", "TypeIDs 40000", "Reserve", "MaxItems", "MinFree", "ChunkItems"} {
		if line := `store: Register table "a": `; err == nil || !strings.Contains(err.Error(), part) || strings.Count(err.Error(), line) != 7 {
			t.Errorf("the error does not mention %s in a line of its own: %v", part, err)
		}
	}
	_, err = store.New(store.Options{Workers: -1, QueueLimit: -2})
	for _, part := range []string{"Workers -1", "QueueLimit -2"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not mention %s: %v", part, err)
		}
	}
}

type hidden struct {
	Good  store.Handle[item]
	Inner struct{ Targets []store.Handle[item] }
}

func TestHandlesBehindReferencesAreRefusedByName(t *testing.T) {
	s := newStore(t, store.Options{})
	refuse := func(err error, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not mention %q: %v", part, err)
			}
		}
	}
	_, err := store.Register(s, store.TableOptions[hidden]{})
	refuse(err, "hidden.Inner.Targets", "slice")
	_, err = store.Register(s, store.TableOptions[struct{ ByName map[string]store.ID }]{})
	refuse(err, ".ByName", "map")
	_, err = store.Register(s, store.TableOptions[struct{ Keys map[store.ID]int }]{})
	refuse(err, ".Keys", "map")
	_, err = store.Register(s, store.TableOptions[struct{ Next *hidden }]{})
	refuse(err, ".Next", "pointer", "slice")
	_, err = store.Register(s, store.TableOptions[struct{ Many [3][]store.ID }]{})
	refuse(err, ".Many[0]", "slice")
	if len(s.Stats().Tables) != 0 {
		t.Error("the store has changed")
	}
	type list struct {
		Next *list
		Data map[string][]int
	}
	register(t, s, store.TableOptions[list]{}) // recursive, and without handles
}

type loose struct{ Target any }

func TestAHandleBehindAnInterfaceIsRefusedOrDeclared(t *testing.T) {
	s := newStore(t, store.Options{})
	_, err := store.Register(s, store.TableOptions[loose]{})
	expectSays(t, err, "store_test.loose.Target is of type interface {}, which may hold a handle")
	if len(s.Stats().Tables) != 0 {
		t.Error("the store has changed")
	}
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
	if got := resolve(t, table, h); to != got.ID {
		t.Errorf("behind the interface is %v, want %v", to, got)
	}
}

func TestHandlesInFieldsAndArraysAreFound(t *testing.T) {
	type inner struct {
		_ int8
		H [2]store.Handle[item]
	}
	type outer struct {
		A  uint8
		In [3]inner
		ID store.ID
	}
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	nested := register(t, s, store.TableOptions[outer]{})
	q := queues(t, s, 1)[0]
	target := table.Emplace(q, item{})
	v := outer{ID: target.ID}
	for i := range v.In {
		v.In[i].H = [2]store.Handle[item]{target, target}
	}
	holder := nested.Emplace(q, v)
	if report := flush(t, s); report.Total.Dangling != 0 {
		t.Error(report)
	}
	target = resolve(t, table, target)
	got := *nested.At(resolve(t, nested, holder))
	for i := range got.In {
		if got.In[i].H != [2]store.Handle[item]{target, target} {
			t.Errorf("element %d holds %v", i, got.In[i].H)
		}
	}
	if got.ID != target.ID {
		t.Errorf("the untyped field holds %v", got.ID)
	}
}

func TestTypeIDsAreGivenInFreeRuns(t *testing.T) {
	s := newStore(t, store.Options{})
	first := func(name string, typeID, shards int) uint16 {
		t.Helper()
		table := register(t, s, store.TableOptions[item]{Name: name, TypeID: typeID, Shards: shards})
		h := fill(t, s, table, 1)[0]
		for n := range shards {
			if _, ok := table.Handle(compose(h.ID.TypeID()+uint16(n), 1, 0)); !ok {
				t.Errorf("%s does not have typeId %d", name, int(h.ID.TypeID())+n)
			}
		}
		for _, other := range []uint16{h.ID.TypeID() - 1, h.ID.TypeID() + uint16(shards)} {
			if _, ok := table.Handle(compose(other, 1, 0)); ok {
				t.Errorf("%s has typeId %d", name, other)
			}
		}
		return h.ID.TypeID()
	}
	for _, c := range []struct {
		name                 string
		typeID, shards, want int
	}{
		{"a", 0, 1, 1},
		{"b", 4, 2, 4},
		{"c", 0, 3, 6}, // 2 and 3 are too few
		{"d", 0, 2, 2},
		{"e", 32767, 1, 32767},
		{"f", 0, 64, 9},
		{"g", 32704, 63, 32704},
	} {
		if got := first(c.name, c.typeID, c.shards); int(got) != c.want {
			t.Errorf("%s begins at typeId %d, want %d", c.name, got, c.want)
		}
	}
	if stats := s.Stats(); len(stats.Tables) != 7 || stats.Tables[5].Shards != 64 {
		t.Errorf("%+v", stats)
	}
}

func TestATableIsNamedAfterItsTypeUnlessNamed(t *testing.T) {
	s := newStore(t, store.Options{})
	if name := register(t, s, store.TableOptions[item]{}).Name(); name != "store_test.item" {
		t.Errorf("the table is called %q", name)
	}
	if _, err := store.Register(s, store.TableOptions[item]{}); err == nil || errors.Is(err, store.ErrPhase) {
		t.Errorf("a second table of that name: %v", err)
	}
}

func TestReserveMakesRoomAndChangesNoState(t *testing.T) {
	a, _ := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 4})
	b, _ := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 4, Reserve: 1000})
	if digest(t, a) != digest(t, b) || b.Stats().Tables[0].Bytes < 1000*int64(len("12345678")) {
		t.Errorf("%+v", b.Stats())
	}
}

// The tables that a program has must not make a further one dearer.
func TestATableCostsTheSameBesideManyTables(t *testing.T) {
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
	if many := perTable(2048, 4096); 2*many > 3*few && !raceDetector {
		t.Errorf("behind 2,048 tables one more allocates %d bytes, behind 256 of them %d", many, few)
	}
}
