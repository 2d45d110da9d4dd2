package slotset

import (
	"math/bits"
	"slices"

	"handloom/handle"
)

// Bitset is a set of items of one map to erase. Marking only reads the map, so a caller can
// examine an erase before it happens. A Bitset is valid until the map changes; the zero
// Bitset is empty.
type Bitset struct {
	Rows Bits

	depleting int
	moves     []Move
}

type Marking int

const (
	Stale Marking = iota
	AlreadyMarked
	Marked
)

// depleting reports that the item is at its last generation.
func (k *Bitset) Add(row, n int, depleting bool) Marking {
	k.Rows.Grow(n)
	if !k.Rows.Add(row) {
		return AlreadyMarked
	}
	if depleting {
		k.depleting++
	}
	return Marked
}

func (k *Bitset) Len() int { return k.Rows.Count() }

// Depleting returns the number of marked items whose slots an erase depletes.
func (k *Bitset) Depleting() int { return k.depleting }

func (k *Bitset) Clear() {
	k.Rows.Clear()
	k.depleting = 0
}

func (s *Set) Mark(k *Bitset, id handle.ID, rows int) Marking {
	row, ok := s.Lookup(id)
	if !ok {
		return Stale
	}
	return k.Add(int(row), rows, s.IsLast(id))
}

// Unmarked is a handle, by index, that marked nothing.
type Unmarked struct {
	Index   int
	Marking Marking
}

// MarkItems appends the handles that mark nothing to unmarked.
func (s *Set) MarkItems(k *Bitset, ids []handle.ID, rows int, unmarked []Unmarked) []Unmarked {
	k.Rows.Grow(rows)
	deplete := s.MayDeplete()
	for i, id := range ids {
		row, ok := s.Lookup(id)
		switch {
		case !ok:
			unmarked = append(unmarked, Unmarked{i, Stale})
		case !k.Rows.Add(int(row)):
			unmarked = append(unmarked, Unmarked{i, AlreadyMarked})
		case deplete && s.IsLast(id):
			k.depleting++
		}
	}
	return unmarked
}

// MarkEvery takes O(rows/64) time, or O(rows) if slots may be depleted.
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

// NoteDepleting counts depleting items for rows that the caller marked.
func (k *Bitset) NoteDepleting(n int) { k.depleting += n }

// MarkAll is for an immediate erase: it does not count depleting items.
func (s *Set) MarkAll(k *Bitset, ids []handle.ID, rows int) {
	k.Rows.Grow(rows)
	for _, id := range ids {
		if row, ok := s.Lookup(id); ok {
			k.Rows.Add(int(row))
		}
	}
}

type Move struct{ To, From Row }

// EraseMarked vacates the slots of the marked rows in ascending order, and fills the gaps below
// the number of remaining rows with the unmarked rows at or above it, both in ascending order.
// It changes words and meta and passes the moves, at most movesAtOnce at a time, to apply, which
// moves the items. The marks remain.
//
// Words are scattered. Loops that do nothing else change them, so that many memory accesses
// overlap (op=eraseitems, op=storm).
func (s *Set) EraseMarked(k *Bitset, meta []Slot, apply func(moves []Move)) {
	s.vacateMarked(k, meta)
	k.fillGaps(meta, func(moves []Move) {
		words := s.Words
		for _, move := range moves {
			w := &words[meta[move.To]]
			*w = *w&UpperHalf | handle.ID(move.To)
		}
		apply(moves)
	})
}

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

// movesAtOnce is many overlapping memory accesses, and little memory.
const movesAtOnce = 1 << 10

// fillGaps changes meta and passes the moves to apply.
func (k *Bitset) fillGaps(meta []Slot, apply func(moves []Move)) {
	kept := len(meta) - k.Len()
	most := min(kept, k.Len(), movesAtOnce)
	moves, n := slices.Grow(k.moves[:0], most)[:most], 0
	word := kept / 64 // word of rows that may have to move
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
			moves[n] = Move{Row(row), Row(from)}
			if n++; n == len(moves) {
				apply(moves)
				n = 0
			}
		}
	}
	if n > 0 {
		apply(moves[:n])
	}
	k.moves = moves
}
