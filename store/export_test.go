package store

import (
	"slices"

	"handloom/batch"
	"handloom/handle"
	"handloom/shard"
)

func (c *Schedule) Order() []int { return c.plan.Order() }

// Hide makes a step panic if it visits a table for which seen is false.
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

type counted struct {
	shard.Map
	looks *int
}

func (c counted) Len() int            { *c.looks++; return c.Map.Len() }
func (c counted) TypeID() uint16      { *c.looks++; return c.Map.TypeID() }
func (c counted) Stats() handle.Stats { *c.looks++; return c.Map.Stats() }

// CountVisits counts how often steps ask maps for their contents.
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

// ForgetChanged clears the list of changed tables and returns its length.
func (w *Writer) ForgetChanged() int {
	n := len(w.changed)
	w.changed = nil
	return n
}

// Pending is the size of the commands recorded since the last flush.
func (s *Store) Pending() batch.Load { return s.batch.Pending() }

// HasIn reports whether id names an item of any table.
func HasIn(s *Store, id ID) bool { return s.owner(id) != nil && s.owner(id).has(id) }

// ResolveIn is Resolve of the table that id belongs to.
func ResolveIn(s *Store, id ID) (ID, bool) {
	if t := s.owner(id); t != nil {
		return t.resolve(id)
	}
	return 0, false
}
