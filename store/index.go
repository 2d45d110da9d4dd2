package store

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"reflect"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/highwater"
	"handloom/internal/image"
	"handloom/internal/items"
	"handloom/shard"
	"handloom/tasks"
)

// ErrDuplicate means that two items of a table would have one key of an [Index]. The
// error names table, index and key. A flush returns it if a pass recorded the second
// item, and keeps the batch. A [Store.Submit] returns it if its call recorded the item,
// and only the call is dropped. Insert, Load and ReadCheckpoint return it, too.
var ErrDuplicate = errors.New("the key is taken")

// Index finds items of a table by a unique key, such as a name. [AddIndex] adds one.
//
// Digests and snapshots do not include an index; [Store.Load] and [Store.Rollback]
// rebuild it, in O(items) time. A flush updates it in parallel, in O(1) time per created, put or
// erased item.
//
// See guide/server.md.
type Index[K comparable, T any] struct {
	table *table
	name  string
	key   func(v *T) (K, bool)
	seed  maphash.Seed
	parts [indexParts]map[K]ID // by hash of the key

	// These belong to the flush being planned:
	plans  []keyPlan[K] // by task
	tasks  int
	lists  int // 1 or indexParts
	refuse refusal[K]
	peak   highwater.Mark // of tasks
}

// entry is a key and the handle of its item, or null without an item.
type entry[K comparable] struct {
	key K
	id  ID
}

// thisFlush is the handle of a claimed key until the flush is applied.
const thisFlush = ^ID(0)

// AddIndex adds an index to a table of either kind. name is unique among the indexes of
// the table. key returns the key of an item, or false for an item without one; a key that
// is not equal to itself, such as NaN, counts as none.
//
// Keys may change only by Put. A change in place breaks the index: Find misses the item,
// [Store.Verify] returns an error, and a build with the tag handloom_check panics after
// the next flush; both name the item. key must only look at the item, and not at its
// handles, because a flush resolves provisional handles after it has checked keys.
// Flushes and lookups call it on several goroutines.
//
// AddIndex panics, and names every fault, if the first frame has begun, the table has had
// items, a phase is open, the store is claimed or closed, the name is taken, or K holds
// handles.
func AddIndex[K comparable, T any](t TableOf[T], name string, key func(v *T) (K, bool)) *Index[K, T] {
	x := &Index[K, T]{table: tableOf("AddIndex", t), name: name, key: key, seed: maphash.MakeSeed()}
	for i := range x.parts {
		x.parts[i] = make(map[K]ID)
	}
	check.Given(key != nil, "store: AddIndex", "key function")
	if err := x.table.addIndex(x, name, reflect.TypeFor[K]()); err != nil {
		panic(err)
	}
	return x
}

// Find returns the handle of the item with the key, and whether it exists. It takes O(1)
// time: a map access, a look-up of the item and a call of the key function. The result
// never has another key.
//
// Inside a Frame, Find sees Insert, Remove and Clear at once.
//
// Callers are as for [Table.Get]. A system names the table in Reads.
func (x *Index[K, T]) Find(k K) (Handle[T], bool) {
	if check.Cheap {
		x.table.lookup("Find")
	}
	id, ok := x.part(k)[k]
	if !ok || !x.has(id, k) {
		return Handle[T]{}, false
	}
	return Handle[T]{ID: id}, true
}

// addIndex adds an index with the key type; on failure the table has not changed.
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
		fault("the key type %v may hold a handle, which a flush resolves only after it has checked the keys; use AddSparse or GroupBy for data of other items", keys)
	}
	if len(errs) > 0 {
		return prefixed(fmt.Sprintf("store: AddIndex %q to table %q", name, t.name), errors.Join(errs...))
	}
	if t.indexes = append(t.indexes, x); t.flushing.keys == nil {
		t.flushing.keys = newKeyFlush(t)
	}
	return nil
}

// keyIndex is an untyped [Index]. Items are given by address.
type keyIndex interface {
	title() string

	// These take effect at once:
	mayAdd(v unsafe.Pointer) error
	add(id ID, v unsafe.Pointer)
	remove(id ID, v unsafe.Pointer)
	clear()
	shrink()
	rebuild() error // returns the error of the first item, by shard and row, whose key is taken
	check(shards []shard.State) error
	verify() error

	// These belong to a flush; see keyFlush.
	begin(tasks, lists int)
	erase(task int, id ID, v unsafe.Pointer)
	put(task int, id *ID, v, value unsafe.Pointer)
	create(task int, values items.Slice, created []ID)
	settle(list int)
	refused() error
	apply(list int)
	forget()
	cancel()

	trial() keyTrial
}

func (x *Index[K, T]) title() string { return x.name }

func (x *Index[K, T]) keyOf(v unsafe.Pointer) (k K, ok bool) {
	k, ok = x.key((*T)(v))
	return k, ok && !isNaN(k)
}

// isNaN reports whether the key is not equal to itself.
func isNaN[K comparable](k K) bool { other := k; return k != other }

func (x *Index[K, T]) has(id ID, k K) bool {
	v := x.table.item(id)
	if v == nil {
		return false
	}
	got, ok := x.keyOf(v)
	return ok && got == k
}

