package store

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/highwater"
	"handloom/internal/image"
	"handloom/internal/items"
	"handloom/shard"
	"handloom/tasks"
)

// ErrDuplicate means that two items of a table would have one key of an [Index]. A flush
// returns it, wrapped with table, index and key, if a pass recorded the second item: the
// batch is kept. A call of [Store.Submit] returns it if the call recorded the item: the call
// alone is dropped. Insert returns it, too, and a load of a snapshot with such items.
var ErrDuplicate = errors.New("the key is taken")

// Index finds items of a table by a key that at most one item has, such as a name. [AddIndex]
// makes one.
//
// An index follows from the items: digests and snapshots do not include it, [Store.Load] and
// [Store.Rollback] rebuild it, in O(items) time. A flush checks and changes it on one
// goroutine, in O(1) time for each item that it creates, puts a value to or erases.
//
// The guide's page is guide/server.md.
type Index[K comparable, T any] struct {
	table *table
	name  string
	key   func(v *T) (K, bool)
	ids   map[K]ID

	// Of the flush that is planned:
	before []entry[K] // what it changed, in order
	claims []claimedKey[K]

	beforePeak, claimsPeak highwater.Mark
}

// entry is a key and the handle of its item, or null if no item has the key.
type entry[K comparable] struct {
	key K
	id  ID
}

// claimedKey is a key of an item that the flush creates or puts. The handle of a created item is
// there once the flush has applied the create.
type claimedKey[K comparable] struct {
	key K
	id  *ID
}

// thisFlush stands for the item of a claimed key until the flush is applied.
const thisFlush = ^ID(0)

// AddIndex adds an index to a table of either kind. name is unique among the indexes of the
// table. key returns the key of an item, or false for an item without one; a key that is not
// equal to itself, such as NaN, is none.
//
// Keys change by Put alone: a pass or a Write that changes the key of an item in place breaks
// the index, so that Find does not find the item. [Store.Verify] returns an error then, and a
// build with the tag handloom_check panics after the next flush; both name the item. key must
// look at nothing but the item and not at its handles, because a flush makes provisional
// handles real only after it has checked the keys. It is called by one goroutine at a time in
// flushes, and by any number in lookups.
//
// AddIndex panics, with every fault named, if the first frame has begun, the table has had
// items, a phase is open, the store is claimed or closed, the name is taken, or K holds
// handles.
func AddIndex[K comparable, T any](t TableOf[T], name string, key func(v *T) (K, bool)) *Index[K, T] {
	x := &Index[K, T]{table: tableOf("AddIndex", t), name: name, key: key, ids: make(map[K]ID)}
	check.Given(key != nil, "store: AddIndex", "key function")
	if err := x.table.addIndex(x, name, reflect.TypeFor[K]()); err != nil {
		panic(err)
	}
	return x
}

// Find returns the handle of the item with the key, and whether there is one. It takes O(1)
// time: one access to a map, one look-up of the item and one call of the key function. The
// result is never an item with another key.
//
// Inside a Write, Find sees every Insert, Remove and Clear at once. It sees changes by [Maps] as
// soon as a pass, a flush or a Read has joined the Write, and after the Write.
//
// The rules of [Table.Get] for callers hold. To a system the index is its table: the system
// names the table in Reads.
func (x *Index[K, T]) Find(k K) (Handle[T], bool) {
	if check.Cheap {
		x.table.lookup("Find")
	}
	id, ok := x.ids[k]
	if !ok || !x.has(id, k) {
		return Handle[T]{}, false
	}
	return Handle[T]{ID: id}, true
}

// addIndex adds an index with keys of a type, or leaves the table as it is if anything fails.
func (t *table) addIndex(x keyIndex, name string, keys reflect.Type) error {
	s := t.store
	if !s.gate.tryAcquire(false) {
		return fmt.Errorf("store: AddIndex: %w: a phase is open; add indexes right after Register", ErrPhase)
	}
	defer s.gate.release(false)
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if s.closed {
		fault("%w", ErrClosed)
	}
	if s.claim.Load() != nil {
		fault("%w", errClaimed)
	}
	if s.frames.Load() > 0 || t.version > 0 {
		fault("%w: the first frame has begun, or the table has had items; add indexes right after Register", ErrPhase)
	}
	if name == "" {
		fault("the name is empty; give each index of a table a name of its own")
	}
	for _, other := range t.indexes {
		if other.title() == name {
			fault("the name is taken; give each index of a table a name of its own")
		}
	}
	if fields, err := handleFields(keys, false, ""); len(fields) > 0 || err != nil {
		fault("the key type %v may hold a handle, which a flush makes real only after it has checked the keys; use AddSparse or GroupBy for data of other items", keys)
	}
	if len(errs) > 0 {
		return prefixed(fmt.Sprintf("store: AddIndex %q to table %q", name, t.name), errors.Join(errs...))
	}
	t.indexes = append(t.indexes, x)
	return nil
}

// keyIndex is an [Index] of any types. An item is given by its address.
type keyIndex interface {
	title() string

	// At once:
	mayAdd(v unsafe.Pointer) error
	add(id ID, v unsafe.Pointer)
	remove(id ID, v unsafe.Pointer)
	clear()
	rebuild() error // the error of the first item, by shard and row, whose key an item before has
	check(shards []shard.State) error
	verify() error

	// A flush gives up the keys of all rows that it erases or puts, before check takes keys.
	erase(id ID, v unsafe.Pointer)
	put(id *ID, v, value unsafe.Pointer)
	create(values items.Slice, created []ID)
	claim() error
	apply()
	cancel()

	trial() keyTrial
}

