package batch

import (
	"math/bits"

	"handloom/internal/highwater"
)

// createIndex maps segment numbers of a batch to positions. It is a hash table with open
// addressing, and the hash is the number itself: most numbers of a batch are consecutive,
// without collisions. Its size depends only on the number of segments.
type createIndex struct {
	at   []uint64 // number and position+1; 0: vacant. Length is a power of two, at most half full
	peak highwater.Mark
}

const positionBits = 64 - (typeShift - offsetBits) // bits left by the number: a billion segments

// fill indexes the segments by their position in order.
func (p *createIndex) fill(order []run) {
	p.at = highwater.Room(&p.peak, p.at, 1<<bits.Len(uint(2*max(len(order), 1)-1)))
	clear(p.at)
	for i := range order {
		p.add(order[i].number, i)
	}
}

// add adds the segment with a number and a position.
func (p *createIndex) add(number uint64, position int) {
	mask := uint64(len(p.at) - 1)
	at := number & mask
	for p.at[at] != 0 {
		at = (at + 1) & mask
	}
	p.at[at] = number<<positionBits | uint64(position+1)
}

// find returns the position of the segment of a number, or -1.
func (p *createIndex) find(number uint64) int {
	mask := uint64(len(p.at) - 1)
	for at := number & mask; ; at = (at + 1) & mask {
		switch place := p.at[at]; {
		case place == 0:
			return -1
		case place>>positionBits == number:
			return int(place&(1<<positionBits-1)) - 1
		}
	}
}

// reset empties the index until the next fill.
func (p *createIndex) reset() { p.at = highwater.Trim(&p.peak, p.at) }
