// Package highwater decides when memory that a burst of work left behind is given
// back: once it has not been needed for a while. What decides is how often
// memory was used since, never time.
package highwater

import (
	"math"
	"unsafe"
)

// Mark is the high-water mark of some memory: the most that a recent use needed,
// in the current period of uses or the one before. The zero Mark knows of none.
type Mark struct {
	uses   int32
	now    int32
	before int32
}

const (
	// Period is a number of uses. What was needed once is kept for one period at
	// least and for less than two.
	Period = 64

	slack = 4       // what is kept may be so many times what recent uses needed
	few   = 8 << 10 // bytes of an array that are kept anyway
)

// Note counts a use of n elements, and returns how many are worth keeping, which
// is the floor at least.
func (m *Mark) Note(n, floor int) int {
	m.now = max(m.now, int32(min(n, math.MaxInt32/slack)))
	if m.uses++; m.uses == Period {
		m.before, m.now, m.uses = m.now, 0, 0
	}
	return max(floor, slack*m.Recent())
}

// Recent returns how many elements uses have needed lately.
func (m *Mark) Recent() int { return int(max(m.now, m.before)) }

// Begins reports whether a period begins with the next use; Recent is of the one
// that has ended then.
func (m *Mark) Begins() bool { return m.uses == 0 }

// Trim empties an array, and gives up its memory when recent uses needed much
// less. It does not zero what the array holds. What is kept anyway is not even
// noted, and the call inlines (op=manytables).
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

// Few returns how many elements of so many bytes each are kept anyway.
func Few(size uintptr) int { return few / max(1, int(size)) }

// Room returns an array of n elements, whose values are any, in the memory of s
// unless that is too small, or much larger than recent uses needed.
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
