package store

import (
	"fmt"
	"unsafe"

	"handloom/batch"
)

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
			it.keyed = it.keyed && t.index.part(it.key)[it.key] == id
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
			return t.index.duplicate(k, holder, id)
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
	if id, ok := t.index.part(k)[k]; ok && t.index.has(id, k) {
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
