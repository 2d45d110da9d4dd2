package maptest

import (
	"runtime"
	"testing"
	"weak"

	"handloom/shard/handle"
)

// Pointee is what the items point at; it is too large and has a pointer too
// many to share an allocation with another object.
type Pointee struct {
	_    *Pointee
	Data [64]byte
}

type holder = handle.Of[*Pointee]

func (s suite) WhatAPanickingInsertHeldIsCollected(t *testing.T) {
	m := newMap(t, s.Pointees, Options{Reserve: 16})
	var refs []weak.Pointer[Pointee]
	fill := func(v **Pointee) {
		*v = newPointee()
		refs = append(refs, weak.Make(*v))
	}
	PanicOf(func() {
		m.InsertFunc(func(_ holder, v **Pointee) { fill(v); panic("no") })
	})
	PanicOf(func() {
		m.EmplaceItems(5, func(i int, _ holder, v **Pointee) {
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

//go:noinline
func newPointee() *Pointee { return &Pointee{Data: [64]byte{1}} }

// InsertPointee inserts a pointee that nothing else holds.
//
//go:noinline
func InsertPointee(t *testing.T, m inserter[*Pointee]) (holder, weak.Pointer[Pointee]) {
	p := newPointee()
	return Insert(t, m, p), weak.Make(p)
}

// ExpectCollected fails the test if anything holds what refs point at.
func ExpectCollected(t *testing.T, refs []weak.Pointer[Pointee]) {
	t.Helper()
	runtime.GC()
	runtime.GC()
	for i, ref := range refs {
		if ref.Value() != nil {
			t.Errorf("Pointee %d of %d is still held", i, len(refs))
		}
	}
}
