package shard_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"handloom/batch"
	"handloom/internal/dense"
	"handloom/internal/items"
	"handloom/internal/paged"
	"handloom/internal/slotset"
	"handloom/internal/sparse"
	"handloom/shard"
	"handloom/shard/handle"
)

// written is a map to change without a flush.
type written interface {
	EraseItems(ids []handle.ID) int
	InsertItems(values items.Slice, dst []handle.ID) ([]handle.ID, error)
}

// table is a table of one shard with sparse data and, if it is packed, a column.
type table struct {
	*shard.Shard
	batch    *batch.Batch
	recorder batch.Recorder
	column   batch.SetLog  // of uint32; only packed tables
	extras   batch.SetLog  // of *uint64
	elements *dense.Column // nil if the table is stable
	data     *sparse.Map
	set      []handle.ID // items whose elements the last flush set
}

func newTable(t testing.TB, stable bool) *table {
	t.Helper()
	tab := &table{batch: batch.New(batch.Limits{}), data: sparse.New(items.For[*uint64]())}
	tab.recorder.Init(tab.batch, 7, 1, items.For[uint64]())
	o := handle.Options{TypeID: 7}
	if stable {
		m, err := paged.New(paged.TypeFor[uint64](), o)
		noError(t, err)
		tab.Shard = shard.New(m, items.For[uint64](), nil, nil)
	} else {
		m, err := dense.New(items.For[uint64](), o)
		noError(t, err)
		tab.Shard = shard.New(m, items.For[uint64](), nil, nil)
		tab.column.Init(&tab.recorder, items.For[uint32](), false, nil, nil)
		tab.elements = m.AddColumn(&dense.Kind{Name: "element", Type: items.For[uint32]()})
		tab.AddColumn(tab.elements, tab.column.Index(), nil, nil, func(id handle.ID, _ unsafe.Pointer) bool {
			tab.set = append(tab.set, id)
			return true
		})
	}
	tab.extras.Init(&tab.recorder, items.For[*uint64](), true, nil, nil)
	tab.AddSparse(tab.data, "extra", tab.extras.Index(), nil, nil, nil)
	return tab
}

func kinds(t *testing.T, test func(t *testing.T, stable bool)) {
	t.Run("packed", func(t *testing.T) { test(t, false) })
	t.Run("stable", func(t *testing.T) { test(t, true) })
}

func (tab *table) queue() batch.Queue { return tab.batch.Begin(1).Queue(0) }

func (tab *table) setExtra(q batch.Queue, id handle.ID, v uint64) {
	*(**uint64)(tab.extras.Set(q, id)) = &v
}

func (tab *table) setElement(q batch.Queue, id handle.ID, v uint32) {
	*(*uint32)(tab.column.Set(q, id)) = v
}

// extra returns the sparse value of an item and whether it has one.
func (tab *table) extra(id handle.ID) (v uint64, ok bool) {
	p, ok := sparse.Find[*uint64](tab.data, id)
	if !ok {
		return 0, false
	}
	return **p, true
}

func (tab *table) plan(t testing.TB) *batch.Commands {
	t.Helper()
	tab.batch.Seal()
	tab.batch.Gather()
	c := tab.recorder.Pending
	tab.Begin()
	tab.Plan(c, 0)
	c.FixSurvivors()
	noError(t, tab.Deal(c, 0, c.Survivors()))
	return c
}

// cancel undoes plan; the batch remains.
func (tab *table) cancel() {
	tab.Cancel()
	tab.recorder.Pending.Reset()
}

// flush applies the recorded batch and verifies the state.
func (tab *table) flush(t testing.TB) (counts batch.Counts) {
	t.Helper()
	tab.set = nil
	c := tab.plan(t)
	if tab.NeedsMemory() {
		tab.MakeRoom()
	}
	if tab.NeedsMemory() {
		t.Fatal("NeedsMemory after MakeRoom")
	}
	tab.Apply(c, 0)
	tab.Report(&counts)
	tab.recorder.Publish(true)
	tab.batch.Finish()
	noError(t, tab.State().Verify())
	return counts
}

