package batch

import (
	"math/bits"

	"handloom/internal/highwater"
)

// createIndex says where the segments of a batch are, by their numbers. It is a hash
// table with open addressing whose hash is the number itself: most segments of a
// batch are numbered one after another, and then each lies in a place of its own.
// It is as large as the batch has segments, however far apart their numbers are,
// as are those of calls of the inbox that take long.
type createIndex struct {
	at   []uint64 // number and position plus 1; 0: vacant. A power of two, at most half of it taken
	peak highwater.Mark
}

const positionBits = 64 - (typeShift - offsetBits) // what the number leaves: a billion segments

// fill makes the table one of some segments, in their order.
func (p *createIndex) fill(order []run) {
	p.at = highwater.Room(&p.peak, p.at, 1<<bits.Len(uint(2*max(len(order), 1)-1)))
	clear(p.at)
	for i := range order {
		p.add(order[i].number, i)
	}
}

// add notes that the segment of a number is the one at a position.
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

// forget empties the table; fill comes before its next use.
func (p *createIndex) forget() { p.at = highwater.Trim(&p.peak, p.at) }
