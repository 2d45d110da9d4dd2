package shard

import (
	"handloom/batch"
	"handloom/shard/handle"
)

// putLate is a seeded fault, for builds with package canary enabled: it returns
// what writes the values of puts to the rows that their items had, when others
// have moved there.
func (s *Shard[T]) putLate(c *batch.Commands[T], index int) func() {
	type late struct {
		at *T
		v  T
	}
	var all []late
	for _, col := range c.Columns {
		for _, put := range col.Puts(index) {
			if v, ok := s.Map.Get(handle.Of[T]{ID: put.Handle}); ok {
				all = append(all, late{v, put.Value})
			}
		}
	}
	return func() {
		for _, l := range all {
			*l.at = l.v
		}
	}
}
