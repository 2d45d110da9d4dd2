package maptest

import (
	"fmt"
	"testing"

	"handloom/handle"
	"handloom/internal/seam"
	"handloom/internal/slotset"
)

type number = handle.Of[uint64]

// newMap makes a map that is verified at the end of its test.
func newMap[T any](t testing.TB, k Maker[T], o Options) Map[T] {
	t.Helper()
	m, err := k.New(o)
	if err != nil {
		t.Fatal(err)
	}
	VerifyAtEnd(t, m)
	return m
}

// verifier has invariants.
type verifier interface{ Verify() error }

// VerifyAtEnd makes each test also a test of the invariants.
func VerifyAtEnd(t testing.TB, m verifier) {
	t.Helper()
	t.Cleanup(func() { Verify(t, m) })
}

// Verify fails the test if an invariant of m is broken.
func Verify(t interface {
	Helper()
	Fatal(...any)
}, m verifier,
) {
	t.Helper()
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
}

// SetWidths narrows handle fields until the test ends.
func SetWidths(t testing.TB, lastGeneration uint16, slotLimit uint32) {
	t.Helper()
	t.Cleanup(seam.Narrow(lastGeneration, slotLimit))
}

// EachWidth runs f with full and with narrow handle fields. Narrow fields make
// wrapping, depletion and exhaustion common.
func EachWidth(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Run("width=full", f)
	t.Run("width=narrow", func(t *testing.T) {
		SetWidths(t, 7, 16)
		f(t)
	})
}

// inserter is a map of this suite, or a map of a test outside of it.
type inserter[T any] interface {
	Insert(v T) (handle.Of[T], error)
}

// InsertN inserts the numbers 0 to n-1.
func InsertN(t testing.TB, m inserter[uint64], n int) []number {
	t.Helper()
	hs := make([]number, n)
	for i := range hs {
		hs[i] = Insert(t, m, uint64(i))
	}
	return hs
}

// Insert inserts v; the map must have room.
func Insert[T any](t testing.TB, m inserter[T], v T) handle.Of[T] {
	t.Helper()
	h, err := m.Insert(v)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// deplete uses all generations of one slot of m, which must have no vacant
// slot.
func deplete(t testing.TB, m Map[uint64]) (last number) {
	t.Helper()
	for range slotset.LastGeneration() {
		last = Insert(t, m, 0)
		// The slot is the only vacant one, so the next insert takes it again.
		m.Erase(last)
	}
	return last
}

// itemsOf returns the items in the order of All.
func itemsOf[T any](m Map[T]) (items []T) {
	for _, v := range m.All() {
		items = append(items, *v)
	}
	return items
}

// Numbered returns a handle by its fields.
func Numbered(typeID, generation uint16, slot uint32) number {
	return number{ID: handle.New(typeID, generation, slot)}
}

// PanicOf returns the value with which f panics, or nil.
func PanicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// ExpectNothing fails the test unless h is stale in every method and changes
// nothing.
func ExpectNothing[T any](t testing.TB, m Map[T], what string, h handle.Of[T]) {
	t.Helper()
	before := m.Digest()
	v, found := m.Get(h)
	_, hasRow := m.RowOf(h)
	var marks slotset.Bitset
	mark := m.Core().Mark(&marks, h.ID)
	rows := make([]slotset.Row, 1)
	m.Core().RowsOf([]handle.ID{h.ID}, rows)
	// At is for handles that must be live, so it panics.
	stale, ok := PanicOf(func() { m.At(h) }).(*handle.StaleError)
	for method, wrong := range map[string]bool{
		"Get": found || v != nil, "Has": m.Has(h), "RowOf": hasRow, "RowsOf": rows[0] != slotset.NoRow, "At": !ok || stale.Handle != h.ID,
		"Mark":  mark != slotset.Stale || marks.Len() != 0,
		"Erase": m.Erase(h), "EraseItems": m.EraseItems([]handle.Of[T]{h})+m.EraseItems([]handle.Of[T]{h, h}) != 0,
	} {
		if wrong {
			t.Errorf("%s %v: %s does not find it stale", what, h, method)
		}
	}
	if m.Digest() != before {
		t.Errorf("%s %v: the map has changed", what, h)
	}
}

// ExpectNumbers fails the test unless hs[i] names the value i in m.
func ExpectNumbers(t testing.TB, m interface {
	Get(h number) (*uint64, bool)
}, hs []number,
) {
	t.Helper()
	for i, h := range hs {
		if v, ok := m.Get(h); !ok || *v != uint64(i) {
			t.Errorf("%v names %s, not %d", h, Describe(v), i)
		}
	}
}

// Describe returns a looked up number as text.
func Describe(v *uint64) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprint(*v)
}
