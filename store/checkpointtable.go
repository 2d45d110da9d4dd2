package store

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"handloom/internal/items"
	"handloom/shard"
)

// copying describes how items, columns and sparse data of a table are copied.
type copying struct {
	clones shard.CloneFuncs
	afresh shard.CloneFuncs // clones that write to a zero *dst
	cloned int
	faults []error // fields that assignment would share, without a Clone
}

func (c *copying) init(name string, typ *items.Type, clone func(dst, src unsafe.Pointer)) {
	c.clones.Items, c.afresh.Items = clone, afresh(typ, clone)
	c.add(fmt.Sprintf("table %q", name), "TableOptions.Clone", typ, clone)
}

func (c *copying) addColumn(table, name string, typ *items.Type, clone func(dst, src unsafe.Pointer)) {
	c.clones.Columns = append(c.clones.Columns, clone)
	c.afresh.Columns = append(c.afresh.Columns, afresh(typ, clone))
	c.add(fmt.Sprintf("column %q of table %q", name, table), "ColumnOptions.Clone", typ, clone)
}

func (c *copying) addSparse(table, name string, typ *items.Type, clone func(dst, src unsafe.Pointer)) {
	c.clones.Data = append(c.clones.Data, clone)
	c.afresh.Data = append(c.afresh.Data, afresh(typ, clone))
	c.add(fmt.Sprintf("sparse data %q of table %q", name, table), "ColumnOptions.Clone", typ, clone)
}

func (c *copying) add(what, option string, typ *items.Type, clone func(dst, src unsafe.Pointer)) {
	if clone != nil {
		c.cloned++
	} else if shared := sharedField(typ.Reflect); shared != "" {
		c.faults = append(c.faults, fmt.Errorf("%w of %s: copies would share %s; give it %s", ErrCheckpoint, what, shared, option))
	}
}

// afresh returns a function that clones to a zero *dst. The program may share memory with
// a live item, so Clone must not write to it.
func afresh(typ *items.Type, clone func(dst, src unsafe.Pointer)) func(dst, src unsafe.Pointer) {
	if clone == nil {
		return nil
	}
	return func(dst, src unsafe.Pointer) {
		typ.Zero(dst)
		clone(dst, src)
	}
}

type savedTable struct {
	table      *table
	components []*component  // components that are copied; the table may have more
	indexes    []keyIndex    // indexes that the keys of the items fit; the table may have more
	shards     []shard.State // zero: never copied
	begun      []bool        // shards whose restore has begun and not ended
}

func (t *table) newCopy() *savedTable {
	n := len(t.order)
	return &savedTable{
		table: t, components: slices.Clip(t.components), indexes: slices.Clip(t.indexes),
		shards: make([]shard.State, n), begun: make([]bool, n),
	}
}

// renew resets the copy if the table has more components or indexes.
func (c *savedTable) renew() {
	if len(c.components) != len(c.table.components) || len(c.indexes) != len(c.table.indexes) {
		*c = *c.table.newCopy()
	}
}

// forgetFrame empties everything that a program can see of the last frame. Only tables
// with commands in that frame have provisional handles to forget.
func (s *Store) forgetFrame() {
	s.flush.forgetLists()
	for _, t := range s.tables {
		if t.inFrame(s.flush.last) {
			t.recorder.Reset()
		}
		t.written.clear()
		for _, p := range t.components {
			p.written.clear()
		}
	}
}

func (c *savedTable) save(i int) {
	c.shards[i] = shard.Copy(c.table.order[i].State(), c.shards[i], c.table.copying.clones)
}

func (c *savedTable) restore(i int) {
	c.begun[i] = true
	shard.Copy(c.shards[i], c.table.order[i].State(), c.table.copying.afresh)
	c.begun[i] = false
}

// giveUp moves the saved items into shards whose restore failed. The copy is useless
// afterwards.
func (c *savedTable) giveUp() {
	for i, begun := range c.begun {
		if begun {
			shard.Copy(c.shards[i], c.table.order[i].State(), shard.CloneFuncs{})
		}
	}
}

// Estimates in nanoseconds. They only decide whether copying runs inline and which shard
// is first (op=checkpoint).
const (
	bytesCopiedPerNanosecond = 8
	cloneCost                = 20 // one item, by Clone
)

func (c *savedTable) cost(shard int) int64 {
	from := c.table.order[shard].State().Stats()
	if saved := c.shards[shard]; saved.Map != nil {
		if old := saved.Stats(); old.Bytes > from.Bytes {
			from = old
		}
	}
	cost := from.Bytes / bytesCopiedPerNanosecond
	return cost + int64(from.Live*c.table.copying.cloned)*cloneCost
}

// sharedField returns the path and kind of the first field of t through which a copy by
// assignment could change the original, such as "Agent.Path of kind slice", or "".
// Strings are shared but immutable.
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
