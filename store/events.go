package store

import "handloom/internal/schedule"

func (c *Schedule) eventTable(number schedule.Resource) *table {
	if r := c.resources[number]; r.component == nil && !r.isChanges && r.table != nil && r.table.events {
		return r.table
	}
	return nil
}

// planEnds makes c the schedule that ends the events of the tables that it reads or
// writes.
func (c *Schedule) planEnds() {
	for number := range c.resources {
		number := schedule.Resource(number)
		if t := c.eventTable(number); t != nil && c.plan.End(number) {
			t.reader.Store(c)
		}
	}
}

// endEvents makes the flush p of a Run end the events of tables. It skips tables whose
// events another schedule or the Frame around ends.
func (c *Schedule) endEvents(p *phase, tables []schedule.Resource) {
	for _, number := range tables {
		t := c.resources[number].table
		if reader := t.reader.Load(); reader == c || reader == nil && p.outer.outer == nil {
			c.store.flush.end(t)
		}
	}
}

// endUnread makes the flush end the events of tables that no schedule reads.
func (f *flush) endUnread() {
	for _, t := range f.store.events {
		if t.reader.Load() == nil {
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
