// Package narrow holds the widths of the handle fields as variables, so that
// tests can shrink them: with a last generation of 7 and 16 slots, wrapping,
// depletion and exhaustion happen within a thousand operations instead of
// billions. Only tests may assign to them, and only before the first map of
// the test is made; a program that imports Handloom always runs with the full
// widths.
package narrow

import "math"

// LastGeneration is the last generation of a slot: erasing at it depletes the
// slot. It is at least 1.
var LastGeneration uint16 = 1<<16 - 1

// MaxSlots is the number of slots that a map may have at the full widths. The slot
// numbers 1<<32-2 and 1<<32-1 are never issued, so that the link to a slot, and the
// link to the one behind it, fit the lower half of a word. Where addresses have 32
// bits, there is no room for more words, and with this limit sums of two numbers
// of slots or items fit an int.
const MaxSlots = min(1<<32-2, math.MaxInt/8)

// SlotLimit is MaxSlots, or less.
var SlotLimit uint32 = MaxSlots
