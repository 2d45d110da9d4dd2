package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"handloom/internal/entrance"
	"handloom/store"
)

// lookers are the calls that a claim permits to others.
var lookers = strings.Fields("Read Reduce Digest Verify Snapshot ReadCheckpoint Shuffle Stats Flushed Epoch Timings")

// withoutContext are the calls that cannot identify the driver.
var withoutContext = strings.Fields("Inbox Queues Discard Register RegisterStable AddColumn AddSparse")

type storeClaim = entrance.Claim[store.Queue, *store.Receipt, *store.Writer]

func openClaim(ctx context.Context, s *store.Store) (storeClaim, error) {
	return s.Entrance(entrance.Key{}).OpenClaim(ctx)
}

func claim(t tb, s *store.Store) storeClaim {
	t.Helper()
	c, err := openClaim(context.Background(), s)
	noError(t, err)
	t.Cleanup(c.Release)
	return c
}

func TestClaim_OthersMayOnlyRead(t *testing.T) {
	rows := whoMay(t)
	for name := range newVisitor(t).calls() {
		t.Run(name, func(t *testing.T) {
			atOnce(t, func(t *testing.T) {
				v := newVisitor(t)
				c := claim(t, v.Store)
				check := func(ctx context.Context, fits bool, where string) {
					t.Helper()
					err := attempt(v.calls()[name], ctx)
					if fits && err != nil || !fits && !errors.Is(err, store.ErrPhase) {
						t.Errorf("%s: %v, which should fit: %t", where, err, fits)
					}
				}
				looks := slices.Contains(lookers, name)
				check(t.Context(), looks, "others")
				other := claim(t, newStore(t, store.Options{}))
				check(other.Context(t.Context()), looks, "the driver of another store")
				inWrite, _ := fits(rows, name, []string{"Frame"})
				noError(t, v.enter(c.Context(t.Context()), []string{"Frame"}, func(ctx context.Context) {
					check(ctx, inWrite && name != "Inbox" && name != "Rollback" && name != "Load", "inside a tick")
				}))
				if v.writer = nil; name == "Close" {
					return
				}
				fits, _ := fits(rows, name, []string{"no phase"})
				forAll := name == "Claim" || name == "Submit" || slices.Contains(withoutContext, name)
				check(c.Context(t.Context()), fits && !forAll, "the driver")
				c.Release()
				check(t.Context(), fits || forAll, "after the release")
				if !strings.HasPrefix(name, "Register") { // the name is free once
					check(c.Context(t.Context()), fits || forAll, "the former driver")
				}
			})
		})
	}
}

func TestClaim_RefusedWhileCommandsWait(t *testing.T) {
	c := newUnclaimed(t, store.Options{})
	refused := func(why string) {
		t.Helper()
		wantError(t, "", onlyError(openClaim(t.Context(), c.Store)), store.ErrPhase, why)
	}
	c.stems.Emplace(queues(t, c.Store, 1)[0], stem{})
	refused("1 commands wait for a flush")
	flush(t, c.Store)
	send(t, c.Store, func(q store.Queue) { c.stems.EraseAll(q) })
	refused("1 commands wait for a flush")
	flush(t, c.Store)
	if err := c.Inbox(callOf(func(q store.Queue) {
		c.hold(t)
		c.stems.Emplace(q, stem{})
	})); !errors.Is(err, store.ErrPhase) {
		t.Errorf("a call that was recording: %v", err)
	}
	refused("has claimed the store")
	equal(t, "pending commands", c.Pending().Commands, 0)
	c.claim.Release()
	send(t, c.Store, func(q store.Queue) { c.stems.Emplace(q, stem{}) })
	flush(t, c.Store)
	equal(t, "stems", c.stems.Len(), 1)
}

func TestClaim_RefusesItemsWithoutBytes(t *testing.T) {
	s, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
	store.AddValue(s, store.ColumnOptions[struct{ Of struct{ P *int } }]{Name: "pointers"})
	store.AddValue(s, store.ColumnOptions[struct{ Do func() }]{Name: "functions"})
	_, err := openClaim(t.Context(), s)
	wantError(t, "Claim", err, store.ErrSnapshot, `"pointers"`, ".Of.P of kind ptr", `"functions"`, ".Do of kind func")
	flush(t, s)
}

