package store

import "slices"

// SetPerturb has f called once per parallel step of s with the number of its
// tasks; the function it returns says which task runs in place of which.
func (s *Store) SetPerturb(f func(n int) func(task int) int) { s.perturb = f }

// Order returns the numbers of the systems in serial order.
func (c *Schedule) Order() []int { return c.plan.Order() }

// absent is a table that no step of a tick may look at.
type absent struct{ table }

// Hide makes every step panic that looks at a table but those to be seen, until the
// function it returns is called.
func (s *Store) Hide(seen func(name string) bool) (show func()) {
	return s.replaceTables(func(t table) table {
		if seen(t.Name()) {
			return t
		}
		return absent{}
	})
}

// counted is a table that counts how often a step asks what it is.
type counted struct {
	table
	looks *int
}

func (c counted) Name() string           { *c.looks++; return c.table.Name() }
func (c counted) index() int             { *c.looks++; return c.table.index() }
func (c counted) typeIDs() (uint16, int) { *c.looks++; return c.table.typeIDs() }
func (c counted) stats() TableStats      { *c.looks++; return c.table.stats() }

// CountVisits counts how often steps ask tables what they are, until the function it
// returns is called.
func (s *Store) CountVisits() (visits *int, stop func()) {
	visits = new(int)
	return visits, s.replaceTables(func(t table) table { return counted{t, visits} })
}

func (s *Store) replaceTables(with func(t table) table) (undo func()) {
	tables, byType, byList, names := s.tables, s.byType, s.byList, s.names
	replace := func(all []table) []table {
		all = slices.Clone(all)
		for i, t := range all {
			if t != nil {
				all[i] = with(t)
			}
		}
		return all
	}
	s.tables, s.byType, s.byList, s.names = replace(tables), replace(byType), replace(byList), make(map[string]table)
	for name, t := range names {
		s.names[name] = with(t)
	}
	return func() { s.tables, s.byType, s.byList, s.names = tables, byType, byList, names }
}

// ForgetChanged forgets what tables the Write has changed, and reports how many
// that were.
func (w *Writer) ForgetChanged() int {
	n := len(w.changed)
	w.changed = nil
	return n
}
