package shard_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// written is a map that is changed without a flush.
type written interface {
	EraseItems(ids []handle.ID) int
	InsertItems(values items.Slice, dst []handle.ID) ([]handle.ID, error)
}

// frameModel is the lists of changes of a frame, as a plain model keeps them.
type frameModel struct {
	items    map[handle.ID]uint64 // that live
	created  map[handle.ID]bool
	erased   map[handle.ID]uint64 // with the values before
	replaced map[handle.ID]bool
}

func (m *frameModel) begin() {
	m.created, m.erased, m.replaced = map[handle.ID]bool{}, map[handle.ID]uint64{}, map[handle.ID]bool{}
}

// write erases and inserts items without a flush, so that slots are used again.
func (m *frameModel) write(t *testing.T, r *rand.Rand, tab *table) {
	t.Helper()
	w := tab.Map.(written)
	ids := slices.Sorted(maps.Keys(m.items))
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	ids = ids[:r.IntN(len(ids)/2+1)]
	w.EraseItems(ids)
	for _, id := range ids {
		delete(m.items, id)
	}
	values := make([]uint64, r.IntN(len(ids)+1))
	inserted, err := w.InsertItems(items.From(values), nil)
	noError(t, err)
	for _, id := range inserted {
		m.items[id] = 0
	}
}

// flush records creates, puts and erases, flushes them, and compares the lists.
func (m *frameModel) flush(t *testing.T, r *rand.Rand, tab *table) {
	t.Helper()
	q := tab.queue()
	ids := slices.Sorted(maps.Keys(m.items))
	created, put, erased := make(map[handle.ID]uint64), make(map[handle.ID]uint64), make(map[handle.ID]bool)
	for range r.IntN(12) {
		n := r.Uint64()
		if len(ids) < 5 || r.IntN(3) == 0 {
			created[batch.Emplace(&tab.recorder, q, n).ID] = n
			continue
		}
		id := ids[r.IntN(len(ids))]
		if r.IntN(3) == 0 {
			tab.recorder.Erase(q, id)
			erased[id] = true
		} else {
			batch.PutItem(&tab.recorder, q, handle.Of[uint64]{ID: id}, n)
			put[id] = n
		}
	}
	if r.IntN(8) == 0 {
		tab.plan(t)
		tab.cancel()
	}
	tab.flush(t)
	for id := range erased {
		if !m.created[id] {
			m.erased[id] = m.items[id]
		}
		delete(m.items, id)
	}
	for id, n := range put {
		if erased[id] {
			continue
		}
		m.items[id] = n
		if !m.created[id] {
			m.replaced[id] = true
		}
	}
	for name, n := range created {
		id, _ := tab.recorder.Resolve(name)
		m.items[id], m.created[id] = n, true
	}
	m.compare(t, tab)
}

func (m *frameModel) compare(t *testing.T, tab *table) {
	t.Helper()
	got := make(map[handle.ID]uint64)
	ids, values := tab.ErasedItems()
	for i, id := range ids {
		got[id] = (*items.As[uint64](&values))[i]
	}
	if len(ids) != len(got) || !maps.Equal(got, m.erased) {
		t.Fatalf("ErasedItems = %v, want the items and values %v", ids, m.erased)
	}
	if got, want := slices.Sorted(slices.Values(tab.ReplacedItems())), slices.Sorted(maps.Keys(m.replaced)); !slices.Equal(got, want) {
		t.Fatalf("ReplacedItems = %v, want %v", got, want)
	}
	if got, want := slices.Sorted(slices.Values(slices.Concat(tab.CreatedItems()...))), slices.Sorted(maps.Keys(m.created)); !slices.Equal(got, want) {
		t.Fatalf("CreatedItems = %v, want %v", got, want)
	}
}

// A frame lists each item that its flushes erased or replaced once, and no item that they
// created, also when the map is written between them. Trim(true) keeps the lists, and
// Trim(false) does not.
func TestChanges_ListWhatAPlainModelLists(t *testing.T) {
	kinds(t, func(t *testing.T, stable bool) {
		for seed := range uint64(100) {
			t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 5))
				tab, m := newTable(t, stable), &frameModel{items: map[handle.ID]uint64{}}
				m.begin()
				trimmed := false
				for range 30 {
					tab.written = r.IntN(3) == 0
					if tab.written {
						m.write(t, r, tab)
					}
					if tab.frame = r.IntN(4) > 0 && !trimmed; !tab.frame {
						m.begin()
					}
					trimmed = false
					m.flush(t, r, tab)
					switch r.IntN(8) {
					case 0:
						tab.Trim(true)
						m.compare(t, tab)
					case 1:
						tab.Trim(false)
						trimmed = true
						if erased, _ := tab.ErasedItems(); len(erased)+len(tab.ReplacedItems()) > 0 {
							t.Fatalf("after Trim, %v and %v are listed", erased, tab.ReplacedItems())
						}
					}
				}
			})
		}
	})
}
