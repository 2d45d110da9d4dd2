package store

import (
	"fmt"
	"reflect"

	"handloom/shard"
)

// copying is how the items of a table are copied.
type copying[T any] struct {
	clone  func(dst, src *T) // nil: by assignment
	afresh func(dst, src *T) // clone, to a zero *dst
	shared string            // what assignment would share; "": nothing, or there is clone
}

func (c *copying[T]) init(clone func(dst, src *T)) {
	if clone == nil {
		c.shared = sharedField(reflect.TypeFor[T]())
		return
	}
	c.clone = clone
	c.afresh = func(dst, src *T) {
		// What a live item holds, the program may hold as well: Clone must not
		// write to it.
		var none T
		*dst = none
		clone(dst, src)
	}
}

// tableCopy is the copy of a table of any item type.
type tableCopy interface {
	save(shard int)
	restore(shard int)
	giveUp()
	cost(shard int) int64
}

// savedTable is the copy of a table in a [Checkpoint].
type savedTable[T any] struct {
	table  *tableBase[T]
	shards []shard.Container[T] // nil: never copied
	begun  []bool               // restores that have not come to their end
}

func (t *tableBase[T]) copyable() error {
	if t.copying.shared == "" {
		return nil
	}
	return fmt.Errorf("%w of table %q: copies would share %s; give it TableOptions.Clone",
		ErrCheckpoint, t.name, t.copying.shared)
}

func (t *tableBase[T]) newCopy() tableCopy {
	n := len(t.order)
	return &savedTable[T]{table: t, shards: make([]shard.Container[T], n), begun: make([]bool, n)}
}

// forgetFlush forgets the names and changes of the last flush.
func (t *tableBase[T]) forgetFlush() {
	t.flushing.forget()
	for _, sh := range t.order {
		sh.ForgetChanges()
	}
}

func (c *savedTable[T]) save(shard int) {
	c.shards[shard] = c.table.order[shard].Map.CopyTo(c.shards[shard], c.table.copying.clone)
}

func (c *savedTable[T]) restore(shard int) {
	c.begun[shard] = true
	c.shards[shard].CopyTo(c.table.order[shard].Map, c.table.copying.afresh)
	c.begun[shard] = false
}

// giveUp restores the shards whose restore failed with the items themselves.
// The copy is of no use afterwards.
func (c *savedTable[T]) giveUp() {
	for i, begun := range c.begun {
		if begun {
			c.shards[i].CopyTo(c.table.order[i].Map, nil)
		}
	}
}

// Estimated nanoseconds, which decide only whether copying runs inline and which
// shard is begun first (op=checkpoint).
const (
	bytesCopiedPerNanosecond = 8
	cloneCost                = 20 // of an item, by Clone
)

func (c *savedTable[T]) cost(shard int) int64 {
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
