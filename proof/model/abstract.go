package model

import (
	"fmt"
	"maps"
	"slices"
)

// Abstract knows the live items and their values.
type Abstract struct {
	tables []Table
	live   []map[uint64]Item   // by table
	ever   map[uint64]struct{} // every handle issued in this history; a program creates at most a million items
	issued []uint64            // ever, in the order of issue
	batch  []Command           // commands of successful passes, in key order
	late   [][]Command         // calls of the inbox, after batch
	sealed int                 // number of late calls that the next flush applies
}

// NewAbstract returns a model of empty tables.
func NewAbstract(tables []Table) *Abstract {
	a := &Abstract{tables: tables, ever: make(map[uint64]struct{})}
	for range tables {
		a.live = append(a.live, make(map[uint64]Item))
	}
	return a
}

// Find returns the live item of a handle and its table.
func (a *Abstract) Find(id uint64) (item Item, table int, ok bool) {
	for table, items := range a.live {
		if item, ok := items[id]; ok {
			return item, table, true
		}
	}
	return Item{}, 0, false
}

// Len returns the number of live items of a table.
func (a *Abstract) Len(table int) int { return len(a.live[table]) }

// Issued returns all handles of this history, oldest first. They may be stale.
func (a *Abstract) Issued() []uint64 { return a.issued }

// IssuedOnly returns the handles issued in this history but not in other,
// oldest first.
func (a *Abstract) IssuedOnly(other *Abstract) []uint64 {
	return slices.DeleteFunc(slices.Clone(a.issued), func(id uint64) bool {
		_, both := other.ever[id]
		return both
	})
}

// Record adds the commands of a successful pass, task by task, or an inbox call.
func (a *Abstract) Record(commands []Command, late bool) {
	if late {
		if records(commands) > 0 {
			a.late = append(a.late, commands)
		}
	} else {
		a.batch = append(a.batch, commands...)
	}
}

// Touched returns the targets of the batch that are older than it, and the
// items of tables that it empties.
func (a *Abstract) Touched() []uint64 {
	var ids []uint64
	emptied := make(map[int]bool)
	for _, commands := range append(a.late, a.batch) {
		for i := range commands {
			if c := &commands[i]; c.Kind == EraseAll {
				emptied[c.Table] = true
			} else if !isProvisional(c.ID) {
				ids = append(ids, c.ID)
			}
		}
	}
	if len(emptied) == 0 {
		return ids
	}
	// The order of issue does not depend on the map, so a program gets the same handles in
	// each run.
	for _, id := range a.issued {
		if _, table, lives := a.Find(id); lives && emptied[table] {
			ids = append(ids, id)
		}
	}
	return ids
}

// EndEvents makes the next flush erase all items of tables with Events.
func (a *Abstract) EndEvents() {
	for i, t := range a.tables {
		if t.Events {
			// commands erases before creates appear, so the position in the batch does not
			// matter.
			a.batch = append(a.batch, Command{Kind: EraseAll, Table: i})
		}
	}
}

// Seal makes the next flush apply the calls that have arrived.
func (a *Abstract) Seal() { a.sealed = len(a.late) }

// Discard drops the batch and the calls that have arrived.
func (a *Abstract) Discard() { a.batch, a.late, a.sealed = nil, nil, 0 }

// Insert adds an item at once, with the handle that the store issued.
func (a *Abstract) Insert(table int, id uint64, item Item) error {
	if err := a.begin(table, id); err != nil {
		return err
	}
	a.live[table][id] = item
	return nil
}

// begin checks that a handle is new and of the table (G3).
func (a *Abstract) begin(table int, id uint64) error {
	if _, old := a.ever[id]; old {
		return fmt.Errorf("the handle %s is issued a second time", Text(id))
	}
	// A handle of a live item is not null, has no free bit and has a typeId of its table.
	if id == 0 || isProvisional(id) || !a.tables[table].has(id) {
		return fmt.Errorf("the handle %s is issued in table %d, whose typeIds are %d to %d",
			Text(id), table, a.tables[table].TypeID, int(a.tables[table].TypeID)+a.tables[table].Shards-1)
	}
	a.ever[id] = struct{}{}
	a.issued = append(a.issued, id)
	return nil
}

// Erase erases an item at once and reports whether it existed.
func (a *Abstract) Erase(table int, id uint64) bool {
	_, ok := a.live[table][id]
	delete(a.live[table], id)
	return ok
}

// EraseWhere erases the items for which f is true, in a shard, or in the whole
// table if shard is negative.
func (a *Abstract) EraseWhere(table, shard int, f func(Item) bool) {
	maps.DeleteFunc(a.live[table], func(id uint64, item Item) bool {
		return (shard < 0 || int(typeIDOf(id))-int(a.tables[table].TypeID) == shard) && f(item)
	})
}

// Change changes all items of a table in place, in any order.
func (a *Abstract) Change(table int, f func(*Item)) {
	for id, item := range a.live[table] {
		f(&item)
		a.live[table][id] = item
	}
}

// Set replaces the item of a live handle.
func (a *Abstract) Set(id uint64, item Item) {
	_, table, _ := a.Find(id)
	a.live[table][id] = item
}

// Text formats a handle as typeId:slot.generation.
func Text(id uint64) string {
	free := ""
	if isProvisional(id) {
		free = "~"
	}
	return fmt.Sprintf("%s%d:%d.%d (%#x)", free, typeIDOf(id), uint32(id), uint16(id>>32), id)
}
