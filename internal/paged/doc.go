// Package paged is the stable map of package slotmap without its item type, for maps of any
// type and the tables of a store. Typed functions such as [Find] and [Insert] wrap a [Set].
// Package slotmap documents the contracts and invariants.
//
//	page of a slot     slot >> shift
//	row in the page    slot & mask      word and item, for which a lookup waits at once
//
// A page stays at its address until Reset, or until Shrink releases its items.
package paged
