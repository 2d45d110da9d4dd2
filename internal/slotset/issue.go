package slotset

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
// no look at the limits.
func (s *Set) TryIssue(row Row) (handle.ID, bool) {
	if s.CanReuse() {
		slot := s.Front()
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

// issueVacant issues slots from the freelist. The words are in no order, but none
// is waited for to know which is next (op=insertitems).
func (s *Set) issueVacant(row Row, meta []Slot, dst []handle.ID) {
	s.PopAll(meta)
	words, dst := s.Words, dst[:len(meta)]
	var highest handle.ID
	for i, slot := range meta {
		w := &words[slot]
		upper := *w &^ (handle.FreeBit | rowMask)
		*w = upper | handle.ID(row+Row(i))
		dst[i] = upper | handle.ID(slot)
		highest = max(highest, upper)
	}
	s.Raise(highest)
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