// fill creates n items and returns their handles. Values count from 0; every gap-th item
// has a sparse value.
func (tab *table) fill(t testing.TB, n, gap int) []handle.ID {
	t.Helper()
	q := tab.queue()
	ids := make([]handle.ID, n)
	for i := range ids {
		ids[i] = batch.Emplace(&tab.recorder, q, uint64(i)).ID
		if i%gap == gap-1 {
			tab.setExtra(q, ids[i], uint64(i))
		}
	}
	tab.flush(t)
	for i := range ids {
		ids[i], _ = tab.recorder.Resolve(ids[i])
	}
	return ids
}

func TestMoveFrom_ContinuesLikeTheOther(t *testing.T) {
	kinds(t, func(t *testing.T, stable bool) {
		tab := newTable(t, stable)
		ids := tab.fill(t, 5000, 7)
		q := tab.queue()
		tab.recorder.EraseItems(q, ids[500:4500])
		tab.flush(t)
		if m, ok := tab.Map.(*paged.Set); ok {
			m.Shrink()
		}
		other := shard.Copy(tab.State(), shard.State{}, shard.CloneFuncs{})
		if m, ok := other.Map.(*paged.Set); ok {
			m.Shrink()
		}
		empty := newTable(t, stable)
		shard.MoveFrom(empty.State(), other)
		if got, want := empty.State().Digest(), tab.State().Digest(); got != want {
			t.Fatalf("Digest = %x, want %x", got, want)
		}
		for _, tab := range []*table{tab, empty} {
			tab.fill(t, 5000, 3)
		}
		if got, want := empty.State().Digest(), tab.State().Digest(); got != want {
			t.Errorf("after 5000 more creates, Digest = %x, want %x", got, want)
		}
	})
}

// entry is an item of the model.
type entry struct {
	value   uint64
	element uint32
	extra   uint64
	has     bool // has a sparse value
}

// Random batches, canceled, repeated and trimmed, equal a model and a shard without
// cancels.
func TestShard_EqualsModel(t *testing.T) {
	kinds(t, func(t *testing.T, stable bool) {
		for seed := range uint64(30) {
			r := rand.New(rand.NewPCG(seed, 1))
			tab, other, model := newTable(t, stable), newTable(t, stable), make(map[handle.ID]entry)
			if seed%10 == 0 { // enough items for several blocks of Sets
				other.fill(t, 500, 2)
				for i, id := range tab.fill(t, 500, 2) {
					model[id] = entry{value: uint64(i), extra: uint64(i * (i % 2)), has: i%2 == 1}
				}
			}
			for range 20 {
				if r.IntN(5) == 0 { // canceled and dropped
					tab.randomBatch(r, maps.Clone(model), stable)
					tab.plan(t)
					tab.cancel()
					tab.batch.Drop(nil)
				}
				again := r.Uint64()
				other.randomBatch(rand.New(rand.NewPCG(again, 2)), maps.Clone(model), stable)
				created, set := tab.randomBatch(rand.New(rand.NewPCG(again, 2)), model, stable)
				for range r.IntN(3) {
					tab.plan(t)
					tab.cancel()
				}
				if got, want := tab.flush(t), other.flush(t); got != want || tab.State().Digest() != other.State().Digest() {
					t.Fatalf("seed %d: a flush counts %v, want %v, or leaves another state", seed, got, want)
				}
				for name, v := range created {
					id, ok := tab.recorder.Resolve(name)
					if !ok || id.IsZero() {
						t.Fatalf("seed %d: Resolve(%v) = %v, %t", seed, name, id, ok)
					}
					model[id] = v
				}
				if !stable {
					slices.Sort(tab.set)
					if want := slices.Sorted(maps.Keys(set)); !slices.Equal(tab.set, want) {
						t.Fatalf("seed %d: onSet names %v, want %v", seed, tab.set, want)
					}
				}
				tab.compare(t, model)
				if r.IntN(2) == 0 {
					tab.Trim()
				}
			}
		}
	})
}

