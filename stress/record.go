package main

import (
	"fmt"

	"handloom/internal/trace"
	"handloom/store"
)

// part is what one task knows: the handles of the keys that hash to it, and
// what it did to them in this tick. Tasks share no part, so they need no lock.
type part struct {
	live  map[name]entry
	fresh []name     // created in this tick; their handles are provisional until settle
	gone  []lastName // erased in this tick
}

// entry is what the player keeps of a live item. The version is that of the
// last value recorded, which the store has only after the flush.
type entry struct {
	handle  store.Handle[item]
	version uint32
}

// lastName is a handle that names nothing once the tick is flushed. It is
// provisional when the item was created in the same tick.
type lastName struct {
	table  *table
	handle store.Handle[item]
}

// record records what happened to the keys of one task.
func (p *player) record(part *part, events []trace.Event, q store.Queue) error {
	part.fresh, part.gone = part.fresh[:0], part.gone[:0]
	for _, e := range events {
		n, t := name{e.Table, e.Key}, p.byTable[e.Table]
		switch e.Kind {
		case trace.Create:
			h := t.items.Emplace(q, item{Key: n.key, Table: uint32(n.table), Born: uint32(p.tick)})
			part.live[n] = entry{handle: h}
			part.fresh = append(part.fresh, n)
		case trace.Update:
			if err := part.update(q, t, n, uint32(p.tick)); err != nil {
				return err
			}
		case trace.Erase:
			h := part.live[n].handle
			t.items.Erase(q, h)
			part.gone = append(part.gone, lastName{t, h})
			delete(part.live, n)
		}
	}
	return nil
}

// update records the next version of an item as a put. One that was created in
// this tick and has an odd key is completed where it was staged instead.
func (part *part) update(q store.Queue, t *table, n name, tick uint32) error {
	e := part.live[n]
	e.version++
	part.live[n] = e
	next := item{Key: n.key, Table: uint32(n.table), Born: tick, Version: e.version}
	switch {
	case !e.handle.ID.IsProvisional():
		if old, ok := t.items.Get(e.handle); ok {
			next = *old // with what this tick's pass has written in place
			next.Version = e.version
		}
	case n.key%2 == 1:
		staged, ok := t.items.Staged(q, e.handle)
		if !ok {
			return fmt.Errorf("table %d: the queue does not hold the create of key %d, which it recorded", n.table, n.key)
		}
		*staged = next
		return nil
	}
	t.items.Put(q, e.handle, next)
	return nil
}

// settle replaces the provisional handles of this tick by real ones.
func (p *player) settle() error {
	for i := range p.parts {
		part := &p.parts[i]
		for _, n := range part.fresh {
			e, ok := part.live[n]
			if !ok || !e.handle.ID.IsProvisional() {
				continue // erased again, or settled under its first create
			}
			h, ok := p.byTable[n.table].items.Resolve(e.handle)
			if !ok {
				return fmt.Errorf("table %d: key %d was created as %v, which resolves to nothing after the flush", n.table, n.key, e.handle.ID)
			}
			e.handle = h
			part.live[n] = e
		}
	}
	return nil
}
