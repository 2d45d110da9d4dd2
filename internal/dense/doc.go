// Package dense is the packed map of package handlemap without its item type: what
// the map of any type and the tables of a store are made of. Rows, slots, moves,
// ordering and copies are handled here by number, and items through the steps of
// their [items.Type]; [Find], [Insert] and the like are typed functions over it, and
// what a caller compares items by is called with their addresses. Package handlemap has the contracts, the picture and the
// invariants.
//
//	Set      meta set, sparse set, items    what a flush, a pass and a digest use
//	  |
//	Find, Insert, Erase, All ...            functions of a T, compiled where called
//	  |
//	handlemap.Map, store.Table              methods that users see
package dense
