// Package handle defines the 64-bit handle, the name of one item.
// The guide's page is guide/handles.md.
//
// # Layout
//
//	bit 63   62 ... 48   47 ... 32    31 ... 0
//	free     typeId      generation   slot
//
// Integer order sorts by free bit, typeId, generation, slot.
//
//   - The slot is a position in the sparse set of the map that issued the handle; it never
//     moves while the item lives.
//   - The generation, 1 to 65535, is the number of times the slot has been issued. An erase
//     raises it, so that old handles are stale.
//   - The typeId, 0 to 32767, names the map. A store uses 1 to 32767.
//   - The free bit is 0 in every issued handle. In a caller's handle it means provisional: the
//     item is recorded but not yet flushed. In a slot word it means vacant or depleted.
//
// The zero value is the null handle. It is never issued, because generations begin at 1.
//
// # Two forms
//
// [ID] is the bare number. [Of] adds the item type, so that the compiler rejects a handle of
// another type. It costs nothing: 8 bytes, comparable, usable as a map key.
//
// Handles are not secrets. A forged handle resolves only if it equals a live one.
//
// # Sources
//
// Free bit, typeId, generation and index in one 64-bit word are from "Game Engine Containers -
// handle_map" (Jeff Kiah), which compares only the generation; here one comparison covers free
// bit, typeId and generation.
package handle
