// Package inline looks items up, so that the compiler can be asked what it did
// with the calls.
package inline

import (
	"handloom/handle"
	"handloom/shard/handlemap"
)

// Item is what is looked up.
type Item struct{ A, B uint64 }

// Get looks h up.
func Get(m *handlemap.Map[Item], h handle.Of[Item]) (*Item, bool) { return m.Get(h) }

// Has looks h up.
func Has(m *handlemap.Map[Item], h handle.Of[Item]) bool { return m.Has(h) }
