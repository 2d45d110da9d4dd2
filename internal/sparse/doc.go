// Package sparse stores data that few items of a map have: packed rows of their own, found by
// the slot of the item. It refers to items only by handle and to values by [items.Type].
//
//	slot     0  1  2  3  4  5
//	index    .  .  1  .  0  .     entries of slots without a row are meaningless
//
//	row      0  1
//	owners   d  b                 the handles of the items in slots 4 and 2
//	items    x  y
//
// An item owns the row that the index names if the row's owner is its handle. So a removed row
// needs no change of the index, and a stale entry is never found.
//
// # Invariants
//
//   - N1: every owner is an item of the map.
//   - N2: the index at the slot of each owner is its row.
//   - N3: there are as many items as owners; items past them are zero.
//
// The map does not know its sparse data. A caller that erases items also removes their rows
// here.
package sparse
