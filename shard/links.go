package shard

import (
	"unsafe"

	"handloom/batch"
	"handloom/internal/canary"
	"handloom/internal/habit"
	"handloom/shard/handle"
	"handloom/shard/handlemap"
)

// Visitor is how a table finds the handles of an item that lie behind slices,
// maps and pointers: it calls visit with the address of each.
type Visitor[T any] func(v *T, visit func(*handle.ID))

// links are the provisional handles behind references in staged values, by
// address. The values are copied into the map, but what they refer to is not, so
// that the addresses stay good beyond the commit point.
type links struct {
	found  []*handle.ID
	habit  habit.Habit
	marked handlemap.Marks // scratch: items whose last put was seen

	visit func(*handle.ID) // note, bound once
	value unsafe.Pointer   // the value that is visited
	size  uintptr          // of it
}

// note is told of a handle of the value.
func (l *links) note(id *handle.ID) {
	inside := uintptr(unsafe.Pointer(id))-uintptr(l.value) < l.size
	if id.IsProvisional() && !inside { // what lies inside is copied; Link finds it in the map
		l.found = append(l.found, id)
	}
}

func (l *links) clear() {
	clear(l.found)
	l.found = habit.Trim(&l.habit, l.found)
	l.marked.Clear()
	l.value = nil
}

// FindLinks collects the addresses of provisional handles behind references, in
// the values that the planned batch leaves in the shard. It runs code of the
// user, which may panic; nothing has changed then.
func (s *Shard[T]) FindLinks(c *batch.Commands[T], index int, visitor Visitor[T]) {
	l := &s.links
	l.clear()
	if l.visit == nil {
		l.visit = l.note
	}
	find := func(value *T) {
		l.value, l.size = unsafe.Pointer(value), unsafe.Sizeof(*value)
		visitor(value, l.visit)
	}
	c.Runs(s.lo, s.hi, func(values []T, _ []handle.Of[T]) {
		for i := range values {
			find(&values[i])
		}
	})
	for i := len(c.Columns) - 1; i >= 0; i-- { // the last put to an item is the one that stays
		puts := c.Columns[i].Puts(index)
		for j := len(puts) - 1; j >= 0; j-- {
			put := &puts[j]
			if s.Map.IsMarked(&s.putting, put.Handle) && s.Map.Mark(&l.marked, put.Handle) == handlemap.Marked {
				find(&put.Value)
			}
		}
	}
	l.marked.Clear()
	l.value = nil
}

// Patch makes the handles that FindLinks found real: resolve returns the handle
// of an item of this batch, or null. It counts those that stay null. Values of
// several shards may share what they refer to, so that one goroutine patches all
// shards, one after another.
func (s *Shard[T]) Patch(resolve func(handle.ID) handle.ID) {
	for _, id := range s.links.found {
		s.makeReal(id, resolve)
	}
	s.links.clear()
}

// Link makes the provisional handles real in every value that the batch created
// or put: fields are their offsets within T, and resolve is as for Patch. It
// counts those that stay null.
func (s *Shard[T]) Link(c *batch.Commands[T], index int, fields []uintptr, resolve func(handle.ID) handle.ID) {
	visit := func(h handle.Of[T]) {
		if item, ok := s.Map.Get(h); ok { // not if it was put and erased
			for _, offset := range fields {
				s.makeReal((*handle.ID)(unsafe.Add(unsafe.Pointer(item), offset)), resolve)
			}
		}
	}
	c.Runs(s.lo, s.hi, func(_ []T, names []handle.Of[T]) {
		for _, h := range names {
			visit(h)
		}
	})
	for _, col := range c.Columns {
		puts := col.Puts(index)
		for i := range puts {
			visit(handle.Of[T]{ID: puts[i].Handle})
		}
	}
}

func (s *Shard[T]) makeReal(id *handle.ID, resolve func(handle.ID) handle.ID) {
	if canary.Enabled && canary.On(canary.LinkLeft) && s.counts.Created%5 == 4 {
		return
	}
	if id.IsProvisional() {
		if *id = resolve(*id); id.IsZero() {
			s.counts.Dangling++
		}
	}
}
