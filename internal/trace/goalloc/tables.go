package goalloc

import (
	"cmp"
	"fmt"
	"slices"
)

// layout says which table each type has.
type layout struct {
	tables  []Table
	tableOf []uint16 // by type
}

// newLayout ranks the types by their events, and deals tables 1 to count-1 to
// them in that order. Types without events get none.
func newLayout(h *history, count int) layout {
	events := make([]int, len(h.types))
	goroutineEvents := 0
	for _, r := range h.records {
		switch r.what {
		case recordCreate, recordErase:
			events[h.objects[r.number]]++
		case recordGoCreate, recordGoUpdate, recordGoErase:
			goroutineEvents++
		}
	}
	l := layout{
		tables:  []Table{{Name: "goroutines", Events: goroutineEvents}},
		tableOf: make([]uint16, len(h.types)),
	}
	ranking := rank(h.types, events)
	for i, typ := range ranking {
		l.place(typ, h.types[typ], events[typ], len(ranking)-i, count)
	}
	return l
}

// rank returns the types that have events: most events first, then by name,
// then by appearance.
func rank(names []string, events []int) []int {
	var ranking []int
	for typ, n := range events {
		if n > 0 {
			ranking = append(ranking, typ)
		}
	}
	slices.SortStableFunc(ranking, func(a, b int) int {
		return cmp.Or(cmp.Compare(events[b], events[a]), cmp.Compare(names[a], names[b]))
	})
	return ranking
}

// place gives typ a table of its own, or the last one if that has to do for
// the left types that have none yet.
func (l *layout) place(typ int, name string, events, left, count int) {
	last := len(l.tables) - 1
	switch {
	case last < count-2 || last == count-2 && left == 1:
		l.tables = append(l.tables, Table{Name: name, Types: 1, Events: events})
		last++
	case last == count-2:
		l.tables = append(l.tables, Table{Name: fmt.Sprintf("the %d rarest types", left), Types: left, Events: events})
		last++
	default:
		l.tables[last].Events += events
	}
	l.tableOf[typ] = uint16(last)
}
