// Package paged is the stable map of package slotmap without its item type: what
// the map of any type and the tables of a store are made of. Pages, words, bitmap
// and freelist are handled here by slot numbers; [Find], [Insert] and the like are
// typed functions over them. Package slotmap has the contracts, the picture and the
// invariants.
package paged
