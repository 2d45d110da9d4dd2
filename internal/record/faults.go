package record

import (
	"cmp"
	"slices"
)

// byArrival is a seeded fault, for builds with package canary enabled: it orders
// queues by which recorded first.
func (c *Commands) byArrival() {
	first := func(col *Column) uint64 {
		if col.used == 0 {
			return 0
		}
		return col.segments[0].number
	}
	slices.SortStableFunc(c.Columns, func(a, b *Column) int { return cmp.Compare(first(a), first(b)) })
}
