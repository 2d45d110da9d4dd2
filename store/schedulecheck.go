package store

import (
	"errors"
	"fmt"
	"slices"

	"handloom/internal/record"
)

// ErrUndeclared is what a pass returns in a checked build, wrapped with system
// and table, when the system did not say that it would.
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
	return slices.ContainsFunc(resources, func(r Resource) bool { return r.tableOf() == t })
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
	if y := p.systemOf(); y != nil && !contains(y.Reads, t) && !contains(y.Writes, t) {
		return y.undeclared("reduces", t, "Reads")
	}
	return nil
}

// mayRecord is asked, in checked builds, when the tasks of a pass have recorded
// what they did, and returns an error for the first table by registration.
func (p *phase) mayRecord(queues *record.Pass) error {
	y := p.systemOf()
	if y == nil {
		return nil
	}
	var found *table
	s := p.store
	queues.Targets(func(ordinal int) {
		t := s.tables[ordinal]
		if !contains(y.Emits, t) && (found == nil || t.ordinal < found.ordinal) {
			found = t
		}
	})
	if found != nil {
		return y.undeclared("records into", found, "Emits")
	}
	return nil
}
