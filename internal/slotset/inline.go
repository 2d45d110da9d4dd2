package slotset

import "handloom/handle"

// Inline instantiates functions that are generic only to be inlined; see package dense.
// These functions call nothing, not even a method of a handle. They do nearly all
// freelist work of single erases and inserts (op=churn, op=refillrandom).
type Inline struct{}

// TryRetire is [Freelist.Retire] before the edge if no slot depletes; else it changes nothing.
func TryRetire[_ any](s *Freelist, slot Slot, w handle.ID) (handle.ID, bool) {
	ticket := s.back
	if ticket >= s.edge || uint16(w>>32) == s.last {
		return 0, false
	}
	s.ring[ticket-s.lap] = slot
	s.back = ticket + 1
	if s.Next != 0 && ticket-s.front >= uint64(s.minFree) {
		s.Next = 0
	}
	return (w | rowMask) + (handle.FreeBit + 1) + handle.ID(uint32(ticket)), true // see retired
}

// TryPop takes the front slot if a vacant slot is next and the ring has not wrapped there.
// The caller passes its word to [Reissue].
func TryPop[_ any](s *Freelist) (Slot, bool) {
	ticket := s.front
	at := ticket - s.base
	if s.back-ticket <= uint64(s.minFree) || at >= uint64(len(s.ring)) {
		return 0, false
	}
	slot := s.ring[at] // before the write, so that the length is still known
	s.front = ticket + 1
	return slot, true
}

// Reissue returns the upper half of the new handle of a vacant slot with the word w.
func Reissue[_ any](s *Freelist, w handle.ID) handle.ID {
	upper := w &^ (handle.FreeBit | rowMask)
	if g := uint16(w >> 32); g > s.highest {
		s.highest = g
	}
	return upper
}
