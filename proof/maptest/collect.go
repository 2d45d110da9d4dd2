package maptest

import (
	"runtime"
	"slices"
	"testing"
	"weak"

	"handloom/handle"
	"handloom/internal/check"
)

// PointerItem is the target of pointer items. Its size and pointers keep it in
// its own allocation.
type PointerItem struct {
	_    *PointerItem
	Data [64]byte
}

type holder = handle.Of[*PointerItem]

// The map keeps no pointer of an item whose insert failed (S4).
func (s suite) Insert_PanicReleasesItem(t *testing.T) {
	m := newMap(t, s.PointerItems, Options{Reserve: 16})
	var refs []weak.Pointer[PointerItem]
	fill := func(v **PointerItem) {
		*v = newPointerItem()
		refs = append(refs, weak.Make(*v))
	}
	PanicOf(func() {
		m.InsertFunc(func(_ holder, v **PointerItem) { fill(v); panic("no") })
	})
	// Items that were filled before the panic are released, too.
	PanicOf(func() {
		m.EmplaceItems(5, func(i int, _ holder, v **PointerItem) {
			if fill(v); i == 3 {
				panic("no")
			}
		}, nil)
	})
	if len(refs) != 5 {
		t.Fatalf("%d pointees made, want 5", len(refs))
	}
	ExpectCollected(t, refs)
	runtime.KeepAlive(m)
}

// newPointerItem is not inlined: the caller must not keep the pointer in a register.
//
//go:noinline
func newPointerItem() *PointerItem { return &PointerItem{Data: [64]byte{1}} }

//go:noinline
func InsertPointerItem(t *testing.T, m inserter[*PointerItem]) (holder, weak.Pointer[PointerItem]) {
	p := newPointerItem()
	return Insert(t, m, p), weak.Make(p)
}

// ExpectCollected fails the test if a target of refs is still held.
func ExpectCollected(t *testing.T, refs []weak.Pointer[PointerItem]) {
	t.Helper()
	held := func(ref weak.Pointer[PointerItem]) bool { return ref.Value() != nil }
	if !check.Collected(func() bool { return !slices.ContainsFunc(refs, held) }) {
		t.Errorf("PointerItem %d of %d is still held", slices.IndexFunc(refs, held), len(refs))
	}
}