// duplicate is the error of a second item with the key of holder. holder is thisFlush if its handle is
// not known any more, and the handle of a new item is null or provisional.
func (x *Index[K, T]) duplicate(k K, holder, second ID) error {
	name := func(id ID, other string) string {
		if id == thisFlush || id.IsZero() || id.IsProvisional() {
			return other
		}
		return fmt.Sprintf("item %v", id)
	}
	return fmt.Errorf("index %q: %w: %s and %s have key %s", x.name, ErrDuplicate, name(holder, "an item of the batch"), name(second, "a new item"), image.Clip(fmt.Sprint(k)))
}

func (x *Index[K, T]) mayAdd(v unsafe.Pointer) error {
	if k, ok := x.keyOf(v); ok {
		if holder, taken := x.part(k)[k]; taken && x.has(holder, k) {
			return x.duplicate(k, holder, 0)
		}
	}
	return nil
}

func (x *Index[K, T]) add(id ID, v unsafe.Pointer) {
	if k, ok := x.keyOf(v); ok {
		x.part(k)[k] = id
	}
}

func (x *Index[K, T]) remove(id ID, v unsafe.Pointer) {
	if k, ok := x.keyOf(v); ok {
		if ids := x.part(k); ids[k] == id {
			delete(ids, k)
		}
	}
}

func (x *Index[K, T]) clear() {
	for i := range x.parts {
		clear(x.parts[i])
	}
}

// shrink copies the maps, which keep the memory of all keys that they had.
func (x *Index[K, T]) shrink() {
	for i, ids := range x.parts {
		x.parts[i] = make(map[K]ID, len(ids))
		maps.Copy(x.parts[i], ids)
	}
	x.plans = nil
}

func (x *Index[K, T]) rebuild() (err error) {
	x.clear()
	for _, sh := range x.table.order {
		for id, v := range sh.Map.All {
			k, ok := x.keyOf(v)
			if !ok {
				continue
			}
			ids := x.part(k)
			if holder, taken := ids[k]; !taken {
				ids[k] = id
			} else if err == nil {
				err = x.duplicate(k, holder, id)
			}
		}
	}
	return err
}

// check returns ErrDuplicate if two items of the shards, which are not in a store yet,
// have one key.
func (x *Index[K, T]) check(shards []shard.State) error {
	ids := make(map[K]ID)
	for _, sh := range shards {
		for id, v := range sh.Map.All {
			if k, ok := x.keyOf(v); ok {
				if holder, taken := ids[k]; taken {
					return x.duplicate(k, holder, id)
				}
				ids[k] = id
			}
		}
	}
	return nil
}

// verify returns an error for the first item, by shard and row, that the index does not
// find, or for keys without an item.
func (x *Index[K, T]) verify() error {
	keys := 0
	for i, sh := range x.table.order {
		for id, v := range sh.Map.All {
			k, ok := x.keyOf(v)
			if !ok {
				continue
			}
			if keys++; x.part(k)[k] != id {
				row, _ := sh.Map.RowOf(id)
				return fmt.Errorf("index %q: item %v in row %d of shard %d has key %s, which the index has for item %v; change keys by Put, not in place",
					x.name, id, row, i, image.Clip(fmt.Sprint(k)), x.part(k)[k])
			}
		}
	}
	known := 0
	for i := range x.parts {
		known += len(x.parts[i])
	}
	if known != keys {
		return fmt.Errorf("index %q: %d keys of %d items; change keys by Put, not in place", x.name, known, keys)
	}
	return nil
}

// mayAdd returns ErrDuplicate if an index does not admit the value at v.
func (t *table) mayAdd(v unsafe.Pointer) error {
	for _, x := range t.indexes {
		if err := x.mayAdd(v); err != nil {
			return t.withName(err)
		}
	}
	return nil
}

// added adds the keys of an item that a Writer has inserted.
func (t *table) added(id ID) {
	for _, x := range t.indexes {
		x.add(id, t.item(id))
	}
}

// removed removes the keys of an item before a Writer removes it.
func (t *table) removed(id ID) {
	if v := t.item(id); v != nil {
		for _, x := range t.indexes {
			x.remove(id, v)
		}
	}
}

// reindex rebuilds the indexes of all tables, and returns the first error or the panic of a
// key function.
func (s *Store) reindex(p *phase) (err error) {
	for _, t := range s.tables {
		if t.indexes == nil {
			continue
		}
		failed := s.run(&uncancelled{p}, 1, func(int) error { return t.reindex() }, nil)
		if failed != nil && err == nil {
			err = fmt.Errorf("table %q: %w", t.name, failed)
		}
	}
	return err
}

// reindex rebuilds all indexes and returns the first error.
func (t *table) reindex() (err error) {
	for _, x := range t.indexes {
		if failed := x.rebuild(); err == nil {
			err = failed
		}
	}
	return err
}

// checkKeys returns ErrDuplicate if two loaded items have one key.
func (c *savedTable) checkKeys(ctx context.Context) error {
	if c.indexes == nil {
		return nil
	}
	return tasks.Run(ctx, 1, func(int) error { // a key function may panic
		for _, x := range c.indexes {
			if err := x.check(c.shards); err != nil {
				return err
			}
		}
		return nil
	}, tasks.Options{Workers: 1})
}

// verifyKeys returns an error if an index does not match the items.
func (t *table) verifyKeys() error {
	for _, x := range t.indexes {
		if err := x.verify(); err != nil {
			return fmt.Errorf("store: table %q: %w", t.name, err)
		}
	}
	return nil
}
