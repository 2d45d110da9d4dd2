package slotset

import "handloom/handle"

func (s *Set) CanInsert(n, erased, depleting, maxItems int) error {
	return s.Freelist.CanInsert(len(s.Words), n, erased, depleting, maxItems)
}

// Fresh returns the number of new slots of the next n issues, which fit.
func (s *Set) Fresh(n int) int {
	_, fresh, _ := s.Split(len(s.Words), n)
	return fresh
}

// TryIssue fails if it needs growth or a check of limits.
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

// Issue issues slots for the items from row on. The caller has made capacity for
// [Set.Fresh] more words.
func (s *Set) Issue(row Row, meta []Slot, dst []handle.ID) {
	reuse, fresh, _ := s.Split(len(s.Words), len(dst))
	s.issueVacant(row, meta[:reuse], dst[:reuse])
	end := reuse + fresh
	s.issueFresh(row+Row(reuse), meta[reuse:end], dst[reuse:end])
	s.issueVacant(row+Row(end), meta[end:], dst[end:])
}

// issueVacant issues slots from the freelist. The ring names the slots, so reads of their
// scattered words overlap (op=insertitems).
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

func (s *Set) Preview(dst []handle.ID) {
	word := func(slot Slot) handle.ID { return s.Words[slot] }
	s.Peek(len(s.Words), len(dst), word, func(i int, id handle.ID) { dst[i] = id })
}
