package slotset

import (
	"cmp"
	"math"

	"handloom/internal/seam"
)

const lastGeneration = 1<<16 - 1

// maxSlots is the maximum number of slots of a map. The slots 1<<32-2 and 1<<32-1 are never
// issued, so that a link, and the link after it, fit the lower half of a word. With 32-bit
// addresses, memory bounds the words, and sums of two numbers of slots or items fit an int.
const maxSlots = min(1<<32-2, math.MaxInt/8)

func LastGeneration() uint16 { return cmp.Or(seam.Widths.LastGeneration, lastGeneration) }

func SlotLimit() uint32 { return cmp.Or(seam.Widths.Slots, maxSlots) }