func TestClaim_UnsealAndResetChangesNeedATick(t *testing.T) {
	c := newClaimed(t, 1)
	wantError(t, "without the context of the claim", c.claim.Unseal(t.Context(), nil, nil), store.ErrPhase)
	wantError(t, "inside a pass", c.Each(c.claim.Context(t.Context()), 1, func(_ int, q store.Queue) {
		q.Fail(c.claim.Unseal(c.claim.Context(q.Context()), nil, nil))
	}), store.ErrPhase)
	wantIn(t, "the panic of ResetChanges", panicOf(c.claim.ResetChanges), "outside a Frame")
	c.claim.Release()
	c.claim.Release()
	wantError(t, "after the release", c.claim.Unseal(t.Context(), nil, nil), store.ErrPhase)
	input, calls := c.claim.Seal([]byte("head"), 1000)
	equal(t, "the input", string(input), "head")
	equal(t, "calls.Len", calls.Len(), 0)
}

// eachOption calls f with zero options, with each field set to one or two values, with all set,
// and with each of these zero.
func eachOption(zero any, f func(field string, o any)) {
	typ := reflect.TypeOf(zero)
	if f("", zero); typ.Kind() != reflect.Struct {
		return
	}
	all := reflect.New(typ).Elem()
	for field := range typ.Fields() {
		numbers := []int{7, 9}
		if k := field.Type.Kind(); k == reflect.Bool || k == reflect.Func || k == reflect.Map {
			numbers = numbers[:1]
		}
		for _, n := range numbers {
			o := reflect.New(typ).Elem()
			switch v := o.FieldByIndex(field.Index); v.Kind() {
			case reflect.String:
				v.SetString(fmt.Sprint("other", n))
			case reflect.Func:
				v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) []reflect.Value { return nil }))
			case reflect.Map:
				v.Set(reflect.MakeMap(v.Type()))
			case reflect.Bool:
				v.SetBool(true)
			default:
				v.Set(reflect.ValueOf(n).Convert(v.Type()))
			}
			all.FieldByIndex(field.Index).Set(o.FieldByIndex(field.Index))
			f(field.Name, o.Interface())
		}
	}
	f("all", all.Interface())
	for field := range typ.Fields() {
		o := reflect.New(typ).Elem()
		o.Set(all)
		o.FieldByIndex(field.Index).SetZero()
		f("all but "+field.Name, o.Interface())
	}
}

// Options that change no state are not part of the schema. Load needs those that are part of the
// snapshot. Tables without Changes or Links keep their schema, so existing logs still open.
func TestSchema_HasEveryOption(t *testing.T) {
	type tables = store.TableOptions[item]
	type columns = store.ColumnOptions[int]
	seen, same, refused := map[string]string{}, map[string]bool{}, map[string]bool{}
	for kind, c := range map[string]struct {
		zero any
		add  func(s *store.Store, o any)
	}{
		"store":  {store.Options{}, func(s *store.Store, _ any) { register(t, s, tables{Name: "t"}) }},
		"type":   {0, func(s *store.Store, _ any) { register(t, s, store.TableOptions[leaf]{Name: "store_test.item"}) }},
		"packed": {tables{}, func(s *store.Store, o any) { register(t, s, o.(tables)) }},
		"stable": {tables{}, func(s *store.Store, o any) { registerStable(t, s, o.(tables)) }},
		"column": {columns{}, func(s *store.Store, o any) { addColumn(t, register(t, s, tables{Changes: true}), o.(columns)) }},
		"sparse": {columns{}, func(s *store.Store, o any) { addSparse(t, register(t, s, tables{Changes: true}), o.(columns)) }},
		"value": {columns{}, func(s *store.Store, o any) {
			v := o.(columns)
			v.Changes = false
			store.AddValue(s, v)
		}},
	} {
		var saved []byte
		eachOption(c.zero, func(field string, o any) {
			if kind == "value" && strings.HasPrefix(field, "all") {
				return // it has one option
			}
			so, _ := o.(store.Options)
			s := newStore(t, so)
			if c.add(s, o); field == "" {
				saved = image(t, s)
			}
			err := s.Load(t.Context(), bytes.NewReader(saved))
			name, text := kind+" "+field, claim(t, s).Schema()
			if was, ok := seen[text]; !ok {
				seen[text] = name
			} else if same[strings.Replace(name, "all but ", "", 1)] = true; was != kind+" " && was != kind+" all" {
				t.Errorf("%s has the schema of %s", name, was)
			}
			if err != nil && !strings.Contains(name, " all") {
				wantError(t, name, err, store.ErrSnapshot)
				refused[fmt.Sprint(name, " ", errors.Is(err, store.ErrSchema))] = true
			}
			const last = "; MaxItems 0, MinFree 0, ChunkItems 2048, Links false, Changes true, FixedKeys false\n"
			if name == "packed Changes" || name == "column " || name == "sparse " {
				equal(t, name, strings.HasSuffix(text, last), true)
			}
		})
	}
	const none = "column Clone,packed Clone,packed Migrate,packed Reserve,sparse Clone,stable Clone,stable Migrate,stable Reserve," +
		"store AfterFlush,store InboxLimit,store Workers,value Changes,value Clone"
	equal(t, "options without effect", strings.Join(slices.Sorted(maps.Keys(same)), ","), none)
	const some = "packed MinFree false,packed Name true,packed Shards true,packed TypeID true," +
		"stable MinFree false,stable Name true,stable Shards true,stable TypeID true,value Name true"
	equal(t, "snapshots refused", strings.Join(slices.Sorted(maps.Keys(refused)), ","), some)
}

