package maptest

import (
	"cmp"
)

// orderCallbacks are the operations with callbacks of packed maps. Each calls
// body from its callback.
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

// orderMutators are the operations of packed maps that change the order.
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

// descend is the order of the sorts here: inserted numbers ascend, so a sort moves items.
func descend(a, b *uint64) int { return cmp.Compare(*b, *a) }

// beginRound begins a Defragment, so that the next call without progress
// changes nothing.
func beginRound(m Map[uint64]) {
	if m, ok := m.(Packed[uint64]); ok {
		// The comparison panics before the first move.
		PanicOf(func() { m.Defragment(func(a, b *uint64) int { panic("no") }, 0) })
	}
}

// defragment spends a budget on a packed map and leaves a stable map alone.
func defragment(m Map[uint64], budget int) {
	if m, ok := m.(Packed[uint64]); ok {
		m.Defragment(descend, budget)
	}
}
