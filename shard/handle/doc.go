// Package handle defines the 64-bit handle, the name of one item.
// The guide's page is guide/handles.md.
//
// # Layout
//
//	bit 63   62 ... 48   47 ... 32    31 ... 0
//	free     typeId      generation   slot
//
// Integer order therefore sorts by free bit, typeId, generation, slot.
//
//   - The slot is a position in the sparse set of the map that issued the
//     handle; it never moves while the item lives.
//   - The generation, 1 to 65535, says how often the slot has been issued. An
//     erase raises it, so that handles from before are stale.
//   - The typeId, 0 to 32767, names the map. A store uses 1 to 32767.
//   - The free bit is 0 in every issued handle. In a handle that a caller
//     holds it means provisional: the item is recorded but not yet flushed. In
//     a slot word it means vacant or depleted.
//
// The zero value is the null handle. It is never issued, because generations
// begin at 1.
//
// # Two forms
//
// [ID] is the bare number. [Of] carries the item type along, so that the
// compiler refuses a handle of bullets where one of ships is meant; it costs
// nothing: 8 bytes, comparable, good as a map key.
//
// Handles are names, not secrets: anybody can make one up. A made-up handle
// resolves only if it equals a live one bit for bit.
//
// # Sources
//
// Free bit, typeId, generation and index in one 64-bit word are from "Game
// Engine Containers - handle_map" (Jeff Kiah), which compares the generation
// alone; here one compare covers free bit, typeId and generation together.
package handle
