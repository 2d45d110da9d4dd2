package model

import (
	"fmt"
	"slices"
)

// pending is a create of the batch until its handle is known.
type pending struct {
	table     int
	value     Value
	cancelled bool
}

// Flush applies the batch without the dropped calls of the inbox. resolve
// returns the answers of the store after its own flush. Flush returns an error
// if an answer is impossible.
func (a *Abstract) Flush(dropped map[int]bool, resolve func(table int, provisional uint64) (uint64, bool)) error {
	// Calls follow the passes.
	batch := slices.Clone(a.batch)
	for call, commands := range a.late[:a.sealed] {
		if !dropped[call] {
			batch = append(batch, commands...)
		}
	}
	creates := make(map[uint64]*pending)
	var order []uint64
	for _, c := range batch {
		if c.Kind == Create {
			creates[c.ID] = &pending{table: c.Table, value: c.Value}
			order = append(order, c.ID)
		}
	}
	// Erases first, then creates, then values: a value may link to any create of the batch.
	values := a.commands(batch, creates)
	real, err := a.appear(order, creates, resolve)
	if err != nil {
		return err
	}
	for id, v := range values {
		// A put to an item that the batch erased has no effect.
		if _, table, ok := a.Find(id); ok {
			a.live[table][id] = linked(v, real)
		}
	}
	for p, id := range real {
		a.live[creates[p].table][id] = linked(creates[p].value, real)
	}
	a.batch, a.late, a.sealed = nil, a.late[a.sealed:], 0
	return nil
}

// commands applies erases to live items and returns the last put to each item.
// Puts to creates of the batch change the create.
func (a *Abstract) commands(batch []Command, creates map[uint64]*pending) map[uint64]Value {
	values := make(map[uint64]Value)
	for _, c := range batch {
		// A Stage completes the create itself, so every put replaces its value, also an
		// earlier put.
		if p := creates[c.ID]; c.Kind == Stage && c.OK && p != nil {
			p.value = c.Value
		}
	}
	for _, c := range batch {
		p := creates[c.ID]
		// A typed command through another table is stale.
		if p != nil && c.Kind != EraseUntyped && p.table != c.Table {
			continue
		}
		switch _, table, lives := a.Find(c.ID); {
		case c.Kind == Put && p != nil:
			p.value = c.Value
		case c.Kind == Put && lives && table == c.Table:
			values[c.ID] = c.Value
		case c.Kind == Erase || c.Kind == EraseUntyped:
			if p != nil {
				p.cancelled = true
			}
		}
	}
	// After the puts have found their items: the order of puts and erases must not matter.
	for _, c := range batch {
		if c.Kind == EraseAll {
			a.EraseWhere(c.Table, -1, func(Item) bool { return true })
		}
		_, table, lives := a.Find(c.ID)
		if lives && (c.Kind == EraseUntyped || c.Kind == Erase && table == c.Table) {
			a.Erase(table, c.ID)
		}
	}
	return values
}

// appear asks the store for the handle of each create. Exactly the creates that the batch
// does not erase must have one.
func (a *Abstract) appear(order []uint64, creates map[uint64]*pending, resolve func(int, uint64) (uint64, bool)) (map[uint64]uint64, error) {
	real, grown := make(map[uint64]uint64), make(map[int]int)
	for _, p := range order {
		c := creates[p]
		id, ok := resolve(c.table, p)
		switch {
		case ok && c.cancelled:
			return nil, fmt.Errorf("a create of table %d that the batch erases resolves to %s", c.table, Text(id))
		case !ok && !c.cancelled:
			return nil, fmt.Errorf("a create of table %d resolves to nothing", c.table)
		case !ok:
			continue
		}
		// Each handle is new in this history (G3).
		if err := a.begin(c.table, id); err != nil {
			return nil, err
		}
		real[p] = id
		grown[c.table]++
	}
	for t, more := range grown {
		n := len(a.live[t]) + more
		if limit := a.tables[t].Max; limit > 0 && n > limit { // a write may exceed it, shard by shard
			return nil, fmt.Errorf("table %d has %d items after the flush; MaxItems is %d", t, n, limit)
		}
	}
	return real, nil
}

// linked returns the item of a value with real handles. Links to nothing are null.
func linked(v Value, real map[uint64]uint64) Item {
	for i, l := range v.Links {
		if isProvisional(l) {
			v.Links[i] = real[l]
		}
	}
	return v.Item
}
