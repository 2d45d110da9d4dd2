package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

type twoKeys struct {
	Keys [2]uint8
	N    uint64
}

func keyOf(i int) func(v *twoKeys) (uint8, bool) {
	return func(v *twoKeys) (uint8, bool) { return v.Keys[i], v.Keys[i] != 0 }
}

type keyModel struct {
	*store.Store
	table   anyTable[twoKeys]
	refused bool // an Insert of the Frame
	byKey   [2]*store.Index[uint8, twoKeys]
	r       *rand.Rand

	events bool // end with each flush
	live   map[store.Handle[twoKeys]]twoKeys
	known  []store.Handle[twoKeys]
}

const (
	mostTwoKeys = 14
	mostKeys    = 20
)

func newKeyModel(t tb, o store.Options, isStable bool, seed uint64) *keyModel {
	t.Helper()
	m := &keyModel{events: seed%4 == 3, Store: newStore(t, o), live: make(map[store.Handle[twoKeys]]twoKeys), r: rand.New(rand.NewPCG(seed, 0))}
	m.table = registerKind(t, m.Store, store.TableOptions[twoKeys]{Name: "twoKeys", Shards: 3, MaxItems: mostTwoKeys, Events: m.events, Changes: seed%4 == 2}, isStable)
	for i := range m.byKey {
		m.byKey[i] = store.AddIndex(m.table, fmt.Sprint("key ", i), keyOf(i))
	}
	return m
}

func (m *keyModel) item() twoKeys {
	return twoKeys{[2]uint8{uint8(m.r.IntN(mostKeys)), uint8(m.r.IntN(2) * m.r.IntN(mostKeys))}, m.r.Uint64()}
}

// verdict returns the error of a flush with this result.
func verdict(live map[store.Handle[twoKeys]]twoKeys, creates bool) error {
	if creates && len(live) > mostTwoKeys {
		return store.ErrFull
	}
	var seen [2][mostKeys]bool
	for _, v := range live {
		for i, k := range v.Keys {
			if k != 0 && seen[i][k] {
				return store.ErrDuplicate
			}
			seen[i][k] = true
		}
	}
	return nil
}

// keyOrder is a recorded command; from is the item, or the handle of a create.
type keyOrder struct {
	erase, all, create bool
	from               store.Handle[twoKeys]
	v                  twoKeys
}

func (m *keyModel) record(q store.Queue, names *[]store.Handle[twoKeys], orders *[]keyOrder) {
	for range m.r.IntN(6) {
		o := keyOrder{v: m.item()}
		if all := slices.Concat(m.known, *names); len(all) > 0 {
			o.from = all[m.r.IntN(len(all))]
		}
		switch n := m.r.IntN(20); {
		case n < 9:
			o.create, o.from = true, m.table.Emplace(q, o.v)
			*names = append(*names, o.from)
		case n < 15:
			m.table.Put(q, o.from, o.v)
		case n < 19:
			o.erase = true
			m.table.Erase(q, o.from)
		default:
			o.all = true
			m.table.EraseAll(q)
		}
		*orders = append(*orders, o)
	}
}

func (m *keyModel) play(queues [][]keyOrder) (map[store.Handle[twoKeys]]twoKeys, error) {
	live, creates := maps.Clone(m.live), false
	all := slices.Concat(queues...)
	if m.events || slices.ContainsFunc(all, func(o keyOrder) bool { return o.all }) {
		clear(live)
	}
	for _, o := range all {
		if o.create {
			live[o.from] = o.v
		}
	}
	for _, o := range all {
		if o.erase {
			delete(live, o.from)
		}
	}
	for _, o := range all {
		if _, ok := live[o.from]; ok && !o.erase && !o.all && !o.create {
			live[o.from] = o.v
		}
		creates = creates || o.create && hasKey(live, o.from)
	}
	return live, verdict(live, creates)
}

func hasKey[K comparable, V any](m map[K]V, k K) bool { _, ok := m[k]; return ok }

