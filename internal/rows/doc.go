// Package rows is the packed map of package handlemap without its item type: what
// the map of any type and the tables of a store are made of. Rows, slots, moves,
// ordering and copies are handled here by number, and items through the steps of
// their [items.Type]; [Find], [Insert], the comparison sorts and the like are typed
// functions over it. Package handlemap has the contracts, the picture and the
// invariants.
//
//	Dense    meta set, sparse set, items    what a flush, a pass and a digest use
//	  |
//	Find, Insert, Erase, All, SortFunc ...   functions of a T, compiled where called
//	  |
//	handlemap.Map, store.Table              methods that users see
package rows
