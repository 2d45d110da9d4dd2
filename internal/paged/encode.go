package paged

import (
	"handloom/handle"
	"handloom/internal/digest"
)

// Digest returns a number for the whole state: slots, freelist and items. It takes O(slots)
// time.
func (s *Set) Digest() uint64 {
	var h digest.Hash
	s.DigestTo(&h)
	return h.Sum()
}

// DigestTo writes the state to h, in the order in which [Set.Load] reads it. Empty rows add
// nothing except their word.
func (s *Set) DigestTo(h *digest.Hash) {
	s.list.DigestWords(h, s.slots, func(yield func(words []handle.ID) bool) {
		for first, end := range s.pieces(0, s.slots) {
			if !yield(s.wordsOf(first, end)) {
				return
			}
		}
	})
	for first, end := range s.runs() {
		s.typ.DigestItems(h, s.itemsOf(first, end))
	}
}
