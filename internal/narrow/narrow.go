// Package narrow holds the widths of the handle fields as variables, so that
// tests can shrink them: with a last generation of 7 and 16 slots, wrapping,
// depletion and exhaustion happen within a thousand operations instead of
// billions. Only tests may assign to them, and only before the first map of
// the test is made; a program that imports Handloom always runs with the full
// widths.
package narrow

// LastGeneration is the last generation of a slot: erasing at it depletes the
// slot. It is at least 1.
var LastGeneration uint16 = 1<<16 - 1

// SlotLimit is the number of slots a map may have. The slot number 1<<32-1 is
// never issued, so that slot+1 fits the link of a freelist.
var SlotLimit uint32 = 1<<32 - 1
