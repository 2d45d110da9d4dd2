package slotset

import (
	"cmp"
	"math"

	"handloom/internal/seam"
)

// The last generation of a slot: erasing at it depletes the slot.
const lastGeneration = 1<<16 - 1

// maxSlots is the number of slots that a map may have. The slot numbers 1<<32-2 and
// 1<<32-1 are never issued, so that the link to a slot, and the link to the one
// behind it, fit the lower half of a word. Where addresses have 32 bits, there is no
// room for more words, and with this limit sums of two numbers of slots or items fit
// an int.
const maxSlots = min(1<<32-2, math.MaxInt/8)

// LastGeneration returns the last generation of the slots of a map that is made
// now.
func LastGeneration() uint16 { return cmp.Or(seam.Widths.LastGeneration, lastGeneration) }

// SlotLimit returns how many slots a map that is made now may have.
func SlotLimit() uint32 { return cmp.Or(seam.Widths.Slots, maxSlots) }
