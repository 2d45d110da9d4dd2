// Package habit decides when memory that a burst of work left behind is given
// back: once it has not been needed for a while. What decides is how often
// memory was used since, never time.
package habit

import (
	"math"
	"unsafe"
)

// Habit is how much of some memory its recent uses needed: the most in the
// current period of uses and in the one before. The zero Habit knows of none.
type Habit struct {
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
func (h *Habit) Note(n, floor int) int {
	h.now = max(h.now, int32(min(n, math.MaxInt32/slack)))
	if h.uses++; h.uses == Period {
		h.before, h.now, h.uses = h.now, 0, 0
	}
	return max(floor, slack*h.Recent())
}

// Recent returns how many elements uses have needed lately.
func (h *Habit) Recent() int { return int(max(h.now, h.before)) }

// Begins reports whether a period begins with the next use; Recent is of the one
// that has ended then.
func (h *Habit) Begins() bool { return h.uses == 0 }

// Trim empties an array, and gives up its memory when recent uses needed much
// less. It does not zero what the array holds.
func Trim[E any](h *Habit, s []E) []E {
	if cap(s) > h.Note(len(s), fewOf[E]()) {
		return nil
	}
	return s[:0]
}

// Few returns how many elements of so many bytes each are kept anyway.
func Few(size uintptr) int { return few / max(1, int(size)) }

func fewOf[E any]() int {
	var element E
	return Few(unsafe.Sizeof(element))
}

// Room returns an array of n elements, whose values are any, in the memory of s
// unless that is too small, or much larger than recent uses needed.
func Room[E any](h *Habit, s []E, n int) []E {
	if keep := h.Note(n, fewOf[E]()); cap(s) < n || cap(s) > keep {
		return make([]E, n)
	}
	return s[:n]
}
