package maptest

import (
	"cmp"

	"handloom/shard/handle"
)

// orderOperations are those that only a packed map has.
func (h *history[T]) orderOperations() map[string]func() {
	return map[string]func(){
		"Sort":       h.sort,
		"SortRange":  h.sortRange,
		"SortAs":     h.sortAs,
		"Partition":  h.partition,
		"Swap":       h.swap,
		"Defragment": h.defragment,
		"Order":      h.order,
	}
}

// orderCallbacks are the operations of a packed map alone that call back, by
// name. Each calls body from its callback.
var orderCallbacks = map[string]caller{
	"SortFunc": func(m Map[uint64], body func()) {
		m.(Packed[uint64]).SortFunc(func(a, b *uint64) int { body(); return descend(a, b) })
	},
	"SortRange": func(m Map[uint64], body func()) {
		m.(Packed[uint64]).SortRange(1, 3, func(a, b *uint64) int { body(); return descend(a, b) })
	},
	"SortByKey": func(m Map[uint64], body func()) {
		m.(Packed[uint64]).SortByKey(func(v *uint64) uint64 { body(); return -*v })
	},
	"Partition": func(m Map[uint64], body func()) {
		m.(Packed[uint64]).Partition(func(v *uint64) bool { body(); return *v%2 == 1 })
	},
	"Defragment": func(m Map[uint64], body func()) {
		m.(Packed[uint64]).Defragment(func(a, b *uint64) int { body(); return descend(b, a) }, 0)
	},
}

// orderMutators are the operations that only a packed map has, by name.
var orderMutators = map[string]mutator{
	"SortFunc":   func(m Map[uint64]) { m.(Packed[uint64]).SortFunc(descend) },
	"SortRange":  func(m Map[uint64]) { m.(Packed[uint64]).SortRange(0, 0, descend) },
	"SortByKey":  func(m Map[uint64]) { m.(Packed[uint64]).SortByKey(func(v *uint64) uint64 { return *v }) },
	"SortAs":     func(m Map[uint64]) { m.(Packed[uint64]).SortAs(nil) },
	"Partition":  func(m Map[uint64]) { m.(Packed[uint64]).Partition(func(*uint64) bool { return true }) },
	"Swap":       func(m Map[uint64]) { m.(Packed[uint64]).Swap(m.HandleAt(0), m.HandleAt(1)) },
	"Defragment": func(m Map[uint64]) { m.(Packed[uint64]).Defragment(descend, 1) },
	"Touch":      func(m Map[uint64]) { m.(Packed[uint64]).Touch(m.HandleAt(0)) },
	"TouchRows":  func(m Map[uint64]) { m.(Packed[uint64]).TouchRows(0, 1) },
}

func descend(a, b *uint64) int { return cmp.Compare(*b, *a) }

// beginRound lets Defragment of a packed map begin, so that one that comes no
// further changes nothing.
func beginRound(m Map[uint64]) {
	if m, ok := m.(Packed[uint64]); ok {
		PanicOf(func() { m.Defragment(func(a, b *uint64) int { panic("no") }, 0) })
	}
}

// defragment lets a packed map come as near to descending order as the budget
// allows.
func defragment(m Map[uint64], budget int) {
	if m, ok := m.(Packed[uint64]); ok {
		m.Defragment(descend, budget)
	}
}

// packed is the map as one that has an order.
func (h *history[T]) packed() Packed[T] { return h.m.(Packed[T]) }

// compare is the one order of a history: that of keys, of which many are equal.
func (h *history[T]) compare(a, b *T) int { return cmp.Compare(h.key(a), h.key(b)) }

// compareValues is compare as the model needs it.
func (h *history[T]) compareValues(a, b uint64) int {
	x, y := h.item(a), h.item(b)
	return h.compare(&x, &y)
}

func (h *history[T]) backwards(a, b *T) int { return h.compare(b, a) }

