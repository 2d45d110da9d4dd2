// Package highwater releases the memory of a burst after a number of uses that did not need
// it, never by time.
package highwater

import (
	"math"
	"unsafe"
)

// Mark is the maximum need of an array in the current or the previous period.
type Mark struct {
	uses   int32
	now    int32
	before int32
}

const (
	// Period is a number of uses. Memory that was needed once is kept for one to two
	// periods.
	Period = 64

	slack = 4       // limit of kept memory, in multiples of the recent need
	few   = 8 << 10 // bytes of an array that are always kept
)

// Note counts a use of n elements and returns the number worth keeping, at least floor.
func (m *Mark) Note(n, floor int) int {
	m.now = max(m.now, int32(min(n, math.MaxInt32/slack)))
	if m.uses++; m.uses == Period {
		m.before, m.now, m.uses = m.now, 0, 0
	}
	return max(floor, slack*m.Recent())
}

// Recent returns the maximum of recent uses.
func (m *Mark) Recent() int { return int(max(m.now, m.before)) }

// Begins reports whether the next use begins a period; then Recent is of the last one.
func (m *Mark) Begins() bool { return m.uses == 0 }

// Trim empties an array, and releases it if recent uses needed much less. It zeroes
// nothing. It does not count small arrays, and inlines (op=manytables).
func Trim[E any](m *Mark, s []E) []E {
	if uintptr(cap(s))*unsafe.Sizeof(s[0]) > few {
		return trimMuch(m, s)
	}
	return s[:0]
}

func trimMuch[E any](m *Mark, s []E) []E {
	if cap(s) > m.Note(len(s), 0) {
		return nil
	}
	return s[:0]
}

// Few returns the number of elements that are always kept.
func Few(size uintptr) int { return few / max(1, int(size)) }

// Room returns an array of n arbitrary elements, which is s unless s is too small or much
// larger than the recent need.
func Room[E any](m *Mark, s []E, n int) []E {
	if n <= cap(s) && uintptr(cap(s))*unsafe.Sizeof(s[0]) <= few {
		return s[:n]
	}
	return roomForMuch(m, s, n)
}

func roomForMuch[E any](m *Mark, s []E, n int) []E {
	if keep := m.Note(n, Few(unsafe.Sizeof(s[0]))); cap(s) < n || cap(s) > keep {
		return make([]E, n)
	}
	return s[:n]
}