// flush flushes and compares.
func (m *keyModel) flush(t tb, ctx context.Context, passes, calls [][]keyOrder) (dropped int, failed bool) {
	t.Helper()
	kept := slices.Concat(passes, calls)
	live, want := m.play(kept)
	if want != nil {
		kept = passes
		if live, want = m.play(kept); want == nil {
			for _, call := range calls {
				if after, err := m.play(append(slices.Clip(kept), call)); err == nil {
					kept, live = append(slices.Clip(kept), call), after
				} else {
					dropped++
				}
			}
		}
	}
	r, err := m.Flush(ctx)
	if want != nil {
		if !errors.Is(err, store.ErrDuplicate) && !errors.Is(err, store.ErrFull) {
			t.Fatalf("Flush: %v, want %v", err, want)
		}
		return 0, true
	}
	noError(t, err)
	equal(t, "dropped calls", r.DroppedCalls, dropped)
	clear(m.live)
	for _, o := range slices.Concat(slices.Concat(passes, calls)...) {
		if !o.create {
			continue
		}
		h, ok := m.table.Resolve(o.from)
		if v, lives := live[o.from]; ok != lives {
			t.Fatalf("Resolve of the create of %v: %t, want %t", o.v, ok, lives)
		} else if ok {
			delete(live, o.from)
			m.live[h], m.known = v, append(m.known, h)
		}
	}
	maps.Copy(m.live, live)
	return dropped, false
}

func (m *keyModel) tick(t tb, ctx context.Context, inWrite bool) (dropped int, failed bool) {
	t.Helper()
	var names []store.Handle[twoKeys]
	passes, calls := make([][]keyOrder, 2+m.r.IntN(3)), make([][]keyOrder, 0, 8)
	call := func() {
		send(t, m.Store, func(q store.Queue) {
			var outer, inner []keyOrder
			m.record(q, &names, &outer)
			if m.r.IntN(4) == 0 { // an earlier call; this one uses its creates
				send(t, m.Store, func(q store.Queue) { m.record(q, &names, &inner) })
				calls = append(calls, inner)
			}
			m.record(q, &names, &outer)
			calls = append(calls, outer)
		})
	}
	dead := func(v *twoKeys) bool { return v.N%16 == 0 }
	noError(t, store.EraseFunc(ctx, m.table, dead))
	for h, v := range m.live {
		if dead(&v) {
			passes[0] = append(passes[0], keyOrder{erase: true, from: h})
		}
	}
	if inWrite {
		for i := range passes[1:] {
			noError(t, m.Do(ctx, func(q store.Queue) { m.record(q, &names, &passes[1+i]) }))
		}
	} else {
		qs := queues(t, m.Store, len(passes)-1)
		for _, i := range m.r.Perm(len(qs)) {
			m.record(qs[i], &names, &passes[1+i])
			if m.r.IntN(3) == 0 {
				call()
			}
		}
		for range m.r.IntN(3) {
			call()
		}
	}
	calls = slices.DeleteFunc(calls, func(c []keyOrder) bool { return len(c) == 0 })
	return m.flush(t, ctx, passes, calls)
}

func (m *keyModel) change(t tb, w *store.Writer) {
	t.Helper()
	for range m.r.IntN(5) {
		v := m.item()
		live := maps.Clone(m.live)
		live[store.Handle[twoKeys]{}] = v
		switch want := verdict(live, true); m.r.IntN(7) {
		case 0:
			m.table.Clear(w)
			clear(m.live)
		case 1, 2:
			if len(m.known) > 0 {
				h := m.known[m.r.IntN(len(m.known))]
				equal(t, "Remove", m.table.Remove(w, h), hasKey(m.live, h))
				delete(m.live, h)
			}
		default:
			h := m.table.Insert(w, v)
			equal(t, "the null handle of a refused Insert", h.ID.IsZero(), want != nil)
			if want == nil {
				m.live[h], m.known = v, append(m.known, h)
			}
			m.refused = m.refused || want != nil
			m.compare(t, false)
		}
	}
}

func (m *keyModel) compare(t tb, all bool) {
	t.Helper()
	got := make(map[store.Handle[twoKeys]]twoKeys)
	for h, v := range m.table.All() {
		got[h] = *v
	}
	if !maps.Equal(got, m.live) {
		t.Fatalf("items: %v, want %v", got, m.live)
	}
	for i, x := range m.byKey {
		for k := range uint8(mostKeys) {
			var want store.Handle[twoKeys]
			for h, v := range m.live {
				if k != 0 && v.Keys[i] == k {
					want = h
				}
			}
			if h, ok := x.Find(k); ok != !want.ID.IsZero() && all || ok && h != want {
				t.Fatalf("key %d of index %d: got %v, %t, want %v", k, i, h, ok, want)
			}
		}
	}
}

