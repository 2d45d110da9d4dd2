package handlemap

// Clone returns a copy with the same items, handles, freelist order,
// generations and depletion; fed the same calls, both evolve equally. Items are
// copied by assignment. Clone takes O(slots) time; see [Map.CopyTo].
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

// CopyTo makes dst a copy of m: items, handles, row and freelist order,
// generations, depletion, options and what [Map.Defragment] knows. Fed the same
// calls, both evolve equally. What dst held is gone, but for its memory, which is
// used again and grows only where it is too small: with CopyTo there and back, a
// map is saved and restored without allocating. dst may be a zero Map; copying a
// map to itself does nothing.
//
// Items are copied by assignment, in bulk, unless clone is given. It is called
// for each item in dense order, to make *dst one that shares no memory with *src
// where that matters. *dst is what the row of dst held before, or zero; its
// slices, say, may be filled anew. clone may look at nothing else of the two
// maps, and when it panics, dst is left empty, as if never used.
//
// CopyTo takes O(slots) time, mostly that of copying the memory (op=checkpoint),
// and invalidates pointers to items of dst. It begins a new history in dst, as
// [Map.Clone] does: handles that dst issued may name other items from now on,
// and handle values that it issued may come again.
func (m *Map[T]) CopyTo(dst *Map[T], clone func(dst, src *T)) {
	m.guard("CopyTo")
	dst.guard("CopyTo")
	if dst == m {
		return
	}
	dst.maxItems = m.maxItems
	dst.makeCopyRoom(len(m.items), len(m.set.Words))
	if clone == nil {
		dst.setRows(copy(dst.items[:cap(dst.items)], m.items))
	} else {
		m.cloneItems(dst, clone)
	}
	dst.meta = dst.meta[:len(m.meta)]
	copy(dst.meta, m.meta)
	m.set.CopyTo(&dst.set)
	dst.known = m.known.copyTo(dst.known)
}

// makeCopyRoom makes room for a copy of so many rows and slot words: no more than
// that in a map without any, for a copy is rarely added to, but with some to
// spare where one copy follows another and their map grows.
func (m *Map[T]) makeCopyRoom(rows, words int) {
	roomy := func(need, have int) int {
		if have == 0 {
			return need
		}
		return m.roomy(need, have)
	}
	if rows > cap(m.items) {
		m.growRows(roomy(rows, cap(m.items)))
	}
	if words > cap(m.set.Words) {
		m.growWords(roomy(words, cap(m.set.Words)))
	}
}

// setRows makes the first n rows, which have been written, the dense set. Inserts
// take its capacity as leave by MaxItems.
func (m *Map[T]) setRows(n int) {
	if n < len(m.items) {
		clear(m.items[n:]) // S4
	}
	room := cap(m.items)
	if m.maxItems > 0 {
		room = min(room, m.maxItems)
	}
	m.items = m.items[:n:room]
}

// cloneItems is the copying of items where clone does it.
func (m *Map[T]) cloneItems(dst *Map[T], clone func(dst, src *T)) {
	n, done := len(m.items), false
	dst.items = dst.items[:max(n, len(dst.items))]
	m.busy++
	dst.busy++
	defer func() {
		m.busy--
		dst.busy--
		if !done {
			dst.empty()
		}
	}()
	for row := range m.items {
		clone(&dst.items[row], &m.items[row])
	}
	dst.setRows(n)
	done = true
}

// empty makes the map one that was never used and keeps its memory.
func (m *Map[T]) empty() {
	m.setRows(0)
	m.meta = m.meta[:0]
	m.set.Forget()
	m.forgetOrder()
}

// copyTo makes dst, which may be nil, know what o knows, and returns it.
func (o *ordering) copyTo(dst *ordering) *ordering {
	if o.isBlank() {
		if dst != nil {
			dst.forget()
		}
		return dst
	}
	if dst == nil {
		dst = new(ordering)
	}
	dst.seen = o.seen
	o.changed.copyTo(&dst.changed)
	o.sorting.copyTo(&dst.sorting)
	o.round.copyTo(&dst.round)
	return dst
}

func (s *rowSet) copyTo(dst *rowSet) {
	dst.words = append(dst.words[:0], s.words...)
	dst.count = s.count
}

func (r *round) copyTo(dst *round) {
	dst.stage, dst.cursor = r.stage, r.cursor
	dst.list = append(dst.list[:0], r.list...)
	dst.spare = append(dst.spare[:0], r.spare...)
	dst.ends = append(dst.ends[:0], r.ends...)
	dst.places = append(dst.places[:0], r.places...)
	dst.skips = append(dst.skips[:0], r.skips...)
}
