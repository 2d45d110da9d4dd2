package sparse

import "handloom/shard/handle"

// CanIssue reports whether n more slots can be issued, by reuse or by growth,
// after freed more have been vacated.
func (s *Set) CanIssue(n, freed int) bool { return s.canIssue(len(s.Words), n, freed) }

// CanInsert reports whether n more items fit a map of at most maxItems (0: as
// many as slots allow), once erased of its items are gone and depleting of
// their slots depleted: nil, or an error that wraps [ErrFull].
func (s *Set) CanInsert(n, erased, depleting, maxItems int) error {
	return s.Freelist.CanInsert(len(s.Words), n, erased, depleting, maxItems)
}

// Fresh returns how many new slots the next n issues make. The caller has
// checked [Set.CanIssue].
func (s *Set) Fresh(n int) int {
	_, fresh, _ := s.Split(len(s.Words), n)
	return fresh
}

// TryIssue issues one slot for the item at row, when that needs no growth and
// no look at the limits; this is the path of nearly every single insert that
// does not find [Set.Next].
func (s *Set) TryIssue(row Row) (handle.ID, bool) {
	if s.vacant > s.minFree {
		slot := s.front - 1
		w := &s.Words[slot]
		upper := s.Pop(*w)
		*w = upper | handle.ID(row)
		return upper | handle.ID(slot), true
	}
	if n := len(s.Words); n < cap(s.Words) {
		upper := s.NextFresh()
		s.Words = s.Words[:n+1]
		s.Words[n] = upper | handle.ID(row)
		return upper | handle.ID(n), true
	}
	return 0, false
}

// Issue issues one slot per element of dst for items at row, row+1 and so on,
// and writes their slots to meta and their handles to dst. Capacity for
// [Set.Fresh] more words must have been made by [Set.Grow].
func (s *Set) Issue(row Row, meta []Slot, dst []handle.ID) {
	reuse, fresh, _ := s.Split(len(s.Words), len(dst))
	s.issueVacant(row, meta[:reuse], dst[:reuse])
	end := reuse + fresh
	s.issueFresh(row+Row(reuse), meta[reuse:end], dst[reuse:end])
	s.issueVacant(row+Row(end), meta[end:], dst[end:])
}

// issueVacant issues slots from the freelist, run by run.
func (s *Set) issueVacant(row Row, meta []Slot, dst []handle.ID) {
	s.vacant -= uint32(len(dst))
	for len(dst) > 0 {
		n := s.issueRun(row, meta, dst)
		row += Row(n)
		meta, dst = meta[n:], dst[n:]
	}
	if s.vacant == 0 {
		s.back = 0 // F1
	}
}

// issueRun issues the slots at the front of the freelist for as long as each is
// the neighbour of the one before, and returns how many. Such runs come from
// Clear and from erases of neighbours; within one, the next word is loaded
// without waiting for a link. The loop is kept whole for speed (op=insertitems).
func (s *Set) issueRun(row Row, meta []Slot, dst []handle.ID) int {
	first := handle.ID(s.front - 1)
	words := s.Words[first:]
	n := min(len(words), len(dst))
	words, meta, dst = words[:n], meta[:n], dst[:n]
	// In a run the word of slot is its upper half with the free bit set and the
	// link to slot+1, so that one exclusive or leaves the bare upper half.
	// No slot+2 carries into the generation; see maxSlots.
	const linkToNext = handle.FreeBit + 2
	highest := s.typeID | handle.ID(s.highest)<<32
	i := 0
	for ; i < n; i++ {
		slot := first + handle.ID(i)
		upper := words[i] ^ (slot + linkToNext)
		if upper&rowMask != 0 {
			break
		}
		words[i] = upper | (handle.ID(row) + handle.ID(i))
		meta[i] = Slot(slot)
		dst[i] = upper | slot
		highest = max(highest, upper)
	}
	s.highest = highest.Generation()
	if s.front += link(i); i == n {
		return n
	}
	slot := first + handle.ID(i) // the last of the run
	upper := s.take(words[i])
	words[i] = upper | (handle.ID(row) + handle.ID(i))
	meta[i] = Slot(slot)
	dst[i] = upper | slot
	return i + 1
}

func (s *Set) issueFresh(row Row, meta []Slot, dst []handle.ID) {
	if len(dst) == 0 {
		return
	}
	first := len(s.Words)
	s.Words = s.Words[:first+len(dst)]
	upper := s.Freelist.Fresh()
	words := s.Words[first:][:len(dst)]
	meta = meta[:len(dst)]
	for i := range dst {
		slot := handle.ID(first + i)
		words[i] = upper | handle.ID(row+Row(i))
		meta[i] = Slot(slot)
		dst[i] = upper | slot
	}
}

// Preview writes to dst the handles that the next [Set.Issue] will give,
// changing nothing.
func (s *Set) Preview(dst []handle.ID) {
	word := func(slot Slot) handle.ID { return s.Words[slot] }
	s.Peek(len(s.Words), len(dst), word, func(i int, id handle.ID) { dst[i] = id })
}
