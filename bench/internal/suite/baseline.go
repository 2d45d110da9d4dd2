package suite

// baseline is the obvious handle map by hand: three slices, a LIFO list of free
// slots, and one compare as the only check.
type baseline[T any] struct {
	items  []T
	meta   []uint32
	sparse []uint64 // generation << 32 | row
	free   []uint32
}

func newBaseline[T any](n int) *baseline[T] {
	return &baseline[T]{items: make([]T, 0, n), meta: make([]uint32, 0, n), sparse: make([]uint64, 0, n)}
}

func (m *baseline[T]) insert(v T) uint64 {
	row := uint64(len(m.items))
	m.items = append(m.items, v)
	var slot uint32
	if n := len(m.free); n > 0 {
		slot = m.free[n-1]
		m.free = m.free[:n-1]
		m.sparse[slot] = m.sparse[slot]>>32<<32 | row
	} else {
		slot = uint32(len(m.sparse))
		m.sparse = append(m.sparse, 1<<32|row)
	}
	m.meta = append(m.meta, slot)
	return m.sparse[slot]>>32<<32 | uint64(slot)
}

func (m *baseline[T]) insertItems(values []T, names []uint64) []uint64 {
	row := uint64(len(m.items))
	m.items = append(m.items, values...)
	for range min(len(values), len(m.free)) {
		slot := m.free[len(m.free)-1]
		m.free = m.free[:len(m.free)-1]
		w := &m.sparse[slot]
		*w = *w>>32<<32 | row
		m.meta = append(m.meta, slot)
		names = append(names, *w>>32<<32|uint64(slot))
		row++
	}
	for ; row < uint64(len(m.items)); row++ {
		slot := len(m.sparse)
		m.sparse = append(m.sparse, 1<<32|row)
		m.meta = append(m.meta, uint32(slot))
		names = append(names, 1<<32|uint64(slot))
	}
	return names
}

func (m *baseline[T]) get(h uint64) (*T, bool) {
	if i := uint32(h); int(i) < len(m.sparse) {
		if w := m.sparse[i]; (w^h)>>32 == 0 {
			return &m.items[uint32(w)], true
		}
	}
	return nil, false
}

func (m *baseline[T]) erase(h uint64) bool {
	slot := uint32(h)
	if int(slot) >= len(m.sparse) || (m.sparse[slot]^h)>>32 != 0 {
		return false
	}
	row := uint32(m.sparse[slot])
	last := uint32(len(m.items) - 1)
	m.items[row] = m.items[last]
	moved := m.meta[last]
	m.meta[row] = moved
	m.sparse[moved] = m.sparse[moved]>>32<<32 | uint64(row)
	m.items, m.meta = m.items[:last], m.meta[:last]
	m.sparse[slot] = (m.sparse[slot]>>32 + 1) << 32
	m.free = append(m.free, slot)
	return true
}

func (m *baseline[T]) clear() {
	m.clearWords()
	m.free = append(m.free, m.meta...)
	m.items, m.meta = m.items[:0], m.meta[:0]
}

func (m *baseline[T]) clearWords() {
	for _, slot := range m.meta {
		m.sparse[slot] = (m.sparse[slot]>>32 + 1) << 32
	}
}
