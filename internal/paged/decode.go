package paged

import (
	"handloom/handle"
	"handloom/internal/digest"
	"handloom/internal/slotset"
)

// Load restores the state that [Set.DigestTo] wrote into the map, which must be unused. It
// verifies all invariants and reports violations to in; the map is then unusable. Pages
// without items get no memory, as after Shrink.
func (s *Set) Load(in *digest.Decoder) {
	words := s.list.LoadWords(in)
	if in.Err() != nil {
		return
	}
	s.slots = len(words)
	// The bitmap follows from the words, so the encoding leaves it out.
	s.loadPages(words)
	for first, end := range s.runs() {
		if in.Err() != nil {
			return
		}
		s.restore(first >> s.shift) // only now: input of 8 bytes per word backs the memory
		s.typ.DecodeItems(in, s.itemsOf(first, end))
	}
	if in.Err() != nil {
		return
	}
	if err := s.verify(); err != nil {
		in.Fail(err)
	}
}

// loadPages makes pages for the words, without item memory, and marks live slots.
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
