package store

import (
	"fmt"
	"slices"

	"handloom/internal/schedule"
)

// eventFaults returns an error for each table with Events that the system touches and
// another schedule touched before.
func (c *Schedule) eventFaults(y *schedule.System) (errs []error) {
	for _, number := range slices.Concat(y.Reads, y.Writes) {
		if t := c.eventTable(number); t != nil && t.isRead.Load() {
			errs = append(errs, fmt.Errorf("system %q: another schedule reads or writes table %q, and ends its events; name it in one schedule", y.Name, t.name))
		}
	}
	return errs
}

// eventTable returns the table with Events that has the number, or nil.
func (c *Schedule) eventTable(number schedule.Resource) *table {
	if r := c.resources[number]; r.part == nil && r.table != nil && r.table.events {
		return r.table
	}
	return nil
}

// planEnds places the ends of events.
func (c *Schedule) planEnds() {
	for number := range c.resources {
		number := schedule.Resource(number)
		if t := c.eventTable(number); t != nil && c.plan.End(number) {
			c.resources[number].touched = true
			t.isRead.Store(true)
		}
	}
}

// endEvents has the flush p of a Run end the events of tables. A table that the schedule
// only emits to is left to the schedule that reads it, or to the Write around.
func (c *Schedule) endEvents(p *phase, tables []schedule.Resource) {
	for _, number := range tables {
		r := &c.resources[number]
		if r.touched || !r.table.isRead.Load() && p.outer.outer == nil {
			c.store.flush.end(r.table)
		}
	}
}

// endUnread has the flush end the events of all tables that no schedule reads.
func (f *flush) endUnread() {
	for _, t := range f.store.events {
		if !t.isRead.Load() {
			f.end(t)
		}
	}
}

// end has the flush end the events of t. Without events it does nothing, so that a flush
// of nothing else stays one without commands.
func (f *flush) end(t *table) {
	if t.len() > 0 {
		f.ended = append(f.ended, t.ordinal)
	}
}
