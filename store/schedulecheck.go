package store

import (
	"fmt"
	"slices"

	"handloom/batch"
	"handloom/internal/check"
)

// errUndeclared means that a system used a resource it does not declare, in a checked
// build.
var errUndeclared = fmt.Errorf("not declared by the system: %w", ErrPhase)

func (p *phase) systemOf() *system {
	for ; p != nil; p = p.outer {
		if p.system != nil {
			return p.system
		}
	}
	return nil
}

func (y *system) undeclared(does string, t *table, where string) error {
	return fmt.Errorf("store: system %q %s %v: %w; add it to %s", y.Name, does, t, errUndeclared, where)
}

func contains(resources []Resource, t *table) bool {
	return slices.ContainsFunc(resources, func(r Resource) bool { return !isNil(r) && r.resource() == resource{table: t} })
}

func containsComponent(resources []Resource, p *component) bool {
	return slices.ContainsFunc(resources, func(r Resource) bool { return !isNil(r) && r.resource().component == p })
}

// lookupChanges is [table.lookup] for a list of changes of t or of the named component.
func (t *table) lookupChanges(method, owner string) {
	if y := t.store.currentSystem(); y != nil && !slices.ContainsFunc(y.Reads, func(r Resource) bool { return r.resource() == changesOf{t}.resource() }) {
		panic(fmt.Errorf("store: system %q calls %s of %s: %w; add store.ChangesOf of the table to Reads", y.Name, method, owner, errUndeclared))
	}
	t.lookup(method)
}

// reads reports whether the system declares to read the table or a component of it.
func (y *system) reads(t *table) bool { return slices.Contains(y.tables, t) }

// readsComponent reports whether the system declares to read the component.
func (y *system) readsComponent(p *component) bool { return slices.Contains(y.components, p) }

// currentSystem returns the system of the calling goroutine, or nil. In checked builds
// the goroutine of the system, the workers of its tasks, and all goroutines that these
// start have its label.
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
	return nil
}

// label registers the labels of the systems until the returned function is called. It
// does so once per frame, because it orders goroutines and would hide races within a
// wave.
func (c *Schedule) label() (end func()) {
	c.store.changeSystems(func(running []*system) []*system { return slices.Concat(running, c.systems) })
	return func() {
		c.store.changeSystems(func(running []*system) []*system {
			return slices.DeleteFunc(slices.Clone(running), func(y *system) bool { return slices.Contains(c.systems, y) })
		})
	}
}

// changeSystems replaces the list of running systems by the result of change.
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

// looks sets the tables and components that the system may look at.
func (y *system) looks() {
	for _, r := range slices.Concat(y.Reads, y.Writes) {
		if isNil(r) {
			continue // reported by faults
		}
		target := r.resource()
		if target.component != nil {
			y.components = append(y.components, target.component)
		}
		if target.table != nil {
			y.tables = append(y.tables, target.table)
		}
	}
}

// mayWrite returns an error if the system around a pass does not declare to write t.
// Passes that write items call it in checked builds.
func (p *phase) mayWrite(does string, t *table) error {
	if y := p.systemOf(); y != nil && !contains(y.Writes, t) {
		return y.undeclared(does, t, "Writes, or use Reduce")
	}
	return nil
}

// mayRead is mayWrite for passes that read.
func (p *phase) mayRead(t *table) error {
	if y := p.systemOf(); y != nil && !y.reads(t) {
		return y.undeclared("reduces", t, "Reads")
	}
	return nil
}

// mayWriteComponent is mayWrite for columns and sparse data. Exchange calls it in every
// build.
func (p *phase) mayWriteComponent(c *component, does string) error {
	if y := p.systemOf(); y != nil && !containsComponent(y.Writes, c) {
		return y.undeclaredComponent(does, c, "Writes")
	}
	return nil
}

// mayReadComponent is mayRead for columns and sparse data.
func (p *phase) mayReadComponent(c *component, does string) error {
	if y := p.systemOf(); y != nil && !y.readsComponent(c) {
		return y.undeclaredComponent(does, c, "Reads")
	}
	return nil
}

func (y *system) undeclaredComponent(does string, c *component, where string) error {
	return fmt.Errorf("store: system %q %s %s %q: %w; add it to %s", y.Name, does, c.what, c.fullName, errUndeclared, where)
}

// mayRecord returns an error for the first table, by registration, or component that a
// pass recorded into without a declaration. Checked builds call it after the tasks.
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
			if c := t.components[attachment]; !containsComponent(y.Emits, c) && (set == nil || byTable(c, set) < 0) {
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
