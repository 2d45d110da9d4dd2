package cells

import (
	"cmp"
	"slices"

	"handloom/store"
)

// lines are the handles of the waiting messages of each cell, by number: a cache of the table
// sent, so that no tick and no packet scans it. A line may be missing or stale after a
// Rollback or Load. Each handle is compared with its message, so lines never decide an outcome.
type lines[M any] map[ID]*line[M]

type line[M any] struct {
	first   uint64 // number of handles[0]
	handles []store.Handle[numbered[M]]
}

// add appends a message, if the line ends before it.
func (s *lines[M]) add(cell ID, number uint64, h store.Handle[numbered[M]]) {
	if *s == nil {
		*s = make(lines[M])
	}
	l := (*s)[cell]
	if l == nil {
		l = new(line[M])
		(*s)[cell] = l
	}
	if number != l.first+uint64(len(l.handles)) {
		*l = line[M]{first: number}
	}
	l.handles = append(l.handles, h)
}

// get returns the handle of a message and the message, or nil if the line lacks it.
func (s lines[M]) get(sent *store.Table[numbered[M]], cell ID, number uint64) (store.Handle[numbered[M]], *numbered[M]) {
	l := s[cell]
	if l == nil || number-l.first >= uint64(len(l.handles)) {
		return store.Handle[numbered[M]]{}, nil
	}
	h := l.handles[number-l.first]
	m, ok := sent.Get(h)
	if !ok || m.Cell != cell || m.Number != number {
		return store.Handle[numbered[M]]{}, nil
	}
	return h, m
}

// take returns the handle of a message and drops the line up to it. It rebuilds all lines if the
// line lacks the message.
func (s *lines[M]) take(sent *store.Table[numbered[M]], cell ID, number uint64) store.Handle[numbered[M]] {
	h, m := s.get(sent, cell, number)
	if m == nil {
		s.rebuild(sent)
		if h, m = s.get(sent, cell, number); m == nil {
			return h
		}
	}
	l := (*s)[cell]
	n := number - l.first + 1
	l.first, l.handles = l.first+n, l.handles[n:]
	return h
}

func (s *lines[M]) rebuild(sent *store.Table[numbered[M]]) {
	type entry struct {
		cell   ID
		number uint64
		handle store.Handle[numbered[M]]
	}
	all := make([]entry, 0, sent.Len())
	for h, m := range sent.All() {
		if m.Number != 0 {
			all = append(all, entry{m.Cell, m.Number, h})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.number, b.number))
	})
	clear(*s)
	for _, e := range all {
		s.add(e.cell, e.number, e.handle)
	}
}
