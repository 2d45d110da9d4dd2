// Package inline looks items up, so that the compiler can be asked what it did
// with the calls.
package inline

import "handloom/store"

// Item is what is looked up.
type Item struct{ A, B uint64 }

// Get looks h up.
func Get(t *store.Table[Item], h store.Handle[Item]) (*Item, bool) { return t.Get(h) }

// Has looks h up.
func Has(t *store.Table[Item], h store.Handle[Item]) bool { return t.Has(h) }

// StableGet looks h up.
func StableGet(t *store.StableTable[Item], h store.Handle[Item]) (*Item, bool) { return t.Get(h) }

// StableHas looks h up.
func StableHas(t *store.StableTable[Item], h store.Handle[Item]) bool { return t.Has(h) }

// Element looks the element of h up.
func Element(c *store.Column[Item, uint32], h store.Handle[Item]) (*uint32, bool) { return c.Get(h) }
