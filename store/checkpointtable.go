package store

import (
	"fmt"
	"reflect"
	"unsafe"

	"handloom/internal/apply"
	"handloom/internal/items"
)

// copying is how the items of a table are copied.
type copying struct {
	clone  func(dst, src unsafe.Pointer) // nil: by assignment
	afresh func(dst, src unsafe.Pointer) // clone, to a zero *dst
	shared string                        // what assignment would share; "": nothing, or there is clone
}

func (c *copying) init(of *items.Type, clone func(dst, src unsafe.Pointer)) {
	if clone == nil {
		c.shared = sharedField(of.Reflect)
		return
	}
	c.clone = clone
	c.afresh = func(dst, src unsafe.Pointer) {
		// What a live item holds, the program may hold as well: Clone must not
		// write to it.
		of.Zero(dst)
		clone(dst, src)
	}
}

// savedTable is the copy of a table in a [Checkpoint].
type savedTable struct {
	table  *table
	shards []apply.Map // nil: never copied
	begun  []bool      // restores that have not come to their end
}

func (t *table) copyable() error {
	if t.copying.shared == "" {
		return nil
	}
	return fmt.Errorf("%w of table %q: copies would share %s; give it TableOptions.Clone",
		ErrCheckpoint, t.name, t.copying.shared)
}

func (t *table) newCopy() *savedTable {
	n := len(t.order)
	return &savedTable{table: t, shards: make([]apply.Map, n), begun: make([]bool, n)}
}

// forgetFrame forgets what the last frame created and changed, and where items were.
func (t *table) forgetFrame() {
	t.version++
	t.recorder.Forget()
	t.forgetChanges()
	t.written.clear()
}

func (c *savedTable) save(i int) {
	c.shards[i] = apply.Copy(c.table.order[i].Map, c.shards[i], c.table.copying.clone)
}

func (c *savedTable) restore(i int) {
	c.begun[i] = true
	apply.Copy(c.shards[i], c.table.order[i].Map, c.table.copying.afresh)
	c.begun[i] = false
}

// giveUp restores the shards whose restore failed with the items themselves.
// The copy is of no use afterwards.
func (c *savedTable) giveUp() {
	for i, begun := range c.begun {
		if begun {
			apply.Copy(c.shards[i], c.table.order[i].Map, nil)
		}
	}
}

// Estimated nanoseconds, which decide only whether copying runs inline and which
// shard is begun first (op=checkpoint).
const (
	bytesCopiedPerNanosecond = 8
	cloneCost                = 20 // of an item, by Clone
)

func (c *savedTable) cost(shard int) int64 {
	from := c.table.order[shard].Map.Stats()
	if saved := c.shards[shard]; saved != nil {
		if of := saved.Stats(); of.Bytes > from.Bytes {
			from = of
		}
	}
	cost := from.Bytes / bytesCopiedPerNanosecond
	if c.table.copying.clone != nil {
		cost += int64(from.Live) * cloneCost
	}
	return cost
}

// sharedField names the first part of a value of t that a copy by assignment
// shares with the original and through which one could change the other, such as
// "Agent.Path of kind slice"; "" if there is none. Strings are shared but cannot be
// changed.
func sharedField(t reflect.Type) string { return sharedPart(t, t.String()) }

func sharedPart(t reflect.Type, path string) string {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if shared := sharedPart(f.Type, path+"."+f.Name); shared != "" {
				return shared
			}
		}
	case reflect.Array:
		if t.Len() > 0 {
			return sharedPart(t.Elem(), path+"[0]")
		}
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return path + " of kind " + t.Kind().String()
	}
	return ""
}
