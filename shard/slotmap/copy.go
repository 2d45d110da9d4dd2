package slotmap

import (
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Clone returns a copy with the same items, handles, freelist order,
// generations and depletion; fed the same calls, both evolve equally. Items are
// copied by assignment, to addresses of their own. Clone takes O(slots) time;
// see [Map.CopyTo].
//
// The copy begins a history of its own: both maps will issue the same handle
// values for different items, so a handle issued by one after the cloning must
// not be used with the other.
func (m *Map[T]) Clone() *Map[T] {
	m.guard("Clone")
	c := new(Map[T])
	m.CopyTo(c, nil)
	return c
}

// CopyTo makes dst a copy of m: items, handles, freelist order, generations,
// depletion and options. Fed the same calls, both evolve equally. What dst held
// is gone, but for its pages, which stay where they are and are used again. So a
// map that is copied and copied back has every item at the address it had, unless
// [Map.Shrink] gave its page back in between, and nothing is allocated. dst may be
// a zero Map; copying a map to itself does nothing.
//
// Items are copied by assignment, in bulk, unless clone is given. It is called
// for each item in ascending order of rows, to make *dst one that shares no
// memory with *src where that matters. *dst is what the row of dst held before,
// or zero; its slices, say, may be filled anew. clone may look at nothing else of
// the two maps, and when it panics, dst is left empty, as if never used.
//
// CopyTo takes O(slots) time, mostly that of copying the memory (op=checkpoint).
// It begins a new history in dst, as [Map.Clone] does: handles that dst issued
// may name other items from now on, and handle values that it issued may come
// again.
func (m *Map[T]) CopyTo(dst *Map[T], clone func(dst, src *T)) {
	m.guard("CopyTo")
	dst.guard("CopyTo")
	if dst == m {
		return
	}
	pages := m.usedPages()
	m.makeCopyPages(dst)
	if clone == nil {
		for p := range pages {
			if !m.isReleased(p) {
				copy(dst.pages[p], m.pages[p])
			}
		}
	} else {
		m.clonePages(dst, clone)
	}
	for p := range pages {
		m.copyReleased(dst, p)
	}
	dst.blank(pages, dst.usedPages())
	m.live.CopyTo(&dst.live)
	m.list.CopyTo(&dst.list)
	dst.slots, dst.maxItems = m.slots, m.maxItems
}

// makeCopyPages makes the pages that a copy of m takes in dst, with memory where
// those of m have some.
func (m *Map[T]) makeCopyPages(dst *Map[T]) {
	if m.slots > dst.room {
		dst.addPages(m.slots)
	}
	for p := range m.usedPages() {
		if !m.isReleased(p) {
			dst.restore(p)
		}
	}
}

// clonePages is the copying of the pages with memory where clone copies items.
func (m *Map[T]) clonePages(dst *Map[T], clone func(dst, src *T)) {
	done := false
	m.busy++
	dst.busy++
	defer func() {
		m.busy--
		dst.busy--
		if !done {
			dst.empty(m.usedPages())
		}
	}()
	for slot := range m.usedPages() << m.shift {
		if m.isReleased(slot >> m.shift) {
			continue
		}
		from, to := m.cell(sparse.Slot(slot)), dst.cell(sparse.Slot(slot))
		if m.live.Has(sparse.Row(slot)) {
			clone(&to.item, &from.item)
			to.word = from.word
		} else {
			*to = *from
		}
	}
	done = true
}

// copyReleased copies the page p if m gave it back: dst keeps the memory of its
// own, without items.
func (m *Map[T]) copyReleased(dst *Map[T], p int) {
	switch {
	case !m.isReleased(p):
	case dst.isReleased(p):
		copy(dst.kept[p], m.kept[p])
	default:
		for i, w := range m.kept[p] {
			dst.pages[p][i] = cell[T]{word: w}
		}
	}
}

// blank makes the pages first to end-1 like those that newPage makes, of which
// no slot was issued.
func (m *Map[T]) blank(first, end int) {
	for p := first; p < end; p++ {
		m.restore(p) // only pages in use may be without memory
		clear(m.pages[p])
		if p == 0 {
			m.pages[0][0].word = handle.FreeBit
		}
	}
}

// empty makes the map, of which so many pages may be in use, one that was never
// used and keeps its memory.
func (m *Map[T]) empty(pages int) {
	m.blank(0, max(pages, m.usedPages()))
	m.live.Clear()
	m.list.Forget()
	m.slots = 0
}
