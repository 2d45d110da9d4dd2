package maptest

import (
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"

	"handloom/internal/slotset"
)

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

func (s suite) Callback_PanicKeepsTheMap(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		for name, call := range s.callbacks() {
			for _, end := range []func(){func() { panic(name) }, runtime.Goexit} {
				m := newMap(t, s.Numbers, Options{})
				hs := InsertN(t, m, 5)
				m.Erase(hs[4])
				beginRound(m)
				before := m.Digest()
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
				if h := Insert(t, m, 4); h != Numbered(0, 2, 4) { // usable, no slot lost
					t.Errorf("after %s the map issues %v", name, h)
				}
				if n := m.EraseFunc(func(number, *uint64) bool { return false }); n != 0 {
					t.Errorf("after %s marks of %d items are left", name, n)
				}
				ExpectNumbers(t, m, hs[:4])
			}
		}
	})
}

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
		Insert(t, m, 0)
	}
}
