// Package sparse keeps what few items of a map have: rows of their own, packed,
// found by the slot of the item. It knows the map, whichever kind it is of, by handles
// alone, and the values by their [items.Type].
//
//	slot     0  1  2  3  4  5
//	index    .  .  1  .  0  .     what a slot without a row says is of no meaning
//
//	row      0  1
//	owners   d  b                 the handle of the item, which is in slot 4, and in 2
//	items    x  y
//
// An item has the row that the index says if it owns that row. So nothing has to be done
// to the index when a row goes, and what was left there by another item is never found.
//
// # Invariants
//
//   - N1: every owner is an item of the map.
//   - N2: the index at the slot of each owner is its row.
//   - N3: there are as many items as owners, and those behind them are zero.
//
// The map does not know of its data. Who erases items has them dropped here as well, or
// says with [Map.DeferSweep] that they go without a word, and [Map.Sweep] then finds them.
package sparse
