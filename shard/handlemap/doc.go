// Package handlemap is the packed container: items of one type are adjacent in a dense array
// and have handles that never dangle. See guide/container.md.
//
// # Terms
//
//   - handle: the name of one item, a handle.Of[T] of package handle.
//   - slot: a position in the sparse set; never moves while its item lives.
//   - row: a position in the dense set; moves when items are erased or sorted.
//   - dense set: the items by row. Meta set: row to slot. Sparse set: slot to row and generation.
//   - vacant slot: a slot without an item; it waits in the freelist, oldest first, until it is
//     issued again with the next generation.
//   - stale handle: a handle whose generation is older than its slot's.
//   - depleted slot: a slot that used its last generation; it is never issued again, so that no
//     handle value repeats. Only [Map.Clone] and [Map.CopyTo] begin a history that repeats values.
//
// # How the three sets fit
//
//	slot     0  1  2  3  4
//	sparse   0  -  -  1  2     slot 3 owns row 1; slots 1 and 2 are vacant
//
//	row      0  1  2
//	dense    a  b  c           so the handle naming slot 3 names b
//	meta     0  3  4           and row 1 knows its owner is slot 3
//
// Erasing b moves the last item into its row and updates c's slot:
//
//	slot     0  1  2  3  4
//	sparse   0  -  -  -  1     slot 3 joins the freelist after 1 and 2
//
//	row      0  1
//	dense    a  c
//	meta     0  4
//
// # Lookup
//
// A slot word has the layout of a handle with the row in place of the slot. One comparison of
// the upper halves checks free bit, typeId and generation. A handle that is not live resolves to
// nothing, whatever its bits.
//
// # Choice of map
//
// Use this map where items are iterated, sorted, or passed as one slice. Use package slotmap
// where the address of an item must not change, or where no single insert may take long: it
// never copies items and a random lookup waits for memory once less, at the price of empty rows,
// slower iteration and no order.
//
// # Order
//
// Rows have no inherent order: inserts append, erases fill gaps from the end. [Map.SortFunc],
// [Map.SortByKey] and others order them at once, [Map.Defragment] a little in every frame.
// Handles still name their items; pointers and rows become invalid.
//
// Defragment keeps its progress. A row is settled when its place is known. Only rows changed
// since are compared, in rounds:
//
//	find    the ascending runs among the changed items   one comparison at a time,
//	merge   the runs                                     or one exchange: a round
//	place   each item among the settled rows             may pause between any two
//	move    items to their rows
//
// A round refers to items by slot, because slots do not move.
//
// # Invariants
//
//	S1  dense and meta sets have equal length, and where the meta set has room, the
//	    dense set has it
//	S2  for every row r: sparse[meta[r]] is live and holds r
//	S4  items between length and capacity are zero if items hold pointers (except
//	    items that an insert callback is filling)
//	O1  a row that changed or is being sorted is known, that is below the length
//	    and counted, and not both
//	O2  rows are being sorted only before the round's items have their places
//	O3  a round has every row being sorted once, or every row to be filled, less
//	    what changed since
//	O4  settled rows are in order; those being filled, in the order to come
//	H1  a live handle resolves to its item
//	H2  a handle that is not live resolves to nothing, whatever its bits
//
// S3, F1 to F3 and G1 to G3, on slots, freelist and generations, belong to the sparse set.
// [Map.Verify] checks all except O4, which requires the comparison.
//
// # Concurrency
//
// A Map has no locks and starts no goroutine. One goroutine at a time may change it; any number
// may read while none changes it. A pointer from a lookup is valid until the next insert, erase
// or reorder; keep the handle instead.
//
// A handle value is issued at most once in a history of the map, across [Map.Clear], [Map.Reset]
// and growth. [Map.Clone] and [Map.CopyTo] begin a second history.
//
// # Sources
//
// Dense, meta and sparse set, the FIFO freelist and the free bit are from "Game Engine Containers
// - handle_map" (Jeff Kiah); the swap with the last row also from "The ID Lookup Table"
// (Bitsquid) and "Handle Lookup Container" (Tom Hulton-Harrop). Errors of these are corrected:
// lookups ignore the free bit, generations wrap, clear uses up generations of vacant slots,
// reset revives old handles.
package handlemap
