package maptest

import (
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"

	"handloom/internal/slotset"
)

// A caller runs an operation whose callback calls body; a mutator changes the map.
type (
	caller  = func(m Map[uint64], body func())
	mutator = func(m Map[uint64])
)

// callbacks are the map operations with callbacks. Each calls body from its
// callback.
func (s suite) callbacks() map[string]caller {
	callbacks := map[string]caller{
		"InsertFunc": func(m Map[uint64], body func()) {
			m.InsertFunc(func(_ number, v *uint64) { *v = 99; body() })
		},
		"EmplaceItems": func(m Map[uint64], body func()) {
			m.EmplaceItems(4, func(i int, _ number, v *uint64) {
				// In the middle of the batch: earlier items are filled in, later ones are
				// not.
				if *v = 99; i == 2 {
					body()
				}
			}, nil)
		},
		"CopyTo": func(m Map[uint64], body func()) {
			m.CopiedTo(s.Numbers.Zero(), func(dst, src *uint64) {
				if *dst = *src; *src == 2 {
					body()
				}
			})
		},
		"EraseFunc": func(m Map[uint64], body func()) {
			m.EraseFunc(func(_ number, v *uint64) bool {
				if *v == 2 {
					body()
				}
				return true
			})
		},
	}
	if s.Packed {
		maps.Copy(callbacks, orderCallbacks)
	}
	return callbacks
}

// mutators are the operations that change a map. None may run inside a callback.
func (s suite) mutators() map[string]mutator {
	var marks slotset.Bitset
	mutators := map[string]mutator{
		"Insert":       func(m Map[uint64]) { m.Insert(1) },
		"InsertFunc":   func(m Map[uint64]) { m.InsertFunc(func(number, *uint64) {}) },
		"InsertItems":  func(m Map[uint64]) { m.InsertItems([]uint64{1}, nil) },
		"EmplaceItems": func(m Map[uint64]) { m.EmplaceItems(1, func(int, number, *uint64) {}, nil) },
		"Erase":        func(m Map[uint64]) { m.Erase(m.HandleAt(0)) },
		"EraseItems":   func(m Map[uint64]) { m.EraseItems([]number{m.HandleAt(0), m.HandleAt(1)}) },
		"EraseFunc":    func(m Map[uint64]) { m.EraseFunc(func(number, *uint64) bool { return true }) },
		"EraseMarked":  func(m Map[uint64]) { m.Core().EraseMarked(&marks) },
		"Clear":        func(m Map[uint64]) { m.Clear() },
		"Reset":        func(m Map[uint64]) { m.Reset() },
		"Reserve":      func(m Map[uint64]) { m.Reserve(16) },
		"ReserveMore":  func(m Map[uint64]) { m.Core().ReserveMore(1) },
		"Shrink":       func(m Map[uint64]) { m.Shrink() },
		"Clone":        func(m Map[uint64]) { m.Cloned() },
		"CopyTo":       func(m Map[uint64]) { s.Numbers.Zero().CopiedTo(m, nil) },
		"CopyTo of it": func(m Map[uint64]) { m.CopiedTo(s.Numbers.Zero(), nil) },
	}
	if s.Packed {
		maps.Copy(mutators, orderMutators)
	}
	return mutators
}

// A callback that panics or ends its goroutine leaves the map as it was, and usable.
func (s suite) Callback_PanicKeepsTheMap(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		for name, call := range s.callbacks() {
			// Goexit runs deferred functions but gives recover no value.
			for _, end := range []func(){func() { panic(name) }, runtime.Goexit} {
				m := newMap(t, s.Numbers, Options{})
				hs := InsertN(t, m, 5)
				// A vacant slot shows below whether the failed operation took it.
				m.Erase(hs[4])
				// Otherwise the first Defragment of the test would begin a round, which is
				// a change.
				beginRound(m)
				before := m.Digest()
				// Goexit ends the goroutine, so the call needs one of its own.
				done := make(chan any)
				go func() {
					defer func() { done <- recover() }()
					call(m, end)
				}()
				if v := <-done; v != nil && v != name {
					t.Errorf("%s panics with %v", name, v)
				}
				if m.Digest() != before {
					t.Errorf("%s changed the map", name)
				}
				Verify(t, m)
				// The slot of the erased item is next, with its second generation.
				if h := Insert(t, m, 4); h != Numbered(0, 2, 4) { // usable, no slot lost
					t.Errorf("after %s the map issues %v", name, h)
				}
				// A mark that is left over would erase its item here.
				if n := m.EraseFunc(func(number, *uint64) bool { return false }); n != 0 {
					t.Errorf("after %s marks of %d items are left", name, n)
				}
				ExpectNumbers(t, m, hs[:4])
			}
		}
	})
}

// A change from a callback panics with the names of map and operation, and changes nothing.
func (s suite) Callback_ChangePanics(t *testing.T) {
	mutators := s.mutators()
	EachWidth(t, func(t *testing.T) {
		for callback, call := range s.callbacks() {
			for mutator, mutate := range mutators {
				m := newMap(t, s.Numbers, Options{Reserve: 10}) // Reserve avoids growth
				InsertN(t, m, 5)
				beginRound(m)
				before := m.Digest()
				message := fmt.Sprint(PanicOf(func() { call(m, func() { mutate(m) }) }))
				// Names of mutators may have a second word.
				called, _, _ := strings.Cut(mutator, " ")
				if !strings.Contains(message, s.Name+": "+called+" called from a callback of the same map") {
					t.Errorf("%s from %s: %s", mutator, callback, message)
				}
				if m.Digest() != before {
					t.Errorf("%s from %s changed the map", mutator, callback)
				}
				Verify(t, m)
			}
		}
	})
}

// Lookups and iteration are allowed in callbacks and see the items before the call.
func (s suite) Callback_MayLookUp(t *testing.T) {
	for name, call := range s.callbacks() {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 5)
		called := false
		call(m, func() {
			called = true
			ExpectNumbers(t, m, hs)
			if n := len(itemsOf(m)); n != 5 {
				t.Errorf("%s shows its callback %d items", name, n)
			}
			Verify(t, m)
		})
		if !called {
			t.Errorf("%s does not call back", name)
		}
		// The map accepts changes again after the callback.
		Insert(t, m, 0)
	}
}
