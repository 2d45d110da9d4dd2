package store

import (
	"errors"
	"fmt"
	"slices"

	"handloom/batch"
	"handloom/internal/check"
)

// ErrUndeclared is what a pass returns in a checked build, wrapped with system
// and table or column, when the system did not say that it would. A look-up that
// its system did not declare panics with it, so that Run of the schedule returns it.
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
	return slices.ContainsFunc(resources, func(r Resource) bool { return !isNil(r) && r.resource() == resource{table: t} })
}

func containsComponent(resources []Resource, p *component) bool {
	return slices.ContainsFunc(resources, func(r Resource) bool { return !isNil(r) && r.resource().part == p })
}

// reads reports whether the system says that it reads the table, or a part of it.
func (y *system) reads(t *table) bool { return slices.Contains(y.tables, t) }

// readsPart reports whether the system says that it reads the part.
func (y *system) readsPart(p *component) bool { return slices.Contains(y.parts, p) }

// currentSystem returns the system that the calling goroutine works for, or nil: in
// checked builds the goroutine that runs the system has its label, the goroutines of its
// tasks, and all goroutines that these start.
func (s *Store) currentSystem() *system {
	label := check.CurrentLabel()
	if label == (check.Label{}) {
		return nil
	}
	if running := s.systems.Load(); running != nil {
		for _, y := range *running {
			if y.labels.Label() == label {
				return y
			}
		}
	}
	return nil // other labels
}

// label makes the systems known by their labels, until the function that it returns is
// called. That is done once for all systems of a frame, because it orders goroutines, and
// so would hide races of systems that share a wave.
func (c *Schedule) label() (end func()) {
	c.store.changeSystems(func(running []*system) []*system { return slices.Concat(running, c.systems) })
	return func() {
		c.store.changeSystems(func(running []*system) []*system {
			return slices.DeleteFunc(slices.Clone(running), func(y *system) bool { return slices.Contains(c.systems, y) })
		})
	}
}

// changeSystems puts the list that change returns in place of the list of systems that run.
func (s *Store) changeSystems(change func(running []*system) []*system) {
	for {
		before, running := s.systems.Load(), []*system(nil)
		if before != nil {
			running = *before
		}
		if running = change(running); s.systems.CompareAndSwap(before, &running) {
			return
		}
	}
}

// looks fills in the tables and parts that the system may look at.
func (y *system) looks() {
	for _, r := range slices.Concat(y.Reads, y.Writes) {
		if isNil(r) {
			continue // one of the faults
		}
		of := r.resource()
		if of.part != nil {
			y.parts = append(y.parts, of.part)
		}
		if of.table != nil {
			y.tables = append(y.tables, of.table)
		}
	}
}

// mayWrite is asked, in checked builds, by a pass that may write items in place.
func (p *phase) mayWrite(does string, t *table) error {
	if y := p.systemOf(); y != nil && !contains(y.Writes, t) {
		return y.undeclared(does, t, "Writes, or use Reduce")
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
func (p *phase) mayWritePart(c *component, does string) error {
	if y := p.systemOf(); y != nil && !containsComponent(y.Writes, c) {
		return y.undeclaredComponent(does, c, "Writes")
	}
	return nil
}

// mayReadComponent is asked, in checked builds, by what may only read them.
func (p *phase) mayReadComponent(c *component, does string) error {
	if y := p.systemOf(); y != nil && !y.readsPart(c) {
		return y.undeclaredComponent(does, c, "Reads")
	}
	return nil
}

func (y *system) undeclaredComponent(does string, c *component, where string) error {
	return fmt.Errorf("store: system %q %s %s %q: %w; add it to %s", y.Name, does, c.what, c.fullName, ErrUndeclared, where)
}

// mayRecord is asked, in checked builds, when the tasks of a pass have recorded
// what they did, and returns an error for the first table by registration.
func (p *phase) mayRecord(queues *batch.Pass) error {
	y := p.systemOf()
	if y == nil {
		return nil
	}
	var found *table
	var set *component
	s := p.store
	queues.Targets(func(ordinal, attachment int) {
		t := s.tables[ordinal]
		switch {
		case attachment != batch.ToTable:
			if c := t.parts[attachment]; !containsComponent(y.Emits, c) && (set == nil || byTable(c, set) < 0) {
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
		return y.undeclaredComponent("sets", set, "Emits")
	}
	return nil
}