type forgetful struct {
	*store.Store
	claim  storeClaim
	table  *store.Table[int]
	stable *store.StableTable[int]
	set    *store.Column[int, int]
	wrote  *store.Column[int, int]
	name   store.Handle[int] // provisional, from the last frame
}

func newForgetful(t *testing.T) *forgetful {
	f := &forgetful{Store: newStore(t, store.Options{Workers: 2})}
	f.table = register(t, f.Store, store.TableOptions[int]{Name: "table", Shards: 2, Changes: true})
	f.stable = registerStable(t, f.Store, store.TableOptions[int]{Name: "stable", Shards: 2, Changes: true})
	f.set = addColumn(t, f.table, store.ColumnOptions[int]{Name: "set", Changes: true})
	f.wrote = addColumn(t, f.table, store.ColumnOptions[int]{Name: "wrote", Changes: true})
	f.claim = claim(t, f.Store)
	return f
}

func (f *forgetful) lists() map[string]int {
	n := map[string]int{
		"Created of table": pairs(store.Created(f.table)), "Created of stable": pairs(store.Created(f.stable)),
		"Erased of table": pairs(store.Erased(f.table)), "Erased of stable": pairs(store.Erased(f.stable)),
		"Written of table": pairs(store.Written(f.table)), "Written of stable": pairs(store.Written(f.stable)),
		"Written of set": pairs(f.set.Written()), "Written of wrote": pairs(f.wrote.Written()),
		"Resolve": 0,
	}
	if _, ok := f.table.Resolve(f.name); ok {
		n["Resolve"]++
	}
	return n
}

func pairs[K, V any](all iter.Seq2[K, V]) (n int) {
	for range all {
		n++
	}
	return n
}

// write runs a tick. ResetChanges must empty the lists.
func (f *forgetful) write(t *testing.T, tick func(ctx context.Context) error) {
	t.Helper()
	noError(t, onlyError(f.Frame(f.claim.Context(t.Context()), func(ctx context.Context, _ *store.Writer) error {
		f.claim.ResetChanges()
		for list, n := range f.lists() {
			equal(t, "entries after ResetChanges of "+list, n, 0)
		}
		return tick(ctx)
	})))
}

func (f *forgetful) change(ctx context.Context) error {
	pass := f.Do(ctx, func(q store.Queue) {
		for i, h := range handles(f.table.All()) {
			switch i {
			case 0:
				f.table.Erase(q, h)
			case 1:
				f.table.Put(q, h, 100)
			case 2:
				f.set.Set(q, h, 100)
			}
		}
		for i, h := range handles(f.stable.All()) {
			switch i {
			case 0:
				f.stable.Erase(q, h)
			case 1:
				f.stable.Put(q, h, 100)
			}
		}
		for n := range 8 {
			f.name = f.table.Emplace(q, n)
			f.stable.Emplace(q, n)
		}
	})
	return errors.Join(pass, onlyError(f.Flush(ctx)))
}

func handles(all seqOf[int]) (hs []store.Handle[int]) {
	for h := range all {
		hs = append(hs, h)
	}
	return hs
}

func (f *forgetful) inPlace(ctx context.Context) error {
	elements := f.table.ForEachRows(ctx, func(c store.Chunk[int]) {
		for i := range c.Items {
			f.wrote.Wrote(c, i)
		}
	})
	packed := f.table.ForEach(ctx, func(c store.Chunk[int]) { c.WroteAll() })
	stable := f.stable.ForEach(ctx, func(c store.StableChunk[int]) {
		for h := range c.All() {
			c.Wrote(h)
		}
	})
	return errors.Join(elements, packed, stable)
}

func TestClaim_ResetChangesEmptiesEveryList(t *testing.T) {
	f := newForgetful(t)
	f.write(t, f.change)
	f.write(t, func(ctx context.Context) error { return errors.Join(f.inPlace(ctx), f.change(ctx)) })
	for list, n := range f.lists() {
		if n == 0 {
			t.Errorf("%s is empty before ResetChanges", list)
		}
	}
	f.write(t, f.inPlace)
	lists := f.lists()
	for _, list := range []string{"Written of table", "Written of stable", "Written of wrote"} {
		if lists[list] == 0 {
			t.Errorf("%s is empty after a pass of the frame", list)
		}
	}
	f.write(t, func(context.Context) error { return nil })
}
