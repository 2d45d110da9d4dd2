package handlemap_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"handloom/shard/handle"
	"handloom/shard/handlemap"
)

// callbacks are the operations of a map that call back, by name. Each calls
// body from its callback.
var callbacks = map[string]func(m *handlemap.Map[uint64], body func()){
	"InsertFunc": func(m *handlemap.Map[uint64], body func()) {
		m.InsertFunc(func(_ number, v *uint64) { *v = 99; body() })
	},
	"EmplaceItems": func(m *handlemap.Map[uint64], body func()) {
		m.EmplaceItems(4, func(i int, _ number, v *uint64) {
			if *v = 99; i == 2 {
				body()
			}
		}, nil)
	},
	"CopyTo": func(m *handlemap.Map[uint64], body func()) {
		m.CopyTo(new(handlemap.Map[uint64]), func(dst, src *uint64) {
			if *dst = *src; *src == 2 {
				body()
			}
		})
	},
	"Call": func(m *handlemap.Map[uint64], body func()) {
		m.Call(m.HandleAt(1), func(*uint64) { body() })
	},
	"EraseFunc": func(m *handlemap.Map[uint64], body func()) {
		m.EraseFunc(func(_ number, v *uint64) bool {
			if *v == 2 {
				body()
			}
			return true
		})
	},
	"SortFunc": func(m *handlemap.Map[uint64], body func()) {
		m.SortFunc(func(a, b *uint64) int { body(); return ascend(b, a) })
	},
	"SortRange": func(m *handlemap.Map[uint64], body func()) {
		m.SortRange(1, 3, func(a, b *uint64) int { body(); return ascend(b, a) })
	},
	"SortByKey": func(m *handlemap.Map[uint64], body func()) {
		m.SortByKey(func(v *uint64) uint64 { body(); return -*v })
	},
	"Partition": func(m *handlemap.Map[uint64], body func()) {
		m.Partition(func(v *uint64) bool { body(); return *v%2 == 1 })
	},
	"Defragment": func(m *handlemap.Map[uint64], body func()) {
		m.Defragment(func(a, b *uint64) int { body(); return ascend(a, b) }, 0)
	},
}

// beginRound lets Defragment begin, so that one that comes no further changes
// nothing.
func beginRound(m *handlemap.Map[uint64]) {
	panicOf(func() { m.Defragment(func(a, b *uint64) int { panic("no") }, 0) })
}

func TestACallbackThatPanicsLeavesTheMapAsItWas(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		for name, call := range callbacks {
			m := newMap[uint64](t, handlemap.Options{})
			hs := insertN(t, m, 5)
			m.Erase(hs[4])
			beginRound(m)
			before := m.Digest()
			if v := panicOf(func() { call(m, func() { panic(name) }) }); v != name {
				t.Errorf("%s panics with %v", name, v)
			}
			if m.Digest() != before {
				t.Errorf("%s changed the map", name)
			}
			verify(t, m)
			if h := insert(t, m, 4); h != number64(0, 2, 4) { // usable, and nothing was lost
				t.Errorf("after %s the map issues %v", name, h)
			}
			if n := m.EraseFunc(func(number, *uint64) bool { return false }); n != 0 {
				t.Errorf("after %s marks of %d items are left", name, n)
			}
			expectNumbers(t, m, hs[:4])
		}
	})
}

func TestACallbackThatExitsItsGoroutineLeavesTheMapAsItWas(t *testing.T) {
	for name, call := range callbacks {
		m := newMap[uint64](t, handlemap.Options{})
		hs := insertN(t, m, 5)
		beginRound(m)
		before := m.Digest()
		done := make(chan struct{})
		go func() {
			defer close(done)
			call(m, runtime.Goexit)
		}()
		<-done
		verify(t, m)
		if m.Digest() != before || !m.Erase(hs[0]) {
			t.Errorf("%s changed the map or left it unusable", name)
		}
	}
}

