package paged

import (
	"handloom/internal/digest"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// Load makes the map, which was never used, the one that [Set.DigestTo] gave to
// in: it goes on as that would. All invariants are verified, and what is wrong
// becomes the error of in; the map is of no use then.
//
// Pages without an item get no memory, as after Shrink.
func (s *Set) Load(in *digest.Decoder) {
	words := s.list.LoadWords(in)
	if in.Err() != nil {
		return
	}
	s.slots = len(words)
	s.loadPages(words)
	for first, end := range s.runs() {
		if in.Err() != nil {
			return
		}
		s.restore(first >> s.shift) // not before its turn: a word is 8 bytes
		s.typ.DecodeItems(in, s.itemsOf(first, end))
	}
	if in.Err() != nil {
		return
	}
	if err := s.verify(); err != nil {
		in.Fail(err)
	}
}

// loadPages makes the pages for these words, without memory for items, and notes which
// slots are live.
func (s *Set) loadPages(words []handle.ID) {
	if len(words) == 0 {
		return
	}
	s.shape()
	s.live.Grow(s.usedPages() << s.shift)
	for slot, w := range words {
		if !w.IsProvisional() {
			s.live.Add(slotset.Row(slot))
		}
	}
	for p := range s.usedPages() {
		s.pages = append(s.pages, s.newPage(p, false))
		s.released++
		copy(s.words(p), words[p<<s.shift:])
	}
	s.setRoom()
}
