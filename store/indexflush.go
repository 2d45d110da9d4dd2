package store

import (
	"fmt"
	"unsafe"

	"handloom/batch"
	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// set maps the key to an item, or to none, until cancel.
func (x *Index[K, T]) set(k K, before, id ID) {
	x.before = append(x.before, entry[K]{k, before})
	if id.IsZero() {
		delete(x.ids, k)
	} else {
		x.ids[k] = id
	}
}

func (x *Index[K, T]) erase(id ID, v unsafe.Pointer) {
	if k, ok := x.keyOf(v); ok && x.ids[k] == id {
		x.set(k, id, 0)
	}
}

func (x *Index[K, T]) put(id *ID, v, value unsafe.Pointer) {
	old, had := x.keyOf(v)
	k, ok := x.keyOf(value)
	had = had && x.ids[old] == *id
	if had && ok && k == old {
		return
	}
	if had {
		x.set(old, *id, 0)
	}
	if ok {
		x.claims = append(x.claims, claimedKey[K]{k, id})
	}
}

func (x *Index[K, T]) create(values items.Slice, created []ID) {
	all := *items.As[T](&values)
	for i := range all {
		if k, ok := x.keyOf(unsafe.Pointer(&all[i])); ok {
			x.claims = append(x.claims, claimedKey[K]{k, &created[i]})
		}
	}
}

func (x *Index[K, T]) claim() error {
	for _, c := range x.claims {
		holder, taken := x.ids[c.key]
		if taken && (holder == thisFlush || x.has(holder, c.key)) {
			return x.duplicate(c.key, holder)
		}
		x.set(c.key, holder, thisFlush)
	}
	return nil
}

func (x *Index[K, T]) apply() {
	for _, c := range x.claims {
		x.ids[c.key] = *c.id
	}
	x.forget()
}

// cancel undoes erase, put and claim.
func (x *Index[K, T]) cancel() {
	for i := len(x.before) - 1; i >= 0; i-- {
		if e := x.before[i]; e.id.IsZero() {
			delete(x.ids, e.key)
		} else {
			x.ids[e.key] = e.id
		}
	}
	x.forget()
}

func (x *Index[K, T]) forget() {
	clear(x.before)
	clear(x.claims)
	x.before = highwater.Trim(&x.beforePeak, x.before)
	x.claims = highwater.Trim(&x.claimsPeak, x.claims)
}

// planKeys releases the keys of items that the batch erases and puts, then claims the
// keys of items that it puts and creates. ErrDuplicate names the first taken key. It is
// the last step of planning, and calls user code.
func (f *flush) planKeys() error {
	for _, t := range f.tables {
		if len(t.indexes) == 0 {
			continue
		}
		for i := range t.flushing.shards.All {
			t.planRows(i)
		}
		commands := t.recorder.Pending
		commands.Runs(0, commands.Survivors(), func(values items.Slice, created []ID) {
			for _, x := range t.indexes {
				x.create(values, created)
			}
		})
		for _, x := range t.indexes {
			if err := x.claim(); err != nil {
				return fmt.Errorf("table %q: %w", t.name, err)
			}
		}
	}
	return nil
}

// planRows passes the erases and the last put of each item of a shard to the indexes.
func (t *table) planRows(index int) {
	m, commands, seen := t.order[index].Map, t.recorder.Pending, &t.flushing.rowsKeyed
	defer seen.Clear() // key may panic
	erase := func(id ID) {
		if m.Mark(seen, id) == slotset.Marked {
			for _, x := range t.indexes {
				x.erase(id, m.Item(id))
			}
		}
	}
	if commands.All() > 0 {
		for id := range m.All {
			erase(id)
		}
	}
	for _, erases := range commands.Erases(index) {
		for _, id := range erases.IDs {
			erase(id)
		}
		for _, row := range erases.Rows {
			erase(m.IDAt(int(row)))
		}
	}
	puts := commands.Puts(index)
	for i := len(puts) - 1; i >= 0; i-- {
		p := puts[i]
		for at := len(p.IDs) - 1; at >= 0; at-- {
			id := &p.IDs[at]
			if id.IsProvisional() || m.Mark(seen, *id) != slotset.Marked {
				continue // the create has the value, or the item is erased, stale or put later
			}
			for _, x := range t.indexes {
				x.put(id, m.Item(*id), p.Values.Pointer(at, t.typ.Size))
			}
		}
	}
}

// applyKeys maps the claimed keys to their items.
func (f *flush) applyKeys() {
	for _, t := range f.tables {
		for _, x := range t.indexes {
			x.apply()
		}
	}
}

func (t *table) cancelKeys() {
	for _, x := range t.indexes {
		x.cancel()
	}
}

// visitKeys calls the key functions on the values of a call, and may panic.
func (s *Store) visitKeys(c batch.InboxCall) {
	c.Values(func(ordinal int, _ ID, v unsafe.Pointer, _ bool) {
		for _, x := range s.tables[ordinal].indexes {
			_ = x.mayAdd(v)
		}
	})
}
