package trace

import (
	"cmp"
	"container/heap"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
)

// Summary counts the events of a converted trace.
type Summary struct {
	Creates, Updates, Erases int
	Ticks                    int
	Tables                   []TableSummary // by number
	Cut                      bool           // ConvertOptions.MaxEvents ended the trace

	// Of all events read, with those after the cut.
	Repaired int // creations of a live item
	Skipped  int // ends of an unknown item
}

// TableSummary is one table of a trace.
type TableSummary struct {
	Name   string
	Events int
	keys   keys
}

// String returns s as a few lines for a person.
func (s Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d events (%d creates, %d updates, %d erases) in %d ticks and %d tables\n",
		s.Creates+s.Updates+s.Erases, s.Creates, s.Updates, s.Erases, s.Ticks, len(s.Tables))
	if s.Cut {
		b.WriteString("cut at a tick: the input continues\n")
	}
	fmt.Fprintf(&b, "repaired: %d lost ends; skipped: %d unknown ends\n", s.Repaired, s.Skipped)
	for i, t := range s.Tables {
		fmt.Fprintf(&b, "table %d: %s, %d events\n", i, t.Name, t.Events)
	}
	return b.String()
}

// write writes h as a trace of at most the given number of tables.
func (h *goHistory) write(out io.Writer, tables int) (Summary, error) {
	sum := Summary{Repaired: h.repaired, Skipped: h.skipped}
	tableOf := h.deal(&sum, tables)
	w := NewWriter(out)
	w.Comment("object lifetimes of a Go program, a tick per millisecond")
	for i, t := range sum.Tables {
		w.Name(uint16(i), clip(t.Name))
	}
	if n := len(h.records); n == 0 || h.records[n-1].kind != Tick {
		h.records = append(h.records, record{kind: Tick})
	}
	keyOf := make([]int, len(h.items))
	for _, r := range h.records {
		e := Event{Kind: r.kind}
		if r.kind != Tick {
			e.Table = tableOf[h.items[r.item]]
		}
		keys := &sum.Tables[e.Table].keys
		switch r.kind {
		case Tick:
			sum.Ticks++
		case Create:
			sum.Creates++
			keyOf[r.item] = keys.take()
		case Update:
			sum.Updates++
		case Erase:
			sum.Erases++
			heap.Push(keys, keyOf[r.item])
		}
		if r.kind != Tick {
			e.Key = uint64(keyOf[r.item])
		}
		w.Event(e)
	}
	return sum, w.Close()
}

// deal fills the tables of sum and returns the table of each type. Types with
// most events come first; types without events have no table.
func (h *goHistory) deal(sum *Summary, tables int) []uint16 {
	events := make([]int, len(h.types))
	for _, r := range h.records {
		if r.kind != Tick {
			events[h.items[r.item]]++
		}
	}
	var ranking []int
	for typ, n := range events {
		if n > 0 && typ != typeGoroutine {
			ranking = append(ranking, typ)
		}
	}
	slices.SortStableFunc(ranking, func(a, b int) int {
		return cmp.Or(cmp.Compare(events[b], events[a]), cmp.Compare(h.types[a], h.types[b]))
	})
	sum.Tables = []TableSummary{{Name: h.types[typeGoroutine], Events: events[typeGoroutine]}}
	tableOf := make([]uint16, len(h.types))
	for i, typ := range ranking {
		left := len(ranking) - i
		switch n := len(sum.Tables); {
		case n < tables-1 || n == tables-1 && left == 1:
			sum.Tables = append(sum.Tables, TableSummary{Name: h.types[typ]})
		case n == tables-1:
			sum.Tables = append(sum.Tables, TableSummary{Name: fmt.Sprintf("the %d rarest types", left)})
		}
		tableOf[typ] = uint16(len(sum.Tables) - 1)
		sum.Tables[tableOf[typ]].Events += events[typ]
	}
	return tableOf
}

// clip shortens names for reading; some types have every method of an interface
// in theirs.
func clip(name string) string {
	const maxLen = 200
	if len(name) > maxLen {
		return name[:maxLen] + "..."
	}
	return name
}

// keys deals the keys of one table: always the smallest free one.
type keys struct {
	next          int // every key from here on is free
	sort.IntSlice     // free keys below next, a heap
}

func (k *keys) take() int {
	if len(k.IntSlice) > 0 {
		return heap.Pop(k).(int)
	}
	k.next++
	return k.next - 1
}

func (k *keys) Push(key any) { k.IntSlice = append(k.IntSlice, key.(int)) }

func (k *keys) Pop() any {
	last := len(k.IntSlice) - 1
	key := k.IntSlice[last]
	k.IntSlice = k.IntSlice[:last]
	return key
}
