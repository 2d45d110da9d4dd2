package slotset

import (
	"math/bits"
	"slices"

	"handloom/shard/handle"
)

// Bitset is a set of items of one map, to be erased together. It lets a caller
// find out what an erase will do before doing it: marking only reads the map.
// A Bitset is valid until the map changes; the zero Bitset is empty.
type Bitset struct {
	Rows Bits // of the marked items; for the maps

	depleting int
	moves     []Move // scratch of EraseMarked
}

// Marking is what marking did with a handle.
type Marking int

const (
	Stale  Marking = iota // the handle names no item
	Again                 // the item was marked before
	Marked                // the item is marked now
)

// Add marks a row of a map of n rows; depleting says that its item is at its
// last generation.
func (k *Bitset) Add(row, n int, depleting bool) Marking {
	k.Rows.Grow(n)
	if !k.Rows.Add(row) {
		return Again
	}
	if depleting {
		k.depleting++
	}
	return Marked
}

// Len returns how many items are marked.
func (k *Bitset) Len() int { return k.Rows.Count() }

// Depleting returns how many of the items marked by handle are at their last
// generation, so that erasing them depletes their slots.
func (k *Bitset) Depleting() int { return k.depleting }

// Clear unmarks everything and keeps the memory.
func (k *Bitset) Clear() {
	k.Rows.Clear()
	k.depleting = 0
}

// Mark marks the item that id names in a map of rows rows.
func (s *Set) Mark(k *Bitset, id handle.ID, rows int) Marking {
	row, ok := s.Lookup(id)
	if !ok {
		return Stale
	}
	return k.Add(int(row), rows, s.IsLast(id))
}

// Unmarked is a handle, by its index among others, that marked nothing.
type Unmarked struct {
	Index   int
	Marking Marking // Stale or Again
}

// MarkItems marks the items that ids name in a map of rows rows, and appends
// those that mark nothing to unmarked, which it returns.
func (s *Set) MarkItems(k *Bitset, ids []handle.ID, rows int, unmarked []Unmarked) []Unmarked {
	k.Rows.Grow(rows)
	deplete := s.MayDeplete()
	for i, id := range ids {
		row, ok := s.Lookup(id)
		switch {
		case !ok:
			unmarked = append(unmarked, Unmarked{i, Stale})
		case !k.Rows.Add(int(row)):
			unmarked = append(unmarked, Unmarked{i, Again})
		case deplete && s.IsLast(id):
			k.depleting++
		}
	}
	return unmarked
}

// MarkEvery marks every item of a map with the given meta set, in O(rows/64) time, or
// O(rows) when slots may be depleted.
func (s *Set) MarkEvery(k *Bitset, meta []Slot) {
	k.Rows.Grow(len(meta))
	for row := 0; row < len(meta); row += 64 {
		k.Rows.AddWord(row/64, ^uint64(0)>>max(0, row+64-len(meta)))
	}
	if !s.MayDeplete() {
		return
	}
	for _, slot := range meta {
		if s.IsLast(s.Words[slot]) {
			k.depleting++
		}
	}
}

// NoteDepleting notes that so many of the items whose rows the caller marked itself are
// at their last generation.
func (k *Bitset) NoteDepleting(n int) { k.depleting += n }

// MarkAll marks the items that ids name in a map of rows rows, for an erase that
// follows at once: depleting ones are not counted.
func (s *Set) MarkAll(k *Bitset, ids []handle.ID, rows int) {
	k.Rows.Grow(rows)
	for _, id := range ids {
		if row, ok := s.Lookup(id); ok {
			k.Rows.Add(int(row))
		}
	}
}

// Move says that the item of one row goes to another.
type Move struct{ To, From Row }

// EraseMarked vacates the slots of the marked rows in ascending order, and fills
// the gaps below the number of rows that stay with the rows at or above it that
// are not marked, both in ascending order. It changes words and meta and returns
// the moves, which are the caller's to make with the items, and good until the
// next call. The marks stay.
//
// Words lie in no order. They are changed in loops that do nothing else, so that the
// processor waits for many of them at a time (op=eraseitems, op=storm).
func (s *Set) EraseMarked(k *Bitset, meta []Slot) []Move {
	s.vacateMarked(k, meta)
	k.fillGaps(meta)
	words := s.Words
	for _, move := range k.moves {
		w := &words[meta[move.To]]
		*w = *w&UpperHalf | handle.ID(move.To)
	}
	return k.moves
}

// vacateMarked vacates the slots of the marked rows in ascending order.
func (s *Set) vacateMarked(k *Bitset, meta []Slot) {
	if s.MayDeplete() {
		for base, marked := range k.Rows.Words {
			for ; marked != 0; marked &= marked - 1 {
				s.Vacate(meta[base+bits.TrailingZeros64(marked)])
			}
		}
		return
	}
	n := k.Len()
	s.GrowRing(n, len(s.Words))
	first := s.at(s.back)
	ring, at := s.ring, first
	for base, marked := range k.Rows.Words {
		for ; marked != 0; marked &= marked - 1 {
			ring[at] = meta[base+bits.TrailingZeros64(marked)]
			if at++; at == len(ring) {
				at = 0
			}
		}
	}
	ticket := s.pushed(uint32(n))
	end := min(first+n, len(ring))
	s.vacateRun(ring[first:end], ticket)
	s.vacateRun(ring[:n-(end-first)], ticket+uint32(end-first))
}

// fillGaps fills the gaps in meta, and notes the moves.
func (k *Bitset) fillGaps(meta []Slot) {
	kept := len(meta) - k.Len()
	moves := slices.Grow(k.moves[:0], min(kept, k.Len()))
	word := kept / 64 // of the rows that may have to move
	var staying uint64
	if word < len(k.Rows.words) {
		staying = ^k.Rows.words[word] & (^uint64(0) << (kept % 64))
	}
	for base, marked := range k.Rows.Words {
		for ; marked != 0; marked &= marked - 1 {
			row := base + bits.TrailingZeros64(marked)
			if row >= kept {
				break
			}
			for staying == 0 {
				word++
				staying = ^k.Rows.words[word]
			}
			from := word*64 + bits.TrailingZeros64(staying)
			staying &= staying - 1
			meta[row] = meta[from]
			moves = append(moves, Move{Row(row), Row(from)})
		}
	}
	k.moves = moves
}
