// Package dense is the packed map of package handlemap without its item type, for maps of any
// type and the tables of a store. Package handlemap documents the contracts and invariants.
//
//	Set      meta set, sparse set, items    what a flush, a pass and a digest use
//	  |
//	Find, Insert, Erase, All ...            functions of a T, compiled where called
//	  |
//	handlemap.Map, store.Table              methods that users see
//
// Columns follow the dense set (package handlemap has the other invariants):
//
//	C1  a column has as many elements as the dense set has capacity
//	C2  elements from the length of the map on are zero
//
// Capacity and scratch memory are not part of the state: digests and copies leave them out.
package dense
