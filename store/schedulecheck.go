package store

import (
	"errors"
	"fmt"
	"slices"

	"handloom/internal/record"
)

// ErrUndeclared is what a pass returns in a checked build, wrapped with system
// and table or column, when the system did not say that it would.
var ErrUndeclared = errors.New("not declared by the system")

// systemOf returns the system that a phase is inside of, or nil.
func (p *phase) systemOf() *system {
	for ; p != nil; p = p.outer {
		if p.system != nil {
			return p.system
		}
	}
	return nil
}

func (y *system) undeclared(does string, t *table, where string) error {
	return fmt.Errorf("store: system %q %s table %q: %w; add it to %s", y.Name, does, t.name, ErrUndeclared, where)
}

func contains(resources []Resource, t *table) bool {
	return slices.ContainsFunc(resources, func(r Resource) bool { return r.resource() == resource{table: t} })
}

func containsPart(resources []Resource, p *part) bool {
	return slices.ContainsFunc(resources, func(r Resource) bool { return r.resource().part == p })
}

// containsAnyPart reports whether resources have a part of the table.
func containsAnyPart(resources []Resource, t *table) bool {
	return slices.ContainsFunc(resources, func(r Resource) bool { of := r.resource(); return of.table == t && of.part != nil })
}

// reads reports whether the system says that it reads the table.
func (y *system) reads(t *table) bool {
	return contains(y.Reads, t) || contains(y.Writes, t) || containsAnyPart(y.Reads, t) || containsAnyPart(y.Writes, t)
}

// mayWrite is asked, in checked builds, by a pass that may write items in place.
func (p *phase) mayWrite(t *table) error {
	if y := p.systemOf(); y != nil && !contains(y.Writes, t) {
		return y.undeclared("runs ForEach over", t, "Writes, or use Reduce")
	}
	return nil
}

// mayRead is asked, in checked builds, by a pass that reads.
func (p *phase) mayRead(t *table) error {
	if y := p.systemOf(); y != nil && !y.reads(t) {
		return y.undeclared("reduces", t, "Reads")
	}
	return nil
}

// mayWritePart is asked, in checked builds, by what may write elements of a column or
// optional data, and by Exchange in all.
func (p *phase) mayWritePart(c *part, does string) error {
	if y := p.systemOf(); y != nil && !containsPart(y.Writes, c) {
		return y.undeclaredPart(does, c, "Writes")
	}
	return nil
}

// mayReadPart is asked, in checked builds, by what may only read them.
func (p *phase) mayReadPart(c *part, does string) error {
	if y := p.systemOf(); y != nil && !containsPart(y.Writes, c) && !containsPart(y.Reads, c) {
		return y.undeclaredPart(does, c, "Reads")
	}
	return nil
}

func (y *system) undeclaredPart(does string, c *part, where string) error {
	return fmt.Errorf("store: system %q %s %s %q: %w; add it to %s", y.Name, does, c.what, c.fullName, ErrUndeclared, where)
}

// mayRecord is asked, in checked builds, when the tasks of a pass have recorded
// what they did, and returns an error for the first table by registration.
func (p *phase) mayRecord(queues *record.Pass) error {
	y := p.systemOf()
	if y == nil {
		return nil
	}
	var found *table
	var set *part
	s := p.store
	queues.Targets(func(ordinal, attachment int) {
		t := s.tables[ordinal]
		switch {
		case attachment != record.ToTable:
			if c := t.parts[attachment]; !containsPart(y.Emits, c) && (set == nil || byTable(c, set) < 0) {
				set = c
			}
		case !contains(y.Emits, t) && (found == nil || t.ordinal < found.ordinal):
			found = t
		}
	})
	switch {
	case found != nil:
		return y.undeclared("records into", found, "Emits")
	case set != nil:
		return y.undeclaredPart("sets", set, "Emits")
	}
	return nil
}
