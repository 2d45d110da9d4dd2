package store

import (
	"errors"
	"fmt"
	"unsafe"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/paged"
	"handloom/shard"
)

// Value is state of type T that a store has once, such as a score. It is part of digests,
// checkpoints, snapshots and rollbacks. [AddValue] makes one.
//
// It takes no commands: a Write, or a system with the value in Writes, changes it in
// place. Systems name it in Reads or Writes.
type Value[T any] struct {
	core table
	maps [MaxShards]*paged.Set
}

// AddValue adds a value to s; it is zero at first, and after a load of a snapshot without
// it. o.Name is unique among tables and values; Clone and Links are as for tables;
// Changes is not allowed.
//
// It takes the highest free typeId, so the handles of tables do not change; a snapshot
// loads only if the typeId is the same. AddValue panics, and names every fault, when a
// phase is open, the store is claimed or closed, or an option is invalid.
func AddValue[T any](s *Store, o ColumnOptions[T]) *Value[T] {
	v := new(Value[T])
	all := untypedColumn(o)
	if err := v.core.addValue(s, &v.maps, all, lastValue, items.From(make([]T, 1)), items.For[T](), paged.TypeFor[T]()); err != nil {
		panic(err)
	}
	return v
}

// TypeIds of values descend. The random numbers have a fixed one, so Options.Seed does
// not change other typeIds.
const (
	randomValue = handle.MaxTypeID
	lastValue   = randomValue - 1
)

// addValue makes t the table of a value, with the highest free typeId up to highest.
func (t *table) addValue(s *Store, maps *[MaxShards]*paged.Set, o columnOptions, highest int, initial items.Slice, typ *items.Type, cells *paged.Type) error {
	s.made("AddValue")
	if o.changes {
		return errors.New("store: AddValue: a value keeps no changes; leave Changes out")
	}
	for highest > 0 && s.tableAt(highest) != nil {
		highest--
	}
	t.lookups.stable = maps
	return t.register(s, "AddValue", options{Name: o.name, TypeID: highest, links: o.links, clone: o.clone, initial: initial}, typ, cells)
}

// setInitial inserts the initial item into the empty map m. All such maps issue the same
// handle.
func (t *table) setInitial(m shard.Map) error {
	ids, err := m.InsertItems(t.initial, nil)
	if err == nil {
		t.value = ids[0]
	}
	return err
}

// setMissing resets the values that a snapshot lacks to their initial items.
func setMissing(tables []emptyTable, order []source) error {
	found := make([]bool, len(tables))
	for _, from := range order {
		found[from.table] = true
	}
	for i, t := range tables {
		if t.table.isValue() && !found[i] {
			if err := t.table.setInitial(t.shards[0].Map); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *table) isValue() bool { return t.initial.Len() > 0 }

// String returns the kind and name for messages.
func (t *table) String() string {
	if t.isValue() {
		return fmt.Sprintf("value %q", t.name)
	}
	return fmt.Sprintf("table %q", t.name)
}

// one returns the item of a value, or nil when the store is closed.
func (t *table) one() unsafe.Pointer { return t.order[0].Map.Item(t.value) }

// mayBe returns an error if the loaded map m cannot be a map of the table.
func (t *table) mayBe(m shard.Map) error {
	if t.isValue() && (m.Len() != 1 || m.Item(t.value) == nil) {
		return fmt.Errorf("a value of %d items, want 1, the initial one", m.Len())
	}
	return nil
}

func (v *Value[T]) resource() resource {
	if v == nil {
		return resource{}
	}
	return resource{table: &v.core}
}

// Name returns the name of the value.
func (v *Value[T]) Name() string { return v.core.name }

// Get returns a pointer to the value, or nil after Close. It takes O(1) time. The pointer
// is valid until a [Store.Load]. Callers are as for [Table.Get].
func (v *Value[T]) Get() *T {
	if check.Cheap {
		v.core.lookup("Get")
	}
	return (*T)(v.core.one())
}
