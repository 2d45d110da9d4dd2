package store_test

import (
	"bytes"
	"context"
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

func TestValue_IsPartOfTheState(t *testing.T) {
	ctx := t.Context()
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	v := newValue(t, s, "score")
	equal(t, "at first", *v.Get(), score{})
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
	noError(t, s.Load(ctx, bytes.NewReader(saved)))
	equal(t, "after Load", *v.Get(), score{Goals: 7})
	equal(t, "the digest after Load", digest(t, s), changed)
	last := s.DigestTables()[1]
	equal(t, "the last of DigestTables", last.Name, "score")
	equal(t, "shards of the value", len(last.Shards), 1)

	handles := 0
	for id := range s.DumpTable("score", 0) {
		handles++
		noError(t, s.Do(ctx, func(q store.Queue) { q.Erase(id) }))
	}
	equal(t, "handles of the value", handles, 1)
	equal(t, "erases of it that are stale", flush(t, s).Total.Stale, 1)
	equal(t, "after the erase", *v.Get(), score{Goals: 7})
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
	noError(t, newer.Load(ctx, bytes.NewReader(older)))
	equal(t, "after a snapshot without the value", *v.Get(), score{})
	noError(t, newer.Verify(ctx))

	for _, items := range []int{0, 1, 2} {
		forged := newStore(t, store.Options{})
		register(t, forged, store.TableOptions[item]{Name: "item"})
		table := registerStable(t, forged, store.TableOptions[score]{Name: "score", TypeID: 32766})
		noError(t, forged.Write(ctx, func(w *store.Writer) {
			h := table.Insert(w, score{})
			for range items {
				table.Insert(w, score{}) // not in the slot of a value
			}
			if items < 2 {
				table.Remove(w, h)
			}
		}))
		v.Get().Goals = 7
		wantError(t, "Load of a value without its item, with another one, or with three", newer.Load(ctx, bytes.NewReader(image(t, forged))), store.ErrSnapshot)
		equal(t, "after a Load that failed", *v.Get(), score{Goals: 7})
	}
}

func TestValue_DoesNotShiftTypeIDs(t *testing.T) {
	handles := func(values int) []store.Handle[item] {
		s := newStore(t, store.Options{})
		for i := range values {
			newValue(t, s, string(rune('a'+i)))
		}
		table := register(t, s, store.TableOptions[item]{Shards: 3})
		return fill(t, s, table, 10)
	}
	equalLists(t, "handles beside values", handles(5), handles(0)...)
}

func TestAddValue_RefusesInvalidOptions(t *testing.T) {
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
		"a handle inside a map": {func() { store.AddValue(s, store.ColumnOptions[map[int]store.ID]{}) }, "Links"},
		"no store":              {func() { newValue(t, nil, "x") }, "AddValue"},
		"inside a phase": {func() {
			_ = s.Read(t.Context(), func(context.Context) error { newValue(t, s, "x"); return nil })
		}, "phase"},
	} {
		wantIn(t, name, panicOf(test.add), test.want)
	}
	err := faultOf(func() {
		store.NewSchedule(s, store.System{
			Name: "emits", Emits: []store.Resource{table, newValue(t, s, "more")}, Run: nothing,
		})
	})
	wantText(t, "a system that emits to a value", err, `emits to "more"`)
}

func TestValue_IsAResource(t *testing.T) {
	s := newStore(t, store.Options{Workers: 4})
	v := newValue(t, s, "score")
	double := func(context.Context) error { v.Get().Goals *= 2; return nil }
	add := func(context.Context) error { v.Get().Goals++; return nil }
	frame := newSchedule(
		t, s,
		store.System{Name: "add", Writes: on(v), Run: add},
		store.System{Name: "double", Writes: on(v), Run: double},
	)
	for range 5 {
		noError(t, onlyError(frame.Run(t.Context())))
	}
	equal(t, "after five frames of one after the other", v.Get().Goals, 62)
}

func TestValue_PanicsAfterClose(t *testing.T) {
	s := newStore(t, store.Options{})
	v := newValue(t, s, "score")
	noError(t, onlyError(s.Close(t.Context())))
	equal(t, "Get of a closed store", v.Get(), nil)
}

func TestValue_UndeclaredGetNamesIt(t *testing.T) {
	s := newStore(t, store.Options{})
	v := newValue(t, s, "score")
	_, err := newSchedule(t, s, store.System{Name: "x", Run: func(context.Context) error { v.Get(); return nil }}).Run(t.Context())
	if check.Cheap {
		wantError(t, "Run", err, store.ErrPhase, `Get of value "score"`)
	}
}