// The model gives items, dropped calls and failed flushes.
func TestIndex_MatchesModel(t *testing.T) {
	bothKinds(t, func(t *testing.T, isStable bool) {
		programs, all, bad := uint64(60), 0, 0
		if testing.Short() {
			programs = 10
		}
		for seed := range programs {
			var digests []uint64
			for _, workers := range []int{1, 2, 8} {
				t.Run(fmt.Sprintf("seed=%d/workers=%d", seed, workers), func(t *testing.T) {
					m := newKeyModel(t, store.Options{Workers: workers}, isStable, seed)
					dropped, failed := m.playAll(t)
					all, bad = all+dropped, bad+failed
					digests = append(digests, digest(t, m.Store))
				})
			}
			if len(slices.Compact(digests)) > 1 {
				t.Fatalf("seed %d: digests differ between workers", seed)
			}
		}
		atLeast(t, "calls dropped", all, int(programs))
		atLeast(t, "flushes failed", bad, int(programs))
	})
}

func (m *keyModel) playAll(t *testing.T) (dropped, failed int) {
	ctx := t.Context()
	var saved store.Checkpoint
	var old, written map[store.Handle[twoKeys]]twoKeys
	var file []byte
	for range 25 {
		fails := false
		tick := func(ctx context.Context, inWrite bool) {
			n, bad := m.tick(t, ctx, inWrite)
			dropped, fails = dropped+n, fails || bad
		}
		switch n := m.r.IntN(12); {
		case n < 6 || m.events && n < 9:
			tick(ctx, false)
		case n < 9:
			m.refused = false
			_, err := m.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
				m.change(t, w)
				if tick(ctx, true); fails {
					return errTask // later changes may let the end of the Frame flush the batch
				}
				m.change(t, w)
				return nil
			})
			if got := errors.Is(err, store.ErrDuplicate) || errors.Is(err, store.ErrFull); got != (m.refused && !fails) || !got && fails != errors.Is(err, errTask) {
				t.Fatalf("Frame: %v, an Insert was refused: %t, a flush: %t", err, m.refused, fails)
			}
		case n < 10:
			checkpoint(t, m.Store, &saved)
			old = maps.Clone(m.live)
			file, written = image(t, m.Store), old
		case n < 11 && old != nil:
			rollback(t, m.Store, &saved)
			m.live = maps.Clone(old)
		case file != nil:
			noError(t, m.Load(ctx, bytes.NewReader(file)))
			m.live = maps.Clone(written)
		}
		if fails {
			failed++
			noError(t, m.Discard())
		}
		m.compare(t, true)
		noError(t, m.Verify(ctx))
	}
	return dropped, failed
}

func newTwoKeys(t tb) (*store.Store, *store.Table[twoKeys], *store.Index[uint8, twoKeys]) {
	t.Helper()
	s := newStore(t, store.Options{})
	table := register(t, s, store.TableOptions[twoKeys]{Name: "twoKeys", Links: func(v *twoKeys, _ func(*store.ID)) {}})
	return s, table, store.AddIndex(table, "key", keyOf(0))
}

type (
	hashed interface{ hashed() }
	noHash []int
	aHash  uint8
)

func (noHash) hashed() {}
func (aHash) hashed()  {}

// The flush after it removes the keys before the puts, too.
func TestIndex_PanicOfKeyForgetsNoPut(t *testing.T) {
	s := newStore(t, store.Options{})
	table := register(t, s, store.TableOptions[twoKeys]{})
	bad := false
	x := store.AddIndex(table, "key", func(v *twoKeys) (uint8, bool) {
		if bad && v.Keys[0] == 2 {
			panic("a bad key")
		}
		return v.Keys[0], true
	})
	q := queues(t, s, 1)[0]
	h := table.Emplace(q, twoKeys{Keys: [2]uint8{1}})
	flush(t, s)
	h = resolve(t, table, h)
	table.Put(queues(t, s, 1)[0], h, twoKeys{Keys: [2]uint8{2}})
	bad = true
	if _, ok := errors.AsType[*store.PanicError](onlyError(s.Flush(t.Context()))); !ok {
		t.Error("a flush with a bad key succeeds")
	}
	bad = false
	flush(t, s)
	equal(t, "the key before the put is found", found(x.Find(1)), false)
	now, _ := x.Find(2)
	equal(t, "the item of its key", now, h)
}

