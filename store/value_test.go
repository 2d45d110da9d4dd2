package store_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

type score struct {
	Goals int64
	By    store.Handle[item]
}

func newValue(t tb, s *store.Store, name string) *store.Value[score] {
	t.Helper()
	return store.AddValue(s, store.ColumnOptions[score]{Name: name})
}

// The model of a value is a variable.
func TestValue_IsPartOfTheState(t *testing.T) {
	ctx := t.Context()
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	v := newValue(t, s, "score")
	if got := *v.Get(); got != (score{}) {
		t.Errorf("at first: got %v, want zero", got)
	}
	fill(t, s, table, 3)
	empty := digest(t, s)
	var c store.Checkpoint
	checkpoint(t, s, &c)
	at := v.Get()
	at.Goals = 7
	changed := digest(t, s)
	if changed == empty {
		t.Error("Digest does not see the value")
	}
	saved := image(t, s)

	rollback(t, s, &c)
	if got := digest(t, s); got != empty || *v.Get() != (score{}) || v.Get() != at {
		t.Errorf("after Rollback: got %v at %p, digest %x, want zero at %p, %x", *v.Get(), v.Get(), got, at, empty)
	}
	if err := s.Load(ctx, bytes.NewReader(saved)); err != nil {
		t.Fatal(err)
	}
	if got := digest(t, s); got != changed || v.Get().Goals != 7 {
		t.Errorf("after Load: got %v, digest %x, want 7 goals, %x", *v.Get(), got, changed)
	}
	var names []string
	for _, of := range s.DigestTables() {
		names = append(names, of.Name)
		if of.Name == "score" && s.DigestShard(of.TypeID) != of.Shards[0] {
			t.Errorf("DigestShard(%d) is not that of the value", of.TypeID)
		}
	}
	if got := strings.Join(names, " "); !strings.HasSuffix(got, "score") {
		t.Errorf("DigestTables: got %q, want the value last", got)
	}
	for id := range s.DumpTable("score", 0) {
		t.Run("is erased by nothing", func(t *testing.T) {
			if err := s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error { q.Erase(id); return nil }); err != nil {
				t.Fatal(err)
			}
			if r := flush(t, s); r.Total.Stale != 1 || v.Get() == nil {
				t.Errorf("an erase of its handle: got %v, want a stale one", r.Total)
			}
		})
	}
}

func TestValue_IsLoadedByName(t *testing.T) {
	ctx := t.Context()
	without := newStore(t, store.Options{})
	register(t, without, store.TableOptions[item]{Name: "item"})
	older := image(t, without)

	newer := newStore(t, store.Options{})
	register(t, newer, store.TableOptions[item]{Name: "item"})
	v := newValue(t, newer, "score")
	v.Get().Goals = 7
	if err := newer.Load(ctx, bytes.NewReader(older)); err != nil {
		t.Fatal(err)
	}
	if got := v.Get(); got == nil || *got != (score{}) {
		t.Errorf("a snapshot without the value: got %v, want zero", got)
	}
	if err := newer.Verify(ctx); err != nil {
		t.Error(err)
	}

	for _, items := range []int{0, 2} { // no value has so many
		forged := newStore(t, store.Options{})
		register(t, forged, store.TableOptions[item]{Name: "item"})
		table, err := store.RegisterStable(forged, store.TableOptions[score]{Name: "score", TypeID: 32766})
		if err != nil {
			t.Fatal(err)
		}
		if err := forged.Write(ctx, func(_ context.Context, w *store.Writer) error {
			for range items {
				if _, err := table.Insert(w, score{}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		v.Get().Goals = 7
		if err := newer.Load(ctx, bytes.NewReader(image(t, forged))); !errors.Is(err, store.ErrSnapshot) || v.Get().Goals != 7 {
			t.Errorf("a value of %d items: got %v, want ErrSnapshot and nothing changed", items, err)
		}
	}
}

func TestValue_LeavesHandlesOfTablesAlone(t *testing.T) {
	handles := func(values int) []store.Handle[item] {
		s := newStore(t, store.Options{})
		for i := range values {
			newValue(t, s, string(rune('a'+i)))
		}
		table := register(t, s, store.TableOptions[item]{Shards: 3})
		return fill(t, s, table, 10)
	}
	plain, beside := handles(0), handles(5)
	for i := range plain {
		if plain[i] != beside[i] {
			t.Errorf("item %d beside values: got %v, want %v", i, beside[i], plain[i])
		}
	}
}

func TestAddValue_NamesWhatIsWrong(t *testing.T) {
	s := newStore(t, store.Options{})
	table := register(t, s, store.TableOptions[item]{Name: "item", TypeID: 32766})
	newValue(t, s, "score")
	for name, test := range map[string]struct {
		add  func()
		want string
	}{
		"a name that is taken":  {func() { newValue(t, s, "score") }, `AddValue "score": the name is taken`},
		"the name of a table":   {func() { newValue(t, s, "item") }, `AddValue "item": the name is taken`},
		"Changes":               {func() { store.AddValue(s, store.ColumnOptions[score]{Changes: true}) }, "keeps no changes"},
		"a handle behind a map": {func() { store.AddValue(s, store.ColumnOptions[map[int]store.ID]{}) }, "Links"},
		"no store":              {func() { newValue(t, nil, "x") }, "AddValue"},
		"inside a phase": {func() {
			_ = s.Read(t.Context(), func(context.Context) error { newValue(t, s, "x"); return nil })
		}, "phase"},
	} {
		if got := panicOf(test.add); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q in it", name, got, test.want)
		}
	}
	_, err := store.NewSchedule(s, store.System{
		Name: "emits", Emits: []store.Resource{table, newValue(t, s, "more")}, Run: func(context.Context) error { return nil },
	})
	if err == nil || !strings.Contains(err.Error(), `emits to "more"`) {
		t.Errorf("a system that emits to a value: got %v", err)
	}
}

func TestValue_IsAResource(t *testing.T) {
	s := newStore(t, store.Options{Workers: 4})
	v := newValue(t, s, "score")
	on := func(r ...store.Resource) []store.Resource { return r }
	double := func(context.Context) error { v.Get().Goals *= 2; return nil }
	add := func(context.Context) error { v.Get().Goals++; return nil }
	frame, err := store.NewSchedule(s,
		store.System{Name: "add", Writes: on(v), Run: add},
		store.System{Name: "double", Writes: on(v), Run: double},
	)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := frame.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := v.Get().Goals; got != 62 {
		t.Errorf("five frames of one after the other: got %d, want 62", got)
	}
	if !check.Cheap {
		return
	}
	undeclared, err := store.NewSchedule(s, store.System{Name: "looks", Run: double})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := undeclared.Run(t.Context()); !errors.Is(err, store.ErrUndeclared) {
		t.Errorf("Get in a system that does not declare the value: got %v, want ErrUndeclared", err)
	}
}

func TestValue_IsGoneWithItsStore(t *testing.T) {
	s := newStore(t, store.Options{})
	v := newValue(t, s, "score")
	if _, err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := v.Get(); got != nil {
		t.Errorf("Get of a closed store: got %v, want nil", got)
	}
}
