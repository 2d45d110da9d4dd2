// Package paged is the stable map of package slotmap without its item type. Maps of any
// type and the tables of a store consist of it. Pages, words, bitmap and freelist are
// numeric, by slot; [Find], [Insert] and others are typed functions over a [Set]. Package
// slotmap documents the contracts and invariants.
package paged
