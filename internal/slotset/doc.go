// Package slotset has the parts that both maps share: slot words, generations and the
// freelist of vacant slots.
//
// # Slot words
//
// A sparse set is an array of slot words, one per slot, in the layout of a handle (see package
// handle):
//
//	live      free=0   typeId   generation        row of the item
//	vacant    free=1   typeId   next generation   ticket
//	depleted  free=1   typeId   0                 0
//
// One comparison of the upper half decides whether a handle names a live item (see
// [Set.Lookup]). A handle with the next generation of a vacant slot differs in the free bit; a
// handle with the free bit fails the bounds check, because the index keeps that bit.
//
// [Set] keeps the words of the packed map in one array. The stable map keeps them next to its
// items; there row and slot are equal, and the word of a live slot is the handle of its item.
//
// Methods of a generic map are compiled in the package that uses the map. There, functions of
// this package are not inlined unless that package imports it. So the hot paths of the maps
// read words themselves or pass whole slices.
//
// # Freelist
//
// Vacant slots form a first-in first-out queue, so that a slot rests as long as possible before
// reuse. The queue is a ring next to the words. Each slot that joins draws the next 64-bit
// ticket and keeps the low half in its word:
//
//	ring     0  1  -  -  3       base = 5, front = 9, back = 12: issued next are
//	slot     0  1  2  3          3, 0 and 1, of the tickets 9, 10 and 11
//	ticket  10 11  -  9
//
// The position in the ring is the ticket minus base, the ticket of the first position, modulo
// the length. So the next slots are known without reading words, and bulk issues overlap many
// memory reads. The ring has room for the largest number of slots vacant at once and at most
// twice that; above the number of all slots it grows by a quarter. A packed map that vacates
// all slots turns its array of slot numbers into the ring without copying.
//
// A slot that used its last generation is depleted: a wrapped generation would issue a handle
// twice.
//
// # Invariants
//
//	S3  every slot is exactly one of live, vacant, depleted, and the counts sum
//	    to the slots
//	F1  the ring has room for the slots from front to back, and the front is at most
//	    its length from base
//	F2  the ring holds distinct vacant slots, by the tickets from front to back
//	F3  every vacant slot is in the ring
//	F4  a ticket from back to before the edge has the position ticket minus lap, where no
//	    vacant slot is
//	G1  a generation never decreases and rises by exactly one per erase
//	    (reset and rollback aside)
//	G2  a depleted slot is on no list and never issued
//	G3  along one history no handle value is issued twice
//
// # Sources
//
// The FIFO freelist is from "Game Engine Containers - handle_map" (Jeff Kiah) and "The ID
// Lookup Table" (Bitsquid), which embed it in the words. Both let generations wrap; depletion
// replaces that here.
package slotset
