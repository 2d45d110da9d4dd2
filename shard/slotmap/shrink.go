package slotmap

import "handloom/shard/handle"

// Shrink gives back the memory of pages without items; inserts make it again
// where they need it. Items stay where they are and slots as they are, so that
// 8 bytes per slot of such a page remain, and the first page given back leaves a
// blank one in the place of all. It takes O(Rows()/64) time, and O(Rows()) for
// what it gives back.
func (m *Map[T]) Shrink() {
	m.guard("Shrink")
	used := m.usedPages()
	m.pages = append(make([][]cell[T], 0, used), m.pages[:used]...)
	m.live.Shrink(used << m.shift)
	m.setRoom()
	m.marks, m.one = nil, nil

	empty := 0
	for p := range m.pages {
		if !m.hasItems(p) {
			empty++
		}
	}
	if empty > 1 {
		m.release()
	}
}

// release puts one blank page in the place of the pages without items, and
// keeps their words.
func (m *Map[T]) release() {
	blank := m.newPage(0)
	m.kept = append(make([][]handle.ID, 0, len(m.pages)), m.kept...)[:len(m.pages)]
	for p, page := range m.pages {
		if m.hasItems(p) {
			continue
		}
		if m.kept[p] == nil {
			m.kept[p] = make([]handle.ID, len(page))
			for i := range page {
				m.kept[p][i] = page[i].word
			}
			m.released++
		}
		m.pages[p] = blank
	}
}

// restore gives a released page memory again.
func (m *Map[T]) restore(p int) {
	if !m.isReleased(p) {
		return
	}
	page := make([]cell[T], 1<<m.shift)
	for i, w := range m.kept[p] {
		page[i].word = w
	}
	m.pages[p], m.kept[p] = page, nil
	m.released--
}

func (m *Map[T]) hasItems(p int) bool {
	for range m.live.Runs(p<<m.shift, (p+1)<<m.shift) {
		return true
	}
	return false
}

// isReleased reports whether the page p was given back.
func (m *Map[T]) isReleased(p int) bool { return p < len(m.kept) && m.kept[p] != nil }