// report tells a packed map of a change in place, in one way or another.
func (h *history[T]) report(hd handle.Of[T]) {
	m, ok := h.m.(Packed[T])
	if !ok {
		return
	}
	if row, ok := m.RowOf(hd); ok && h.below(4, "report") == 0 {
		m.TouchRows(max(0, row-1), row+1)
	} else if m.Touch(hd) != ok {
		h.Fatalf("Touch of %v, live: %t", hd, ok)
	}
}

func (h *history[T]) sort() {
	if h.below(2, "by key") == 0 {
		h.packed().SortFunc(h.compare)
	} else {
		h.packed().SortByKey(h.key)
	}
	h.exact.Sort(0, h.exact.Len(), h.compareValues)
}

func (h *history[T]) sortRange() {
	i := h.below(h.exact.Len()+1, "i")
	j := i + h.below(h.exact.Len()-i+1, "j")
	h.packed().SortRange(i, j, h.backwards)
	h.exact.Sort(i, j, func(a, b uint64) int { return h.compareValues(b, a) })
}

func (h *history[T]) sortAs() {
	ids, _ := h.someItems()
	var hs []handle.Of[T]
	for _, id := range ids {
		hs = append(hs, handle.Of[T]{ID: id})
	}
	h.packed().SortAs(hs)
	h.exact.SortAs(words(ids))
}

func (h *history[T]) partition() {
	limit := uint64(h.below(12, "limit"))
	panicAt := h.below(32, "panic at")
	visited, front := 0, 0
	ids := h.exact.ids()
	panicked := PanicOf(func() {
		front = h.packed().Partition(func(v *T) bool {
			if visited == panicAt {
				panic("on purpose")
			}
			if !h.same(*v, h.exact.value(ids[visited])) {
				h.Fatalf("visit %d is of %v", visited, *v)
			}
			visited++
			return h.key(v) < limit
		})
	})
	if panicked != nil {
		return
	}
	want := h.exact.Partition(func(value uint64) bool {
		v := h.item(value)
		return h.key(&v) < limit
	})
	if front != want || visited != len(ids) {
		h.Fatalf("Partition says %d after %d visits, want %d after %d", front, visited, want, len(ids))
	}
}

func (h *history[T]) swap() {
	a, b := h.anyHandle(), h.anyHandle()
	want := h.exact.Swap(uint64(a), uint64(b))
	if h.packed().Swap(handle.Of[T]{ID: a}, handle.Of[T]{ID: b}) != want {
		h.Fatalf("Swap of %v and %v, want %t", a, b, want)
	}
}

// defragment checks what is true of any order of equal items, and takes that
// over.
func (h *history[T]) defragment() {
	budget, panicAt := h.below(24, "budget"), h.below(64, "panic at")
	if panicAt == 63 {
		h.packed().Defragment(nil, budget)
		return
	}
	calls, moves, done := 0, 0, false
	panicked := PanicOf(func() {
		moves, done = h.packed().Defragment(func(a, b *T) int {
			if calls++; calls > panicAt {
				panic("on purpose")
			}
			return h.compare(a, b)
		}, budget)
	})
	// A round that began before the last changes, and one for those.
	if panicked == nil && budget == 0 && !done || budget > 0 && calls+moves > budget || moves > 2*h.exact.Len() {
		h.Fatalf("%d comparisons and %d moves with budget %d, done: %t", calls, moves, budget, done)
	}
	h.follow(done)
}

// order calls Defragment until it is done.
func (h *history[T]) order() {
	budget := 1 + h.below(8, "budget")
	for calls := 0; ; calls++ {
		moves, done := h.packed().Defragment(h.compare, budget)
		if done || calls > 40*(h.exact.Len()+1) {
			h.follow(true)
			return
		}
		if moves > budget {
			h.Fatalf("%d moves with a budget of %d", moves, budget)
		}
	}
}

// follow lets the model take over the order and checks it if it should be right.
func (h *history[T]) follow(done bool) {
	var ids []uint64
	for hd := range h.packed().Handles() {
		ids = append(ids, uint64(hd.ID))
	}
	if err := h.exact.Follow(ids, done, h.compareValues); err != nil {
		h.Fatalf("%v", err)
	}
}
