package batch

import (
	"sync"
	"sync/atomic"
)

// naming gives out segment numbers, which together with its own number make up
// the names of creates. There is one for all keyed queues of a batch; the calls
// of the inbox have others, because one may still record when its batch is
// flushed without it.
type naming struct {
	number uint16 // in the names
	first  uint32 // the lowest segment number: keyed queues and the inbox share none

	mu   sync.Mutex // taken once per segment, that is for up to 16,384 creates
	next []uint32   // by table ordinal: segments given out

	low   atomic.Bool // half of the segments of a table are given out
	users int         // inbox: lanes that refer to it
}

const (
	offsetBits    = 14
	segmentItems  = 1 << offsetBits // creates that share a segment number
	maxSegments   = 1 << (31 - offsetBits)
	inboxSegments = maxSegments // the first number of the inbox's own
)

// restart gives the naming a new number, under which all segments are free.
func (s *naming) restart(number uint16) {
	s.number = number
	s.low.Store(false)
	clear(s.next)
}

// segment returns the next segment number for a table, or false when all are
// given out.
func (s *naming) segment(ordinal int) (uint32, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.next) <= ordinal {
		s.next = append(s.next, 0)
	}
	if s.next[ordinal] == maxSegments {
		return 0, false
	}
	if s.next[ordinal]++; s.next[ordinal] == maxSegments/2 {
		s.low.Store(true)
	}
	return s.first + s.next[ordinal] - 1, true
}

// given returns how many segments of a table are given out.
func (s *naming) given(ordinal int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ordinal >= len(s.next) {
		return 0
	}
	return int(s.next[ordinal])
}
