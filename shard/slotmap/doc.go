// Package slotmap is the stable container: an item keeps its address while it lives and has a
// handle that never dangles. The guide's page is guide/container.md.
//
// # Terms
//
//   - handle: the name of one item, a handle.Of[T] of package handle.
//   - slot: a position in the map, equal to the row of its item.
//   - word: the state of a slot, in the layout of a handle.
//   - page: adjacent words and adjacent items of a range of rows: as many rows as fit 40 KiB,
//     rounded down to a power of two. A page never moves.
//   - empty row: a row whose item was erased (a tombstone) or whose slot was never issued. Its
//     item is zero if items hold pointers.
//   - vacant, stale, depleted: as in package handlemap.
//
// # How it fits
//
//	bitmap    1 0 1 1              1 0 0 0
//
//	page 0    0    1    2    3     4    5    6    7      page 1
//	words     0.1  -    2.1  3.2   4.1  -    -    -
//	items     a         b    c     d
//
//	freelist  1                    slots 5, 6 and 7 were never issued
//
// Erasing b leaves its row empty and puts slot 2 after slot 1 in the freelist. The next two items
// take the rows 1 and 2, the third item row 5. Nothing else moves. When page 1 is full, page 2 is
// made.
//
// # Lookup
//
// The word of a live slot is the handle of its item, so one comparison checks free bit, typeId and
// generation. There is no second step from slot to row: a lookup waits for the word and the item
// of a page at once. A handle that is not live resolves to nothing, whatever its bits.
//
// # Choice of map
//
// Nanoseconds per item for items of 8 bytes, 100,000 and 1,000,000 of them, on one machine
// (op=..., see package bench):
//
//	                         slotmap        handlemap
//	look up at random        2.8 / 16       3.0 / 21
//	iterate                  0.8 / 1.2      0.7 / 0.7
//	insert into room         6.5 / 6.5      5.0 / 4.1
//	insert without room      8.0 / 7.0      13 / 13
//	erase at random          14 / 80        15 / 80
//	longest single insert    0.02 ms        21 ms       while growing to 10,000,000
//	bytes in addition        8.2            12 to 22    per item
//
// Use a slotmap where an address must stay valid, where lookups matter more than iteration, or
// where no single insert may take long. Use a handlemap where items are iterated, sorted, or passed
// as one slice, and where many rows would be empty: here they keep their memory until [Map.Shrink]
// finds a whole page of them.
//
// # Invariants
//
// S3, F1 to F3 and G1 to G3, on slots, freelist and generations, belong to the sparse set, and H1
// and H2 to package handlemap. The invariants of dense and meta set are replaced by:
//
//	S1  every slot has a word on a page and a bit in the bitmap, and if it is live
//	    memory for its item
//	S2  the bit of a row is set iff its slot is live, and the word of a live
//	    slot holds its own number as the row
//	S4  the item of an empty row is zero if items hold pointers (except items
//	    that an insert callback is filling)
//
// [Map.Verify] checks them all.
//
// # Concurrency
//
// A Map has no locks and starts no goroutine. One goroutine at a time may change it; any number
// may read while none changes it. Items cannot be reordered, because their addresses are stable. A
// depleted slot costs its row.
//
// A handle value is issued at most once in a history of the map, across [Map.Clear], [Map.Reset]
// and growth. [Map.Clone] and [Map.CopyTo] begin a second history.
//
// # Sources
//
// Rows with holes and their freelist are the array with holes of "The ID Lookup Table" (Bitsquid);
// items in fixed chunks are from "Data Structures for Game Developers: The Slot Map" (Sean
// Middleditch); pages of versions and of items under one number are from "ECS back and forth:
// sparse sets and pointer stability" (Michele Caini). Errors of these are corrected: freelists that
// are stacks reuse a slot at once, and generations wrap.
package slotmap
