package main

import (
	"fmt"

	"handloom/internal/trace"
	"handloom/store"
)

// Tasks share no section and need no lock.
type section struct {
	held  map[name]entry
	fresh []name // created in this tick, with provisional handles until resolveCreates
	gone  []lastName
}

// entry is the player's record of a live item. The version is the last recorded
// one, not yet flushed.
type entry struct {
	handle  store.Handle[item]
	version uint32
}

// lastName is a handle that is stale after the flush, provisional if the item
// was created in the same tick.
type lastName struct {
	table  *table
	handle store.Handle[item]
}

func (p *player) record(part *section, events []trace.Event, q store.Queue) error {
	part.fresh, part.gone = part.fresh[:0], part.gone[:0]
	for _, e := range events {
		n, t := name{e.Table, e.Key}, p.byTable[e.Table]
		held := part.held[n]
		switch e.Kind {
		case trace.Create:
			h := t.items.Emplace(q, item{Key: e.Key, Table: uint32(e.Table), Born: uint32(p.tick)})
			part.held[n] = entry{handle: h}
			part.fresh = append(part.fresh, n)
		case trace.Update:
			if err := held.update(q, t, e, uint32(p.tick)); err != nil {
				return err
			}
			part.held[n] = held
		case trace.Erase:
			t.items.Erase(q, held.handle)
			part.gone = append(part.gone, lastName{t, held.handle})
			delete(part.held, n)
		}
	}
	return nil
}

// An item created in this tick with an odd key completes its staged value.
func (held *entry) update(q store.Queue, t *table, e trace.Event, tick uint32) error {
	held.version++
	next := item{Key: e.Key, Table: uint32(e.Table), Born: tick, Version: held.version}
	switch {
	case !held.handle.ID.IsProvisional():
		if old, ok := t.items.Get(held.handle); ok {
			next = *old // includes writes in place of this tick
			next.Version = held.version
		}
	case e.Key%2 == 1:
		staged, ok := t.items.Staged(q, held.handle)
		if !ok {
			return fmt.Errorf("table %d: the queue does not hold the create of key %d, which it recorded", e.Table, e.Key)
		}
		*staged = next
		return nil
	}
	t.items.Put(q, held.handle, next)
	return nil
}

// resolveCreates resolves the provisional handles of this tick.
func (p *player) resolveCreates() error {
	for i := range p.parts {
		for _, n := range p.parts[i].fresh {
			held := p.parts[i].held[n]
			if !held.handle.ID.IsProvisional() {
				continue // erased again
			}
			h, ok := p.byTable[n.table].items.Resolve(held.handle)
			if !ok {
				return fmt.Errorf("table %d: key %d was created as %v, which resolves to nothing after the flush", n.table, n.key, held.handle.ID)
			}
			held.handle = h
			p.parts[i].held[n] = held
		}
	}
	return nil
}
