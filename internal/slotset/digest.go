package slotset

import (
	"iter"

	"handloom/internal/digest"
	"handloom/shard/handle"
)

// In digests, and so in snapshots, the words of vacant slots hold the order of the
// freelist: each links to the next, and the ends of the list are told behind the
// words. A link is slot+1, and 0 is none. Tickets are in no digest.

// linkedAtOnce is how many words are made ready for a hash at a time.
const linkedAtOnce = 512

// Digest adds slots, generations, floor, freelist order, depletion and MinFree to h. The
// set stays as it is while a [digest.Tee] of h makes something of it.
func (s *Set) Digest(h *digest.Hash) {
	s.DigestWords(h, len(s.Words), func(yield func([]handle.ID) bool) { yield(s.Words) })
}

// DigestWords is [Set.Digest] for slots whose words pieces yields, one piece after
// another.
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

// anyVacant reports whether a slot of these words is vacant, or depleted.
func anyVacant(words []handle.ID) bool {
	var all handle.ID
	for _, w := range words {
		all |= w
	}
	return all.IsProvisional()
}

// link puts links in the place of the tickets of words. What is vacant is no guess
// that a processor could make, so that every word is looked up as if it were, and
// most of what is found for others is the front (op=digest).
func (s *Freelist) link(words []handle.ID) {
	ring, head, ticket, length := s.ring, s.at(s.front), uint32(s.front), s.vacant()
	for i, w := range words {
		if w&generationMask == 0 {
			continue // depleted
		}
		vacant := handle.ID(int64(w) >> 63) // all bits, or none
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
