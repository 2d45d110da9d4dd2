package slotmap

import (
	"fmt"
	"math"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// CanInsert reports whether n more items fit the map once erased of its items
// are gone, without changing anything: nil, or an error that wraps [ErrFull].
// depleting of the erased ones are at their last generation, so that their
// slots do not come back.
func (m *Map[T]) CanInsert(n, erased, depleting int) error {
	return m.list.CanInsert(m.slots, n, erased, depleting, m.maxItems)
}

// makeRoom checks the limits for n more items and makes the pages that they
// need.
func (m *Map[T]) makeRoom(n int) error {
	if err := m.CanInsert(n, 0, 0); err != nil {
		return err
	}
	m.grow(n)
	return nil
}

// HasRoom reports whether n more items fit the pages there are. It takes O(1)
// time, O(n) after [Map.Shrink] gave back pages.
func (m *Map[T]) HasRoom(n int) bool {
	if n > m.issuable() || m.slots+m.fresh(n) > m.room {
		return false
	}
	room := true
	if m.released > 0 {
		m.foretell(n, func(_ int, id handle.ID) {
			room = room && !m.isReleased(int(id.Slot()>>m.shift))
		})
	}
	return room
}

// Reserve makes room for n items in all, so that inserts up to there make no
// page. It moves no item and changes capacity only, never slots; more than the
// map may hold is taken as what it may hold. A negative n panics.
func (m *Map[T]) Reserve(n int) {
	m.guard("Reserve")
	if n < 0 {
		panic(fmt.Sprintf("slotmap: Reserve of %d items", n))
	}
	if m.maxItems > 0 {
		n = min(n, m.maxItems)
	}
	m.reserve(n - m.Len())
}

// ReserveMore makes room for n more items; beyond what the map may hold it
// makes none. It moves no item and changes capacity only, never slots. A
// negative n panics.
func (m *Map[T]) ReserveMore(n int) {
	m.guard("ReserveMore")
	if n < 0 {
		panic(fmt.Sprintf("slotmap: ReserveMore of %d items", n))
	}
	m.reserve(n)
}

func (m *Map[T]) reserve(n int) {
	if m.maxItems > 0 {
		n = min(n, m.maxItems) // in full: items may be erased before these come, and their slots be depleted
	}
	if n = min(n, m.issuable()); n > 0 {
		m.grow(n)
	}
}

// issuable returns how many more items slots allow.
func (m *Map[T]) issuable() int {
	return int(min(m.list.Limit()-uint64(m.Len())-uint64(m.list.Depleted()), math.MaxInt))
}

// fresh returns how many new slots the next n inserts make.
func (m *Map[T]) fresh(n int) int {
	_, fresh, _ := m.list.Split(m.slots, n)
	return fresh
}

// foretell calls f with the handles that the next n inserts will give.
func (m *Map[T]) foretell(n int, f func(i int, id handle.ID)) {
	m.list.Foretell(m.slots, n, func(slot sparse.Slot) handle.ID { return *m.word(slot) }, f)
}

// grow makes the pages that the next n inserts need, which the limits allow.
func (m *Map[T]) grow(n int) {
	if slots := m.slots + m.fresh(n); slots > m.room {
		m.addPages(slots)
	}
	if m.released > 0 {
		m.foretell(n, func(_ int, id handle.ID) { m.restore(int(id.Slot() >> m.shift)) })
	}
}

// addPages makes the pages missing for so many slots.
func (m *Map[T]) addPages(slots int) {
	if len(m.pages) == 0 {
		m.shift = pageShift[T]()
		m.mask = 1<<m.shift - 1
	}
	for len(m.pages)<<m.shift < slots {
		m.pages = append(m.pages, m.newPage(len(m.pages)))
	}
	m.live.Grow(len(m.pages) << m.shift)
	m.setRoom()
}

// usedPages returns how many pages have slots that were issued.
func (m *Map[T]) usedPages() int { return (m.slots + 1<<m.shift - 1) >> m.shift }

func (m *Map[T]) setRoom() {
	m.room = int(min(uint64(len(m.pages))<<m.shift, m.list.Limit()))
}

// newPage makes the page p. Words are 0 until their slots are issued. That
// matches no handle but the null handle, which asks for slot 0.
func (m *Map[T]) newPage(p int) []cell[T] {
	page := make([]cell[T], 1<<m.shift)
	if p == 0 {
		page[0].word = handle.FreeBit
	}
	return page
}
