package slotset

import (
	"iter"

	"handloom/handle"
	"handloom/internal/digest"
)

// In digests and snapshots, words of vacant slots contain the order of the freelist: each
// links to the next slot. The ends of the list follow the words. A link is slot+1; 0 ends
// the list. Tickets are not part of a digest.

const linkedAtOnce = 512

// Digest covers slots, generations, floor, freelist order, depletion and MinFree. The set
// must not change while a [digest.Tee] of h copies it.
func (s *Set) Digest(h *digest.Hash) {
	s.DigestWords(h, len(s.Words), func(yield func([]handle.ID) bool) { yield(s.Words) })
}

// DigestWords is [Set.Digest] for the words of pieces.
func (s *Freelist) DigestWords(h *digest.Hash, slots int, pieces iter.Seq[[]handle.ID]) {
	s.digestAround(h, slots, func() {
		plan := digest.For[handle.ID]()
		if s.vacant() == 0 {
			for words := range pieces {
				plan.Lasting(h, words)
			}
			return
		}
		linked := make([]handle.ID, linkedAtOnce)
		for words := range pieces {
			for ; len(words) > 0; words = words[min(len(words), linkedAtOnce):] {
				some := linked[:copy(linked, words)]
				if anyVacant(some) {
					s.link(some)
				}
				plan.Items(h, some)
			}
		}
	})
}

func (s *Freelist) digestAround(h *digest.Hash, slots int, words func()) {
	h.Uint64(uint64(s.typeID))
	h.Uint64(uint64(slots))
	words()
	front, back := uint32(0), uint32(0)
	if s.vacant() > 0 {
		front, back = uint32(s.Front())+1, uint32(s.ring[s.at(s.back-1)])+1
	}
	h.Uint32(front)
	h.Uint32(back)
	h.Uint32(s.vacant())
	h.Uint32(s.depleted)
	h.Uint16(s.highest)
	h.Uint16(s.floor)
	h.Uint32(s.minFree)
}

func anyVacant(words []handle.ID) bool {
	var all handle.ID
	for _, w := range words {
		all |= w
	}
	return all.IsProvisional()
}

// link replaces tickets by links without branches, because vacancy is unpredictable; live
// words mostly read the front (op=digest).
func (s *Freelist) link(words []handle.ID) {
	ring, head, ticket, length := s.ring, s.at(s.front), uint32(s.front), s.vacant()
	for i, w := range words {
		if w&generationMask == 0 {
			continue
		}
		vacant := handle.ID(int64(w) >> 63) // all bits if vacant, else none
		next := (uint32(w) - ticket + 1) & uint32(vacant)
		at := head + int(next)
		if at >= len(ring) {
			at -= len(ring)
		}
		link := handle.ID(ring[at]) + 1
		if next == length {
			link = 0
		}
		words[i] = w ^ (w&rowMask^link)&vacant
	}
}
