package maptest

import (
	"reflect"

	"handloom/internal/slotset"
	"handloom/proof/model"
	"handloom/shard/handle"
)

// A history runs operations on a map and on both models and compares the three
// after each. What it does next it asks its choices, which come from rapid or
// from the bytes of a fuzzer.
type history[T any] struct {
	reporter
	choices
	kind[T]
	Maker[T]

	m        Map[T]
	abstract *abstractMap
	exact    *exactMap
	issued   []handle.ID // in order
	values   uint64      // given out so far
	saved    *saved[T]   // nil: nothing
}

type choices interface {
	// below returns a number of 0 to n-1.
	below(n int, what string) int
}

type reporter interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// kind makes items from numbers, which is what the models know.
type kind[T any] struct {
	item func(uint64) T
	key  func(*T) uint64 // by which they are ordered; of few values
}

func newHistory[T any](r reporter, c choices, maker Maker[T], k kind[T]) *history[T] {
	most := int(min(slotset.SlotLimit(), 16))
	o := Options{
		TypeID:  []int{0, 1, 7, handle.MaxTypeID}[c.below(4, "typeID")],
		MinFree: min(most, max(0, c.below(8, "minFree")-2)),
	}
	if c.below(2, "limited") == 1 {
		o.MaxItems = 1 + c.below(most, "maxItems")
		most = o.MaxItems
	}
	if c.below(2, "reserved") == 1 {
		o.Reserve = 1 + c.below(most, "reserve")
	}
	m, err := maker.New(o)
	if err != nil {
		r.Fatal(err)
	}
	_, packed := m.(Packed[T])
	return &history[T]{
		reporter: r,
		choices:  c,
		kind:     k,
		Maker:    maker,
		m:        m,
		abstract: newAbstract(),
		exact: newExact(model.Rules{
			TypeID:         uint16(o.TypeID),
			LastGeneration: slotset.LastGeneration(),
			SlotLimit:      uint64(slotset.SlotLimit()),
			MinFree:        o.MinFree,
			MaxItems:       o.MaxItems,
		}, !packed),
	}
}

func (h *history[T]) value() uint64 {
	h.values++
	return h.values
}

// inserted tells the models of an item and checks the handle it got.
func (h *history[T]) inserted(id handle.ID, value uint64) {
	h.Helper()
	if want := handle.ID(h.exact.Insert(value)); id != want {
		h.Fatalf("issued %v, want %v", id, want)
	}
	if !h.abstract.insert(id, value) {
		h.Fatalf("%v is issued twice, or null", id)
	}
	h.issued = append(h.issued, id)
}

// erased tells the models of items that were erased in one operation.
func (h *history[T]) erased(ids ...handle.ID) {
	for _, id := range ids {
		h.abstract.erase(id)
	}
	h.exact.EraseItems(words(ids))
}

// anyHandle is live, stale or forged.
func (h *history[T]) anyHandle() handle.ID {
	slots := h.exact.Figures().Slots
	ids := h.exact.ids()
	switch source := h.below(8, "handle"); {
	case source < 4 && len(ids) > 0:
		return ids[h.below(len(ids), "item")]
	case source < 5 && len(h.issued) > 0:
		return h.issued[h.below(len(h.issued), "issued")]
	case source < 6 && len(h.issued) > 0:
		return h.issued[h.below(len(h.issued), "issued")] ^ 1<<h.below(64, "bit")
	case source < 7 && slots > 0: // the slot's own generation, vacant or not
		return handle.ID(h.exact.Handle(uint32(h.below(slots, "slot")))) | handle.ID(h.below(2, "free bit"))<<63
	default:
		return []handle.ID{0, ^handle.ID(0), handle.New(h.exact.TypeID, 1, uint32(slots)), 1 << 63}[h.below(4, "special")]
	}
}

func (h *history[T]) same(item T, value uint64) bool {
	return reflect.DeepEqual(item, h.item(value))
}

// check compares map and models and verifies the invariants.
func (h *history[T]) check() {
	h.Helper()
	Verify(h, h.m)
	h.checkExact()
	h.checkAbstract()
}

func (h *history[T]) checkExact() {
	h.Helper()
	e := h.exact
	s := h.m.Core().Stats()
	if got := (model.Figures{Live: s.Live, Vacant: s.Vacant, Depleted: s.Depleted, Slots: s.Slots}); got != e.Figures() {
		h.Fatalf("stats %+v, want %+v", got, e.Figures())
	}
	ids := e.ids()
	if h.m.Len() != len(ids) || h.m.Core().Rows() != e.Rows() {
		h.Fatalf("%d items in %d rows, want %d in %d", h.m.Len(), h.m.Core().Rows(), len(ids), e.Rows())
	}
	if m, ok := h.m.(Packed[T]); ok && len(m.Items()) != len(ids) {
		h.Fatalf("Items has %d, want %d", len(m.Items()), len(ids))
	}
	rows := make([]handle.ID, e.Rows()) // null for those without an item
	visited := 0
	for hd, v := range h.m.All() {
		if visited == len(ids) || hd.ID != ids[visited] || !h.same(*v, e.value(hd.ID)) {
			h.Fatalf("visit %d of All is of %v with %v, want one of %v", visited, hd, *v, ids)
		}
		row := e.row(hd.ID)
		if rows[row] = hd.ID; itemAt(h.m, row) != v {
			h.Fatalf("visit %d of All is not of row %d", visited, row)
		}
		visited++
	}
	for row, want := range rows {
		if got := h.m.HandleAt(row).ID; got != want {
			h.Fatalf("row %d has handle %v, want %v", row, got, want)
		}
	}
}

func (h *history[T]) checkAbstract() {
	h.Helper()
	visited := 0
	for hd, v := range h.m.All() {
		visited++
		value, ok := h.abstract.live[hd.ID]
		if !ok || !h.same(*v, value) {
			h.Fatalf("All visits %v with %v, want number %d, live %t", hd, *v, value, ok)
		}
	}
	if visited != len(h.abstract.live) {
		h.Fatalf("All visits %d items of %d", visited, len(h.abstract.live))
	}
	for _, id := range h.issued {
		value, live := h.abstract.live[id]
		v, ok := h.m.Get(handle.Of[T]{ID: id})
		if ok != live || ok && !h.same(*v, value) {
			h.Fatalf("%v resolves: %t, want %t and number %d", id, ok, live, value)
		}
	}
}
