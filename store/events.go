package store

import (
	"fmt"
	"slices"

	"handloom/internal/schedule"
)

// eventFaults returns an error for each table with Events that the system shares with
// another schedule.
func (c *Schedule) eventFaults(y *schedule.System) (errs []error) {
	for _, number := range slices.Concat(y.Reads, y.Writes) {
		if t := c.eventTable(number); t != nil && t.isRead.Load() {
			errs = append(errs, fmt.Errorf("system %q: another schedule reads or writes table %q and ends its events; use it in one schedule", y.Name, t.name))
		}
	}
	return errs
}

func (c *Schedule) eventTable(number schedule.Resource) *table {
	if r := c.resources[number]; r.component == nil && !r.isChanges && r.table != nil && r.table.events {
		return r.table
	}
	return nil
}

func (c *Schedule) planEnds() {
	for number := range c.resources {
		number := schedule.Resource(number)
		if t := c.eventTable(number); t != nil && c.plan.End(number) {
			c.resources[number].touched = true
			t.isRead.Store(true)
		}
	}
}

// endEvents makes the flush p of a Run end the events of tables. It skips tables that
// this schedule only emits to and another schedule reads, or that the Frame around ends.
func (c *Schedule) endEvents(p *phase, tables []schedule.Resource) {
	for _, number := range tables {
		r := &c.resources[number]
		if r.touched || !r.table.isRead.Load() && p.outer.outer == nil {
			c.store.flush.end(r.table)
		}
	}
}

// endUnread makes the flush end the events of tables that no schedule reads.
func (f *flush) endUnread() {
	for _, t := range f.store.events {
		if !t.isRead.Load() {
			f.end(t)
		}
	}
}

// end makes the flush end the events of t. An empty t has no effect, because a flush
// without commands must stay one.
func (f *flush) end(t *table) {
	if t.len() > 0 {
		f.ended = append(f.ended, t.ordinal)
	}
}
