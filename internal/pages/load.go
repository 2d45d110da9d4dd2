package pages

import (
	"handloom/internal/digest"
	"handloom/internal/items"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Load makes the map, which was never used, the one that [Stable.DigestTo] gave to
// in: it goes on as that would. All invariants are verified, and what is wrong
// becomes the error of in; the map is of no use then.
//
// Pages without an item get no memory, as after Shrink.
func (s *Stable) Load(in *digest.Decoder) {
	words := s.list.LoadWords(in)
	if in.Err() != nil {
		return
	}
	s.slots = len(words)
	s.loadPages(words)
	for first, end := range s.live.Runs(0, s.slots) {
		for slot := first; slot < end && in.Err() == nil; slot++ {
			s.typ.items.DecodeItem(in, s.item(sparse.Slot(slot)))
		}
	}
	if in.Err() != nil {
		return
	}
	if err := s.verify(); err != nil {
		in.Fail(err)
	}
}

// loadPages makes the pages for these words, and notes which slots are live.
func (s *Stable) loadPages(words []handle.ID) {
	if len(words) == 0 {
		return
	}
	s.shape()
	used := s.usedPages()
	s.live.Grow(used << s.shift)
	for slot, w := range words {
		if !w.IsProvisional() {
			s.live.Add(sparse.Row(slot))
		}
	}
	s.kept = make([][]handle.ID, used)
	var blank items.Slice
	for p := range used {
		of := words[p<<s.shift : min((p+1)<<s.shift, len(words))]
		if s.hasItems(p) {
			s.pages = append(s.pages, s.loadPage(p, of))
			continue
		}
		if blank.Len() == 0 {
			blank = s.newPage(0)
		}
		s.kept[p] = make([]handle.ID, 1<<s.shift)
		copy(s.kept[p], of)
		s.pages = append(s.pages, blank)
		s.released++
	}
	s.setRoom()
}

// loadPage makes the page p with these words.
func (s *Stable) loadPage(p int, words []handle.ID) items.Slice {
	page := s.newPage(p)
	for i, w := range words {
		*(*handle.ID)(page.Pointer(i, s.size)) = w
	}
	return page
}