func TestSubmit_PanicOfKeyFailsAlone(t *testing.T) {
	s := newStore(t, store.Options{})
	table := register(t, s, store.TableOptions[twoKeys]{})
	x := store.AddIndex(table, "key", func(v *twoKeys) (hashed, bool) {
		if v.N == 7 {
			panic("a bad one")
		}
		return map[bool]hashed{true: noHash{}, false: aHash(v.Keys[0])}[v.N == 8], true
	})
	serve(t, s)
	calls := make([]func(q store.Queue), 10)
	for i := range calls {
		calls[i] = func(q store.Queue) { table.Emplace(q, twoKeys{Keys: [2]uint8{uint8(i / 2)}, N: uint64(i)}) }
	}
	panics, taken := 0, 0
	for _, err := range submitAll(t, s, calls...) {
		var panicked *store.PanicError
		if errors.As(err, &panicked) {
			panics++
		} else if errors.Is(err, store.ErrDuplicate) {
			taken++
		}
	}
	equal(t, "panics", panics, 2)
	equal(t, "keys that are taken", taken, 3)
	equal(t, "an item with key 3", found(x.Find(aHash(3))), true)
}

// An index is not state. Verify and Flush find a key that was changed in place.
func TestIndex_KeyChangedInPlaceIsFound(t *testing.T) {
	s, table, x := newTwoKeys(t)
	var h store.Handle[twoKeys]
	write(t, s, func(w *store.Writer) {
		h = table.Insert(w, twoKeys{Keys: [2]uint8{1}})
		table.At(h).Keys[0] = 2
	})
	equal(t, "the key before", found(x.Find(1)), false)
	equal(t, "the key after", found(x.Find(2)), false)
	wantText(t, "Verify", s.Verify(t.Context()), fmt.Sprintf(`index "key": item %v in row 0 of shard 0 has key 2`, h))
	noError(t, s.Do(t.Context(), func(q store.Queue) { table.Emplace(q, twoKeys{Keys: [2]uint8{1}}) }))
	if check.Full {
		wantIn(t, "a flush of a checked build", panicOf(func() { _, _ = s.Flush(t.Context()) }), fmt.Sprintf("item %v in row 0", h))
	} else {
		flush(t, s)
	}
	write(t, s, func(w *store.Writer) { table.Clear(w) })
}

// An item takes the key of another one in place, and is removed. The index keeps the other one.
func TestIndex_RemovedItemHidesNoOther(t *testing.T) {
	s, table, x := newTwoKeys(t)
	write(t, s, func(w *store.Writer) {
		owner := table.Insert(w, twoKeys{Keys: [2]uint8{2}})
		h := table.Insert(w, twoKeys{Keys: [2]uint8{1}})
		table.At(h).Keys[0] = 2
		table.Remove(w, h)
		got, _ := x.Find(2)
		equal(t, "the item with key 2", got, owner)
		table.Clear(w)
	})
}

func TestLoad_RefusesDuplicateKeys(t *testing.T) {
	without := newStore(t, store.Options{})
	table := register(t, without, store.TableOptions[twoKeys]{Name: "twoKeys"})
	write(t, without, func(w *store.Writer) {
		for range 2 {
			table.Insert(w, twoKeys{Keys: [2]uint8{9}})
		}
	})
	s, _, x := newTwoKeys(t)
	before := digest(t, s)
	for _, err := range []error{s.Load(t.Context(), bytes.NewReader(image(t, without))), s.ReadCheckpoint(t.Context(), bytes.NewReader(image(t, without)), new(store.Checkpoint))} {
		wantError(t, "a snapshot with two items of one key", err, store.ErrDuplicate, `table "twoKeys"`, "key 9")
		wantError(t, "a snapshot with two items of one key", err, store.ErrSnapshot)
	}
	equal(t, "digest", digest(t, s), before)
	equal(t, "an item with key 9", found(x.Find(9)), false)
}

