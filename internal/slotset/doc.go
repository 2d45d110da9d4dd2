// Package slotset holds what both maps share: slot words, generations and the
// freelist of the vacant slots.
//
// # Slot words
//
// A sparse set is an array of slot words, one per slot, each laid out like a
// handle (see package handle):
//
//	live      free=0   typeId   generation        row of the item
//	vacant    free=1   typeId   next generation   ticket
//	depleted  free=1   typeId   0                 0
//
// One compare of the upper half therefore decides whether a handle names a
// live item: free bit, typeId and generation at once (see [Set.Lookup]). A
// vacant slot has its free bit set, so a handle made of its next generation
// fails; a handle made of a vacant word's own upper half has its free bit set
// and fails the bounds check, because the index keeps that bit.
//
// [Set] keeps the words of the packed map in one array. The stable map keeps
// them beside its items; there, row and slot are the same number, and the word of
// a live slot is the handle of its item. [Freelist] is what both have in common:
// it says what a word becomes when its slot is issued or vacated.
//
// Methods of a generic map are compiled where the map is used, and there a
// function of this package is called and not inlined, unless that package
// imports this one itself. So the hot paths of the maps read words themselves,
// or hand over whole slices.
//
// # Freelist
//
// Vacant slots form a first-in first-out queue, so that a slot rests as long as
// possible before it is issued again. The queue is a ring beside the words. Each
// slot that joins it draws a ticket, the number after that of the one before, and
// keeps the low half of its 64 bits in its word:
//
//	ring     0  1  -  -  3       base = 5, front = 9, back = 12: issued next are
//	slot     0  1  2  3          3, 0 and 1, of the tickets 9, 10 and 11
//	ticket  10 11  -  9
//
// A ticket less base, the ticket of the first place, is the place in the ring, or so
// many beyond it as the ring has. So what is issued next is known without waiting for a
// word; many words are on their way at once where many slots are issued. The other way,
// a ticket less that of the front is how many slots are issued before. The front and
// the back, which is the next ticket, are all that a single erase or insert has to
// move. The ring has room for as many
// slots as were vacant at once and at most twice that; where it grows beyond the number
// of all slots, only a quarter more. Where a packed map vacates all, the array in which
// it has their numbers becomes the ring, without being copied.
//
// A slot that used its last generation is depleted: it joins no queue and is
// never issued again. Wrapping instead would hand out a handle twice.
//
// # Invariants
//
//	S3  every slot is exactly one of live, vacant, depleted, and the counts sum
//	    to the slots
//	F1  the ring has room for the slots from front to back, and the front is at most
//	    its length from base
//	F2  the ring holds distinct vacant slots, by the tickets from front to back
//	F3  every vacant slot is in the ring
//	G1  a generation never decreases and rises by exactly one per erase
//	    (reset and rollback aside)
//	G2  a depleted slot is on no list and never issued
//	G3  along one history no handle value is issued twice
//
// # Sources
//
// The FIFO freelist is from "Game Engine Containers - handle_map" (Jeff Kiah) and
// "The ID Lookup Table" (Bitsquid), which embed it in the words. Both let
// generations wrap; depletion replaces that here.
package slotset
