package slotmap_test

import (
	"fmt"
	"testing"

	"handloom/internal/narrow"
	"handloom/shard/handle"
	"handloom/shard/slotmap"
)

// Handles of most tests here.
type number = handle.Of[uint64]

// newMap returns a map of which the invariants are checked when the test ends.
func newMap[T any](t testing.TB, o slotmap.Options) *slotmap.Map[T] {
	t.Helper()
	m, err := slotmap.New[T](o)
	if err != nil {
		t.Fatal(err)
	}
	verifyAtEnd(t, m)
	return m
}

func verifyAtEnd[T any](t testing.TB, m *slotmap.Map[T]) {
	t.Helper()
	t.Cleanup(func() { verify(t, m) })
}

func verify[T any](t interface {
	Helper()
	Fatal(...any)
}, m *slotmap.Map[T],
) {
	t.Helper()
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
}

// setWidths makes handle fields narrow until the test ends.
func setWidths(t testing.TB, lastGeneration uint16, slotLimit uint32) {
	t.Helper()
	generation, slots := narrow.LastGeneration, narrow.SlotLimit
	t.Cleanup(func() { narrow.LastGeneration, narrow.SlotLimit = generation, slots })
	narrow.LastGeneration, narrow.SlotLimit = lastGeneration, slotLimit
}

// eachWidth runs f with the full handle fields and with narrow ones, where
// wrapping, depletion and exhaustion are common.
func eachWidth(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Run("width=full", f)
	t.Run("width=narrow", func(t *testing.T) {
		setWidths(t, 7, 16)
		f(t)
	})
}

// insertN inserts the values from 0 to n-1.
func insertN(t testing.TB, m *slotmap.Map[uint64], n int) []number {
	t.Helper()
	hs := make([]number, n)
	for i := range hs {
		hs[i] = insert(t, m, uint64(i))
	}
	return hs
}

func insert[T any](t testing.TB, m *slotmap.Map[T], v T) handle.Of[T] {
	t.Helper()
	h, err := m.Insert(v)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// deplete uses up every generation of one slot of m, which has none vacant.
func deplete(t testing.TB, m *slotmap.Map[uint64]) (last number) {
	t.Helper()
	for range narrow.LastGeneration {
		last = insert(t, m, 0)
		m.Erase(last)
	}
	return last
}

// itemsOf are the items of a map in ascending order of rows.
func itemsOf[T any](m *slotmap.Map[T]) (items []T) {
	for _, v := range m.All() {
		items = append(items, *v)
	}
	return items
}

func number64(typeID, generation uint16, slot uint32) number {
	return number{ID: handle.New(typeID, generation, slot)}
}

// panicOf returns what f panics with, nil when it does not.
func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// expectNothing fails the test unless h resolves nowhere and changes nothing.
func expectNothing[T any](t testing.TB, m *slotmap.Map[T], what string, h handle.Of[T]) {
	t.Helper()
	before := m.Digest()
	if v, ok := m.Get(h); ok || v != nil {
		t.Errorf("%s %v: Get finds an item", what, h)
	}
	if m.Has(h) {
		t.Errorf("%s %v: Has finds an item", what, h)
	}
	if row, ok := m.RowOf(h); ok {
		t.Errorf("%s %v: RowOf finds row %d", what, h, row)
	}
	if m.Call(h, func(*T) { t.Errorf("%s %v: Call calls", what, h) }) {
		t.Errorf("%s %v: Call finds an item", what, h)
	}
	var marks slotmap.Marks
	if got := m.Mark(&marks, h.ID); got != slotmap.Stale || marks.Len() != 0 || m.IsMarked(&marks, h.ID) {
		t.Errorf("%s %v: Mark says %v", what, h, got)
	}
	if m.Erase(h) {
		t.Errorf("%s %v: Erase erases", what, h)
	}
	if _, ok := m.Take(h); ok {
		t.Errorf("%s %v: Take takes", what, h)
	}
	if n := m.EraseItems([]handle.Of[T]{h}) + m.EraseItems([]handle.Of[T]{h, h}); n != 0 {
		t.Errorf("%s %v: EraseItems erases %d items", what, h, n)
	}
	if stale, ok := panicOf(func() { m.At(h) }).(*slotmap.StaleError); !ok || stale.Handle != h.ID {
		t.Errorf("%s %v: At panics with %v", what, h, stale)
	}
	if m.Digest() != before {
		t.Errorf("%s %v: the map has changed", what, h)
	}
}

// expectNumbers fails the test unless hs[i] names the value i in m.
func expectNumbers(t testing.TB, m *slotmap.Map[uint64], hs []number) {
	t.Helper()
	for i, h := range hs {
		if v, ok := m.Get(h); !ok || *v != uint64(i) {
			t.Errorf("%v names %s, not %d", h, describe(v), i)
		}
	}
}

func describe(v *uint64) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprint(*v)
}