// A copy from before an index may have two items of one key. Keys changed in place are copied,
// too: the state is restored, and the error says that the index does not fit it.
func TestRollback_ReportsKeysThatDoNotFit(t *testing.T) {
	twice := newStore(t, store.Options{})
	other := register(t, twice, store.TableOptions[twoKeys]{Name: "twoKeys"})
	write(t, twice, func(w *store.Writer) {
		for range 2 {
			other.Insert(w, twoKeys{Keys: [2]uint8{9}})
		}
	})
	for _, file := range [][]byte{nil, image(t, twice)} {
		s := newStore(t, store.Options{})
		table := register(t, s, store.TableOptions[twoKeys]{Name: "twoKeys"})
		var before store.Checkpoint
		if checkpoint(t, s, &before); file != nil {
			noError(t, s.ReadCheckpoint(t.Context(), bytes.NewReader(file), &before))
		}
		store.AddIndex(table, "key", keyOf(0))
		wantError(t, "Rollback", s.Rollback(t.Context(), &before), store.ErrCheckpoint, `before index "key" was added to table "twoKeys"`)
		equal(t, "items", table.Len(), 0)
		checkpoint(t, s, &before)
		rollback(t, s, &before)
	}

	s, table, x := newTwoKeys(t)
	var h store.Handle[twoKeys]
	write(t, s, func(w *store.Writer) {
		table.Insert(w, twoKeys{Keys: [2]uint8{1}})
		h = table.Insert(w, twoKeys{Keys: [2]uint8{2}})
	})
	var good, bad store.Checkpoint
	checkpoint(t, s, &good)
	table.At(h).Keys[0] = 1
	broken := digest(t, s)
	checkpoint(t, s, &bad)
	rollback(t, s, &good)
	wantError(t, "Rollback", s.Rollback(t.Context(), &bad), store.ErrDuplicate, `table "twoKeys": index "key"`, "the state is restored")
	equal(t, "digest", digest(t, s), broken)
	rollback(t, s, &good)
	equal(t, "an item with key 2", found(x.Find(2)), true)
}

func TestAddIndex_RefusesInvalidArguments(t *testing.T) {
	s, table, x := newTwoKeys(t)
	key := keyOf(0)
	for name, test := range map[string]struct {
		add  func()
		want string
	}{
		"a name that is taken": {func() { store.AddIndex(table, "key", key) }, `AddIndex "key" to table "twoKeys": the name is taken`},
		"no name":              {func() { store.AddIndex(table, "", key) }, "the name is empty"},
		"no table":             {func() { store.AddIndex((*store.Table[twoKeys])(nil), "x", key) }, "AddIndex with a nil table"},
		"no function":          {func() { store.AddIndex[uint8](table, "x", nil) }, "AddIndex with a nil key function"},
		"a handle as key": {func() {
			store.AddIndex(table, "x", func(*twoKeys) (k struct{ Of store.Handle[item] }, ok bool) { return k, ok })
		}, "use AddSparse or GroupBy"},
		"inside a phase": {func() {
			_ = s.Read(t.Context(), func(context.Context) error { store.AddIndex(table, "x", key); return nil })
		}, "phase"},
	} {
		wantIn(t, name, panicOf(test.add), test.want)
	}
	flush(t, s)
	wantIn(t, "after the first frame", panicOf(func() { store.AddIndex(table, "x", key) }), "right after Register")
	noError(t, onlyError(s.Close(t.Context())))
	equal(t, "Find in a closed store", found(x.Find(1)), false)
}

func TestIndex_NaNIsNoKey(t *testing.T) {
	s := newStore(t, store.Options{})
	table := register(t, s, store.TableOptions[uint64]{})
	store.AddIndex(table, "value", func(v *uint64) (float64, bool) { return math.Float64frombits(*v), true })
	nan := math.Float64bits(math.NaN())
	send(t, s, func(q store.Queue) { table.EmplaceItems(q, []uint64{nan, nan, math.Float64bits(1)}, nil) })
	equal(t, "items created", flush(t, s).Total.Created, 3)
	noError(t, s.Verify(t.Context()))
}
