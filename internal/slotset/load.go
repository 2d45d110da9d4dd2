package slotset

import (
	"fmt"

	"handloom/handle"
	"handloom/internal/digest"
)

// wordsAtOnce limits the words allocated before any was read; the count alone is not
// trusted further.
const wordsAtOnce = 1 << 14

// Load restores the state that [Set.Digest] wrote into the set, which must be unused. It
// reports faults to d or leaves them to Verify.
func (s *Set) Load(d *digest.Decoder) { s.Words = s.LoadWords(d) }

// LoadWords is [Set.Load] for maps that store the words.
func (s *Freelist) LoadWords(d *digest.Decoder) []handle.ID {
	if id := handle.ID(d.Uint64()); id != s.typeID {
		d.Fail(fmt.Errorf("slots of typeId %d, not %d", id.TypeID(), s.TypeID()))
	}
	words := readWords(d, d.Count(int(min(s.Limit(), uint64(maxInt))), "slots"))
	front, back := d.Uint32(), d.Uint32()
	s.back, s.depleted = uint64(d.Uint32()), d.Uint32()
	s.highest, s.floor = d.Uint16(), d.Uint16()
	if minFree := d.Uint32(); minFree != s.minFree {
		d.Fail(fmt.Errorf("MinFree is %d, not %d", minFree, s.minFree))
	}
	if s.floor > s.highest || s.highest > s.last || s.floor > 0 && uint32(s.floor) >= (uint32(s.last)+1)/2 {
		d.Fail(fmt.Errorf("G1: generations from %d to %d of %d", s.floor, s.highest, s.last))
	}
	if d.Err() == nil {
		if err := s.loadRing(words, front, back); err != nil {
			d.Fail(err)
		}
	}
	return words
}

// loadRing builds the ring from the links in words and replaces the links by tickets.
// Verify detects slots on the list twice, because the second visit overwrites the ticket.
func (s *Freelist) loadRing(words []handle.ID, front, back uint32) error {
	vacant := s.vacant()
	if (front == 0) != (vacant == 0) || (back == 0) != (vacant == 0) || uint64(vacant) > uint64(len(words)) {
		return fmt.Errorf("F1: front %d, back %d, length %d", front, back, vacant)
	}
	s.ring = make([]Slot, vacant)
	at, next := uint32(0), front
	for i := range s.ring {
		if next == 0 {
			return fmt.Errorf("F3: the walk visits %d of %d vacant slots", i, vacant)
		}
		if uint64(next) > uint64(len(words)) {
			return fmt.Errorf("F2: the walk leaves the %d slots for slot %d", len(words), next-1)
		}
		w := &words[next-1]
		if !w.IsProvisional() || w.Generation() == 0 {
			return fmt.Errorf("F2: the walk reaches slot %d (word %v)", next-1, *w)
		}
		s.ring[i] = Slot(next - 1)
		at, next = next, uint32(*w)
		*w = *w&^rowMask | handle.ID(i)
	}
	if next != 0 || at != back {
		return fmt.Errorf("F2: the walk ends at slot %d, with a link to slot %d, but the back is slot %d", at-1, next-1, back-1)
	}
	return nil
}

const maxInt = int(^uint(0) >> 1)

func readWords(d *digest.Decoder, n int) []handle.ID {
	codec := digest.For[handle.ID]()
	words := make([]handle.ID, min(n, wordsAtOnce))
	for done := 0; ; {
		codec.Decode(d, words[done:])
		if done = len(words); done == n || d.Err() != nil {
			return words
		}
		grown := make([]handle.ID, min(n, 2*done))
		copy(grown, words)
		words = grown
	}
}

// LoadMeta returns the slot of each row. Verify checks that they correspond one to one.
func (s *Set) LoadMeta() ([]Slot, error) {
	live := 0
	for _, w := range s.Words {
		if !w.IsProvisional() {
			live++
		}
	}
	meta := make([]Slot, live)
	for i, w := range s.Words {
		if w.IsProvisional() {
			continue
		}
		if row := Row(w); int64(row) < int64(live) {
			meta[row] = Slot(i)
		} else {
			return nil, fmt.Errorf("S2: slot %d holds row %d of %d", i, row, live)
		}
	}
	return meta, nil
}
