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

// keyTrials find the calls of the inbox that claim a taken key: each call is added to the
// passes and accepted calls, and removed if it does.
type keyTrials struct {
	store  *Store
	tables [][]keyTrial // by ordinal
}

// keyTrial is the trial of one index.
type keyTrial interface {
	create(id ID, v unsafe.Pointer)
	put(id ID, v unsafe.Pointer)
	erase(id ID)
	finish() error // on error the caller must undo
	keep()
	undo()
}

// newKeyTrials returns trials from the state of the store, or nil if no table has an index.
func (s *Store) newKeyTrials() *keyTrials {
	var k *keyTrials
	for _, t := range s.tables {
		if len(t.indexes) == 0 {
			continue
		}
		if k == nil {
			k = &keyTrials{s, make([][]keyTrial, len(s.tables))}
		}
		t.resolveRows() // erases of passes
		for _, x := range t.indexes {
			k.tables[t.ordinal] = append(k.tables[t.ordinal], x.trial())
		}
	}
	if k != nil {
		for _, ordinal := range s.flush.ended {
			k.eraseAll(ordinal)
		}
	}
	return k
}

// try adds calls or queues of passes, and returns ErrDuplicate if two items have one key
// then. keep or undo must follow, also after a panic of a key function.
func (k *keyTrials) try(all ...batch.InboxCall) error {
	for _, c := range all {
		k.add(c)
	}
	for ordinal, all := range k.tables {
		for _, x := range all {
			if err := x.finish(); err != nil {
				return fmt.Errorf("table %q: %w", k.store.tables[ordinal].name, err)
			}
		}
	}
	return nil
}

func (k *keyTrials) add(c batch.InboxCall) {
	c.Values(func(ordinal int, id ID, v unsafe.Pointer, put bool) {
		for _, x := range k.tables[ordinal] {
			if put {
				x.put(id, v)
			} else {
				x.create(id, v)
			}
		}
	})
	c.Erases(func(ordinal, shard int, ids []ID) {
		if shard < 0 {
			k.eraseAll(ordinal)
		}
		for _, x := range k.tables[ordinal] {
			for _, id := range ids {
				x.erase(id)
			}
		}
	})
}

func (k *keyTrials) eraseAll(ordinal int) {
	for _, x := range k.tables[ordinal] {
		for _, sh := range k.store.tables[ordinal].order {
			for id := range sh.Map.All {
				x.erase(id)
			}
		}
	}
}

func (k *keyTrials) keep() { k.each(keyTrial.keep) }
func (k *keyTrials) undo() { k.each(keyTrial.undo) }

func (k *keyTrials) each(f func(keyTrial)) {
	for _, all := range k.tables {
		for _, x := range all {
			f(x)
		}
	}
}

// trial is a keyTrial of an index. Handles of creates are provisional.
type trial[K comparable, T any] struct {
	index *Index[K, T]
	items map[ID]tried[K]
	ids   map[K]ID // differences to the index; null: the key is free

	// These belong to the call being tried:
	touched []ID        // items, without duplicates
	before  []tried[K]  // old items, by touched
	changed []entry[K]  // old entries of ids
	known   map[ID]bool // set of touched
}

// tried is an item that the batch creates, puts or erases.
type tried[K comparable] struct {
	value  unsafe.Pointer // nil: there is no item, or no create so far
	put    unsafe.Pointer // the last value that is put, or nil
	erased bool
	keyed  bool // it has the key
	key    K
}

func (x *Index[K, T]) trial() keyTrial {
	return &trial[K, T]{index: x, items: make(map[ID]tried[K]), ids: make(map[K]ID), known: make(map[ID]bool)}
}

// touch changes an item, as the call that is tried does.
func (t *trial[K, T]) touch(id ID, change func(it *tried[K])) {
	it, seen := t.items[id]
	if !seen {
		if it.value = t.index.table.item(id); it.value != nil {
			it.key, it.keyed = t.index.keyOf(it.value)
			it.keyed = it.keyed && t.index.ids[it.key] == id
		}
	}
	if !t.known[id] {
		t.known[id] = true
		t.touched, t.before = append(t.touched, id), append(t.before, it)
	}
	change(&it)
	t.items[id] = it
}

func (t *trial[K, T]) create(id ID, v unsafe.Pointer) {
	t.touch(id, func(it *tried[K]) { it.value = v })
}

func (t *trial[K, T]) put(id ID, v unsafe.Pointer) {
	t.touch(id, func(it *tried[K]) { it.put = v })
}

func (t *trial[K, T]) erase(id ID) {
	t.touch(id, func(it *tried[K]) { it.erased = true })
}

// finish gives up the keys of all items that the call touches, and takes the keys that they
// have then.
func (t *trial[K, T]) finish() error {
	for _, id := range t.touched {
		if it := t.items[id]; it.keyed {
			t.set(it.key, id, 0)
			it.keyed = false
			t.items[id] = it
		}
	}
	for _, id := range t.touched {
		it := t.items[id]
		v := it.put
		if v == nil {
			v = it.value
		}
		if it.value == nil || it.erased {
			continue
		}
		k, ok := t.index.keyOf(v)
		if !ok {
			continue
		}
		holder := t.holder(k)
		if !holder.IsZero() {
			return t.index.duplicate(k, holder)
		}
		t.set(k, holder, id)
		it.key, it.keyed = k, true
		t.items[id] = it
	}
	return nil
}

// holder returns the item that has the key, or null.
func (t *trial[K, T]) holder(k K) ID {
	if id, ok := t.ids[k]; ok {
		return id
	}
	if id, ok := t.index.ids[k]; ok && t.index.has(id, k) {
		return id
	}
	return 0
}

func (t *trial[K, T]) set(k K, before, id ID) {
	t.changed = append(t.changed, entry[K]{k, before})
	t.ids[k] = id
}

func (t *trial[K, T]) keep() {
	t.touched, t.before, t.changed = t.touched[:0], t.before[:0], t.changed[:0]
	clear(t.known)
}

func (t *trial[K, T]) undo() {
	for i := len(t.changed) - 1; i >= 0; i-- {
		t.ids[t.changed[i].key] = t.changed[i].id
	}
	for i, id := range t.touched {
		t.items[id] = t.before[i]
	}
	t.keep()
}
