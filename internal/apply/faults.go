package apply

import (
	"unsafe"

	"handloom/internal/record"
)

// putLate is a seeded fault, for builds with package canary enabled: it returns
// what writes the values of puts to the rows that their items had, when others
// have moved there.
func (s *Shard) putLate(c *record.Commands, index int) func() {
	type late struct {
		at, v unsafe.Pointer
	}
	var all []late
	for _, col := range c.Columns {
		puts := col.Puts(index)
		for i, id := range puts.IDs {
			if v := s.Map.Item(id); v != nil {
				all = append(all, late{v, puts.Values.Pointer(i, s.typ.Size)})
			}
		}
	}
	return func() {
		for _, l := range all {
			s.typ.Set(l.at, l.v)
		}
	}
}