func TestChangingTheMapFromACallbackPanics(t *testing.T) {
	var marks handlemap.Marks
	mutators := map[string]func(m *handlemap.Map[uint64]){
		"Insert":       func(m *handlemap.Map[uint64]) { m.Insert(1) },
		"InsertFunc":   func(m *handlemap.Map[uint64]) { m.InsertFunc(func(number, *uint64) {}) },
		"InsertItems":  func(m *handlemap.Map[uint64]) { m.InsertItems([]uint64{1}, nil) },
		"EmplaceItems": func(m *handlemap.Map[uint64]) { m.EmplaceItems(1, func(int, number, *uint64) {}, nil) },
		"Erase":        func(m *handlemap.Map[uint64]) { m.Erase(m.HandleAt(0)) },
		"Take":         func(m *handlemap.Map[uint64]) { m.Take(m.HandleAt(0)) },
		"EraseItems":   func(m *handlemap.Map[uint64]) { m.EraseItems([]number{m.HandleAt(0), m.HandleAt(1)}) },
		"EraseFunc":    func(m *handlemap.Map[uint64]) { m.EraseFunc(func(number, *uint64) bool { return true }) },
		"EraseMarked":  func(m *handlemap.Map[uint64]) { m.EraseMarked(&marks) },
		"Clear":        func(m *handlemap.Map[uint64]) { m.Clear() },
		"Reset":        func(m *handlemap.Map[uint64]) { m.Reset() },
		"Reserve":      func(m *handlemap.Map[uint64]) { m.Reserve(16) },
		"ReserveMore":  func(m *handlemap.Map[uint64]) { m.ReserveMore(1) },
		"Shrink":       func(m *handlemap.Map[uint64]) { m.Shrink() },
		"Clone":        func(m *handlemap.Map[uint64]) { m.Clone() },
		"CopyTo":       func(m *handlemap.Map[uint64]) { m.CopyTo(new(handlemap.Map[uint64]), nil) },
		"SortFunc":     func(m *handlemap.Map[uint64]) { m.SortFunc(ascend) },
		"SortRange":    func(m *handlemap.Map[uint64]) { m.SortRange(0, 0, ascend) },
		"SortByKey":    func(m *handlemap.Map[uint64]) { m.SortByKey(func(v *uint64) uint64 { return *v }) },
		"SortAs":       func(m *handlemap.Map[uint64]) { m.SortAs(nil) },
		"Partition":    func(m *handlemap.Map[uint64]) { m.Partition(func(*uint64) bool { return true }) },
		"Swap":         func(m *handlemap.Map[uint64]) { m.Swap(m.HandleAt(0), m.HandleAt(1)) },
		"Defragment":   func(m *handlemap.Map[uint64]) { m.Defragment(ascend, 1) },
		"Touch":        func(m *handlemap.Map[uint64]) { m.Touch(m.HandleAt(0)) },
		"TouchRows":    func(m *handlemap.Map[uint64]) { m.TouchRows(0, 1) },
	}
	eachWidth(t, func(t *testing.T) {
		for callback, call := range callbacks {
			for mutator, mutate := range mutators {
				m := newMap[uint64](t, handlemap.Options{Reserve: 10}) // room, so that no growth is needed
				insertN(t, m, 5)
				beginRound(m)
				before := m.Digest()
				message := fmt.Sprint(panicOf(func() { call(m, func() { mutate(m) }) }))
				if !strings.Contains(message, "handlemap: "+mutator+" called from a callback of the same map") {
					t.Errorf("%s from %s: %s", mutator, callback, message)
				}
				if m.Digest() != before {
					t.Errorf("%s from %s changed the map", mutator, callback)
				}
				verify(t, m)
			}
		}
	})
}

func TestLookingUpFromACallbackIsFine(t *testing.T) {
	for name, call := range callbacks {
		m := newMap[uint64](t, handlemap.Options{})
		hs := insertN(t, m, 5)
		called := false
		call(m, func() {
			called = true
			expectNumbers(t, m, hs)
			m.Call(hs[0], func(v *uint64) { // nested
				if panicOf(func() { m.Clear() }) == nil {
					t.Error("Clear from a nested callback does not panic")
				}
			})
			if panicOf(func() { m.Clear() }) == nil {
				t.Error("Clear after a nested callback does not panic")
			}
			if len(m.Items()) != 5 {
				t.Errorf("%s shows its callback %d items", name, len(m.Items()))
			}
			verify(t, m)
		})
		if !called {
			t.Errorf("%s does not call back", name)
		}
		insert(t, m, 0) // and afterwards changes are allowed again
	}
}

func TestInsertFuncNamesTheItemBeforeItExists(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		type node struct{ self handle.ID }
		m := newMap[node](t, handlemap.Options{TypeID: 3})
		for range 3 {
			h, err := m.InsertFunc(func(h handle.Of[node], v *node) {
				expectUnresolved(t, m, h)
				v.self = h.ID
			})
			if err != nil || m.At(h).self != h.ID {
				t.Errorf("%v names %v, %v", h, m.At(h).self, err)
			}
			m.Erase(h)
		}
	})
}

func expectUnresolved[T any](t *testing.T, m *handlemap.Map[T], h handle.Of[T]) {
	t.Helper()
	if v, ok := m.Get(h); ok || v != nil || m.Has(h) {
		t.Errorf("%v resolves before its item exists", h)
	}
}
