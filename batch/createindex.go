package batch

import (
	"math/bits"

	"handloom/internal/highwater"
)

// createIndex maps segment numbers to positions. It is an open hash table; most numbers are
// consecutive.
type createIndex struct {
	at   []uint64 // number and position+1; 0: vacant. Length is a power of two, at most half full
	peak highwater.Mark
}

const positionBits = 64 - (typeShift - offsetBits) // bits left by the number: a billion segments

// fill replaces the content by the segments of order, in O(segments) time.
func (p *createIndex) fill(order []run) {
	p.at = highwater.Room(&p.peak, p.at, 1<<bits.Len(uint(2*max(len(order), 1)-1)))
	clear(p.at)
	for i := range order {
		p.add(order[i].number, i)
	}
}

func (p *createIndex) add(number uint64, position int) {
	mask := uint64(len(p.at) - 1)
	at := number & mask
	// Linear probing: consecutive numbers lie in consecutive places and do not collide.
	for p.at[at] != 0 {
		at = (at + 1) & mask
	}
	// The position is above 0, so a taken place is never 0, also for number 0.
	p.at[at] = number<<positionBits | uint64(position+1)
}

// find returns the position of a segment, or -1. Any number of goroutines may call it after
// fill.
func (p *createIndex) find(number uint64) int {
	mask := uint64(len(p.at) - 1)
	// At most half of the places are taken, so the search ends at a vacant one.
	for at := number & mask; ; at = (at + 1) & mask {
		switch place := p.at[at]; {
		case place == 0:
			return -1
		case place>>positionBits == number:
			return int(place&(1<<positionBits-1)) - 1
		}
	}
}

func (p *createIndex) reset() { p.at = highwater.Trim(&p.peak, p.at) }