func (x *Index[K, T]) title() string { return x.name }

// keyOf returns the key of the item at v, if it has one.
func (x *Index[K, T]) keyOf(v unsafe.Pointer) (k K, ok bool) {
	k, ok = x.key((*T)(v))
	return k, ok && !isNaN(k)
}

// isNaN reports whether the key is not equal to itself.
func isNaN[K comparable](k K) bool { other := k; return k != other }

// has reports whether id names an item with the key.
func (x *Index[K, T]) has(id ID, k K) bool {
	v := x.table.item(id)
	if v == nil {
		return false
	}
	got, ok := x.keyOf(v)
	return ok && got == k
}

// duplicate is the error of a second item with the key. holder is the first one, or null if
// its handle is not known yet.
func (x *Index[K, T]) duplicate(k K, holder ID) error {
	by := "another item of the batch"
	if !holder.IsZero() && holder != thisFlush && !holder.IsProvisional() {
		by = fmt.Sprintf("item %v", holder)
	}
	return fmt.Errorf("index %q: %w: %s has key %s", x.name, ErrDuplicate, by, image.Clip(fmt.Sprint(k)))
}

// mayAdd returns ErrDuplicate if an item has the key of the value at v.
func (x *Index[K, T]) mayAdd(v unsafe.Pointer) error {
	if k, ok := x.keyOf(v); ok {
		if holder, taken := x.ids[k]; taken && x.has(holder, k) {
			return x.duplicate(k, holder)
		}
	}
	return nil
}

func (x *Index[K, T]) add(id ID, v unsafe.Pointer) {
	if k, ok := x.keyOf(v); ok {
		x.ids[k] = id
	}
}

func (x *Index[K, T]) remove(id ID, v unsafe.Pointer) {
	if k, ok := x.keyOf(v); ok && x.ids[k] == id {
		delete(x.ids, k)
	}
}

func (x *Index[K, T]) clear() { clear(x.ids) }

func (x *Index[K, T]) rebuild() (err error) {
	clear(x.ids)
	for _, sh := range x.table.order {
		for id, v := range sh.Map.All {
			k, ok := x.keyOf(v)
			if !ok {
				continue
			}
			if holder, taken := x.ids[k]; taken {
				if err == nil {
					err = x.duplicate(k, holder)
				}
				continue
			}
			x.ids[k] = id
		}
	}
	return err
}

// check returns ErrDuplicate if items of the shards, which are no part of a store yet, have
// one key.
func (x *Index[K, T]) check(shards []shard.State) error {
	ids := make(map[K]ID)
	for _, sh := range shards {
		for id, v := range sh.Map.All {
			if k, ok := x.keyOf(v); ok {
				if holder, taken := ids[k]; taken {
					return x.duplicate(k, holder)
				}
				ids[k] = id
			}
		}
	}
	return nil
}

// verify returns an error for the first item, by shard and row, that the index does not find by
// its key, or for keys of no item.
func (x *Index[K, T]) verify() error {
	keys := 0
	for i, sh := range x.table.order {
		for id, v := range sh.Map.All {
			k, ok := x.keyOf(v)
			if !ok {
				continue
			}
			if keys++; x.ids[k] != id {
				row, _ := sh.Map.RowOf(id)
				return fmt.Errorf("index %q: item %v in row %d of shard %d has key %s, which the index has for item %v; change keys by Put, not in place",
					x.name, id, row, i, image.Clip(fmt.Sprint(k)), x.ids[k])
			}
		}
	}
	if len(x.ids) != keys {
		return fmt.Errorf("index %q: %d keys of %d items; change keys by Put, not in place", x.name, len(x.ids), keys)
	}
	return nil
}

// mayAdd returns ErrDuplicate if an index forbids the value at v.
func (t *table) mayAdd(v unsafe.Pointer) error {
	for _, x := range t.indexes {
		if err := x.mayAdd(v); err != nil {
			return t.named(err)
		}
	}
	return nil
}

// added notes the keys of an item that a Writer has inserted.
func (t *table) added(id ID) {
	for _, x := range t.indexes {
		x.add(id, t.item(id))
	}
}

// removed forgets the keys of an item that a Writer is about to remove, if there is one.
func (t *table) removed(id ID) {
	if v := t.item(id); v != nil {
		for _, x := range t.indexes {
			x.remove(id, v)
		}
	}
}

// reindex rebuilds the indexes from the items, and returns the first error of all.
func (t *table) reindex() (err error) {
	for _, x := range t.indexes {
		if failed := x.rebuild(); err == nil {
			err = failed
		}
	}
	return err
}

// checkKeys returns ErrDuplicate if items that were read have one key.
func (c *savedTable) checkKeys(ctx context.Context) error {
	if c.table.indexes == nil {
		return nil
	}
	return tasks.Run(ctx, 1, func(int) error { // a key function may panic
		for _, x := range c.table.indexes {
			if err := x.check(c.shards); err != nil {
				return err
			}
		}
		return nil
	}, tasks.Options{Workers: 1})
}

// verifyKeys returns an error if an index does not follow from the items.
func (t *table) verifyKeys() error {
	for _, x := range t.indexes {
		if err := x.verify(); err != nil {
			return fmt.Errorf("store: table %q: %w", t.name, err)
		}
	}
	return nil
}