// randomBatch records random commands and applies them to the model, except creates. It
// returns these by provisional handle, and the existing items whose elements are set.
func (tab *table) randomBatch(r *rand.Rand, model map[handle.ID]entry, stable bool) (created map[handle.ID]entry, set map[handle.ID]bool) {
	q := tab.queue()
	created, set = make(map[handle.ID]entry), make(map[handle.ID]bool)
	ids := slices.Sorted(maps.Keys(model))
	erased := make(map[handle.ID]bool)
	mass := r.IntN(3) == 0
	commands := r.IntN(60)
	if r.IntN(5) == 0 {
		commands *= slotset.Lookahead / 4 // several blocks of each kind
	}
	if mass {
		commands += 40
	}
	var names []handle.ID
	for range commands {
		kind := r.IntN(7)
		if mass && r.IntN(2) == 0 {
			kind = 6
		}
		if kind == 0 || len(ids)+len(names) == 0 {
			v := entry{value: r.Uint64()}
			name := batch.Emplace(&tab.recorder, q, v.value).ID
			names = append(names, name)
			created[name] = v
			continue
		}
		var id handle.ID
		var v entry
		isNew := len(ids) == 0 || kind != 6 && len(names) > 0 && r.IntN(3) == 0
		if isNew {
			id = names[r.IntN(len(names))]
			v = created[id]
		} else {
			id = ids[r.IntN(len(ids))]
			v = model[id]
		}
		switch kind {
		case 1:
			v.value = r.Uint64()
			batch.PutItem(&tab.recorder, q, handle.Of[uint64]{ID: id}, v.value)
		case 2:
			if stable {
				continue
			}
			v.element = r.Uint32()
			tab.setElement(q, id, v.element)
			if !isNew {
				set[id] = true
			}
		case 3, 4:
			v.extra, v.has = r.Uint64(), true
			tab.setExtra(q, id, v.extra)
		case 5:
			v.extra, v.has = 0, false
			tab.extras.Unset(q, id)
		default:
			if isNew {
				continue
			}
			tab.recorder.Erase(q, id)
			erased[id] = true
		}
		if isNew {
			created[id] = v
		} else {
			model[id] = v
		}
	}
	if r.IntN(20) == 0 {
		tab.recorder.EraseAll(q)
		for _, id := range ids {
			erased[id] = true
		}
	}
	for id := range erased {
		delete(model, id)
		delete(set, id)
	}
	return created, set
}

func (tab *table) compare(t *testing.T, model map[handle.ID]entry) {
	t.Helper()
	if tab.Map.Len() != len(model) {
		t.Fatalf("Len = %d, want %d", tab.Map.Len(), len(model))
	}
	have := 0
	for id, want := range model {
		p := (*uint64)(tab.Map.Item(id))
		if p == nil {
			t.Fatalf("item %v is missing", id)
		}
		got := entry{value: *p}
		got.extra, got.has = tab.extra(id)
		if tab.elements != nil {
			row, _ := tab.Map.RowOf(id)
			got.element = *(*uint32)(tab.elements.At(row))
		}
		if got != want {
			t.Fatalf("item %v = %+v, want %+v", id, got, want)
		}
		if want.has {
			have++
		}
	}
	if n := tab.data.Len(); n != have || tab.data.Bytes() < int64(have*(8+4+4)) { // values, owners, index
		t.Fatalf("%d items have optional values in %d bytes, want %d", n, tab.data.Bytes(), have)
	}
	stats := tab.Map.Stats()
	stats.Bytes += tab.data.Bytes()
	if got, state := tab.State().Stats(), tab.State().Stats(); got != stats || state != stats {
		t.Fatalf("Stats of the shard = %+v, of its state = %+v, want %+v", got, state, stats)
	}
}

func TestCopy_ClonesSparseValues(t *testing.T) {
	kinds(t, func(t *testing.T, stable bool) {
		tab := newTable(t, stable)
		ids := tab.fill(t, 20, 2)
		deep := func(dst, src unsafe.Pointer) {
			v := **(**uint64)(src)
			*(**uint64)(dst) = &v
		}
		to := shard.Copy(tab.State(), shard.State{}, shard.CloneFuncs{Data: []func(dst, src unsafe.Pointer){deep}})
		if got, want := to.Digest(), tab.State().Digest(); got != want {
			t.Fatalf("Digest = %x, want %x", got, want)
		}
		for i := 1; i < len(ids); i += 2 {
			from, _ := sparse.Find[*uint64](tab.data, ids[i])
			**from = 99
			if v, ok := sparse.Find[*uint64](to.Sparse(0), ids[i]); !ok || **v != uint64(i) {
				t.Errorf("optional value of item %d = %d, %t after a change of the original, want %d", i, **v, ok, i)
			}
		}
	})
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
