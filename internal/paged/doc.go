// Package paged is the stable map of package slotmap without its item type, for maps of any
// type and the tables of a store. Typed functions such as [Find] and [Insert] wrap a [Set].
// Package slotmap documents the contracts and invariants.
package paged
