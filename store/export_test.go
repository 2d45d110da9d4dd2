package store

import (
	"slices"

	"handloom/shard"
	"handloom/shard/handle"
)

// Order returns the numbers of the systems in serial order.
func (c *Schedule) Order() []int { return c.plan.Order() }

// Hide makes every step panic that looks at a table but those to be seen, until the
// function it returns is called: the others are nil.
func (s *Store) Hide(seen func(name string) bool) (show func()) {
	tables, byType := s.tables, s.byType
	hide := func(all []*table) []*table {
		all = slices.Clone(all)
		for i, t := range all {
			if t != nil && !seen(t.name) {
				all[i] = nil
			}
		}
		return all
	}
	s.tables, s.byType = hide(tables), hide(byType)
	return func() { s.tables, s.byType = tables, byType }
}

// counted is a map that counts how often a step asks what it holds.
type counted struct {
	shard.Map
	looks *int
}

func (c counted) Len() int            { *c.looks++; return c.Map.Len() }
func (c counted) TypeID() uint16      { *c.looks++; return c.Map.TypeID() }
func (c counted) Stats() handle.Stats { *c.looks++; return c.Map.Stats() }

// CountVisits counts how often steps ask the maps of all tables what they hold,
// until the function it returns is called.
func (s *Store) CountVisits() (visits *int, stop func()) {
	visits = new(int)
	for _, t := range s.tables {
		for _, sh := range t.order {
			sh.Map = counted{sh.Map, visits}
		}
	}
	return visits, func() {
		for _, t := range s.tables {
			for _, sh := range t.order {
				sh.Map = sh.Map.(counted).Map
			}
		}
	}
}

// ForgetChanged forgets what tables the Write has changed, and reports how many
// that were.
func (w *Writer) ForgetChanged() int {
	n := len(w.changed)
	w.changed = nil
	return n
}

// Lent returns how many tables are swept by what joins the Write that runs.
func (s *Store) Lent() int { return len(s.lent) }
