package slotmap_test

import (
	"reflect"

	"handloom/internal/narrow"
	"handloom/shard/handle"
	"handloom/shard/slotmap"
)

// A history runs operations on a map and on both models and compares the three
// after each. What it does next it asks its choices, which come from rapid or
// from the bytes of a fuzzer.
type history[T any] struct {
	reporter
	choices
	kind[T]

	m        *slotmap.Map[T]
	abstract *abstractModel
	exact    *exactModel
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
}

func newHistory[T any](r reporter, c choices, k kind[T]) *history[T] {
	most := int(min(narrow.SlotLimit, 16))
	o := slotmap.Options{
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
	m, err := slotmap.New[T](o)
	if err != nil {
		r.Fatal(err)
	}
	return &history[T]{
		reporter: r,
		choices:  c,
		kind:     k,
		m:        m,
		abstract: newAbstractModel(),
		exact: &exactModel{
			typeID:   uint16(o.TypeID),
			last:     int(narrow.LastGeneration),
			limit:    uint64(narrow.SlotLimit),
			minFree:  o.MinFree,
			maxItems: o.MaxItems,
		},
	}
}

func (h *history[T]) value() uint64 {
	h.values++
	return h.values
}

// inserted tells the models of an item and checks the handle it got.
func (h *history[T]) inserted(id handle.ID, value uint64) {
	h.Helper()
	if want := h.exact.insert(value); id != want {
		h.Fatalf("issued %v, want %v", id, want)
	}
	if !h.abstract.insert(id, value) {
		h.Fatalf("%v is issued twice, or null", id)
	}
	h.issued = append(h.issued, id)
}

// erased tells the models of rows that were erased in one operation.
func (h *history[T]) erased(rows ...int) {
	for _, row := range rows {
		h.abstract.erase(h.exact.id(row))
	}
	h.exact.erase(rows...)
}

// anyRow is a row with an item.
func (h *history[T]) anyRow() int {
	rows := h.exact.rows()
	return rows[h.below(len(rows), "row")]
}

// anyHandle is live, stale or forged.
func (h *history[T]) anyHandle() handle.ID {
	slots := len(h.exact.slots)
	switch source := h.below(8, "handle"); {
	case source < 4 && len(h.exact.rows()) > 0:
		return h.exact.id(h.anyRow())
	case source < 5 && len(h.issued) > 0:
		return h.issued[h.below(len(h.issued), "issued")]
	case source < 6 && len(h.issued) > 0:
		return h.issued[h.below(len(h.issued), "issued")] ^ 1<<h.below(64, "bit")
	case source < 7 && slots > 0: // the slot's own generation, vacant or not
		return h.exact.id(h.below(slots, "slot")) | handle.ID(h.below(2, "free bit"))<<63
	default:
		return []handle.ID{0, ^handle.ID(0), handle.New(h.exact.typeID, 1, uint32(slots)), 1 << 63}[h.below(4, "special")]
	}
}

func (h *history[T]) same(item T, value uint64) bool {
	return reflect.DeepEqual(item, h.item(value))
}

// check compares map and models and verifies the invariants.
func (h *history[T]) check() {
	h.Helper()
	verify(h, h.m)
	h.checkExact()
	h.checkAbstract()
}

func (h *history[T]) checkExact() {
	h.Helper()
	e, rows := h.exact, h.exact.rows()
	s := h.m.Stats()
	if s.Live != len(rows) || s.Vacant != len(e.vacant) || s.Depleted != e.depleted || s.Slots != len(e.slots) {
		h.Fatalf("stats %+v, want %d live, %d vacant, %d depleted of %d", s, len(rows), len(e.vacant), e.depleted, len(e.slots))
	}
	if h.m.Len() != len(rows) || h.m.Rows() != len(e.slots) {
		h.Fatalf("%d items in %d rows, want %d in %d", h.m.Len(), h.m.Rows(), len(rows), len(e.slots))
	}
	visited := 0
	for hd, v := range h.m.All() {
		if visited == len(rows) || hd.ID != e.id(rows[visited]) || !h.same(*v, e.slots[rows[visited]].value) {
			h.Fatalf("visit %d of All is of %v with %v, items at %v", visited, hd, *v, rows)
		}
		visited++
	}
	for row := range e.slots {
		if got := h.m.HandleAt(row).ID; e.slots[row].live && got != e.id(row) || !e.slots[row].live && got != 0 {
			h.Fatalf("row %d has handle %v, want %v, live: %t", row, got, e.id(row), e.slots[row].live)
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
