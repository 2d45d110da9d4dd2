package shard

import (
	"unsafe"

	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// changes are what the flushes of a frame erased and replaced in a shard: flush by
// flush, each in the order of the rows before it. What they created the table knows.
//
// What a flush calls it calls for shards that are tracked alone.
//
// The lists are net: what the frame created is in neither, and no item is in one twice.
// A flush cannot erase or put what it creates itself, so that only a flush behind the
// first has to ask what those before it did; slots are marked then, and not before.
type changes struct {
	tracked   bool
	continues bool // the lists are of flushes of the frame of the one that runs
	erased    []handle.ID
	values    items.Slice // of the items erased, before the batch
	replaced  []handle.ID
	created   [][]handle.ID // runs of what the table's commands say

	ofCreated, ofReplaced marked
	doubt                 bool // an item of a marked slot may be another by now

	erasedPeak, replacedPeak, createdPeak highwater.Mark
	needErased, needReplaced              int // how long the lists will be
	keepErased, keepReplaced              int // capacities beyond these are given up

	onErased, onReplaced func(id handle.ID, item unsafe.Pointer) bool // bound once
}

// marked are slots: those of the items in the front part of a list.
type marked struct {
	slots slotset.Bits
	done  int // elements of the list
}

func (k *marked) clear() {
	k.slots.Clear()
	k.done = 0
}

func (k *marked) has(id handle.ID) bool { return k.slots.Has(int(id.Slot())) }

// Track makes the shard remember what flushes do to it.
func (s *Shard) Track() { s.changes.tracked = true }

func (c *changes) resume(frame, meddled bool) {
	c.continues = frame
	if meddled {
		c.ofCreated.clear()
		c.ofReplaced.clear()
		c.doubt = true
	}
}

// ErasedItems returns the handles of the items that the flushes of the frame erased, if
// the shard tracks it, and their values before each batch.
func (s *Shard) ErasedItems() (ids []handle.ID, values items.Slice) {
	return s.changes.erased, s.changes.values
}

// ReplacedItems returns the handles of the items that the flushes of the frame put a
// value to, if the shard tracks it.
func (s *Shard) ReplacedItems() []handle.ID { return s.changes.replaced }

// CreatedItems returns the handles of the items that the flushes of the frame created, in
// runs, if the shard tracks it.
func (s *Shard) CreatedItems() [][]handle.ID { return s.changes.created }

// ForgetChanges empties what ErasedItems and ReplacedItems return and lets the collector
// have it.
func (s *Shard) ForgetChanges() { s.changes.forget(s.typ) }

func (c *changes) forget(t *items.Type) {
	t.Clear(c.values)
	c.values = c.values.Resize(0)
	c.erased, c.replaced = c.erased[:0], c.replaced[:0]
	clear(c.created)
	c.created = highwater.Trim(&c.createdPeak, c.created)
	c.ofCreated.clear()
	c.ofReplaced.clear()
	c.doubt = false
}

// expect is told once per flush how much it adds to the lists at most.
func (c *changes) expect(erased, replaced int) {
	if c.continues {
		erased += len(c.erased)
		replaced += len(c.replaced)
	}
	c.needErased, c.needReplaced = erased, replaced
	c.keepErased = c.erasedPeak.Note(erased, fewChanges)
	c.keepReplaced = c.replacedPeak.Note(replaced, fewChanges)
}

const fewChanges = 64 // kept anyway

func (c *changes) hasRoom() bool {
	return fits(len(c.erased), cap(c.erased), c.needErased, c.keepErased) &&
		fits(len(c.replaced), cap(c.replaced), c.needReplaced, c.keepReplaced)
}

// makeRoom obtains the memory for the lists. What they hold stays: it is good
// until the flush has succeeded.
func (c *changes) makeRoom(t *items.Type) {
	if n := len(c.erased); !fits(n, cap(c.erased), c.needErased, c.keepErased) {
		room := c.room(n, c.needErased)
		c.erased = append(make([]handle.ID, 0, room), c.erased...)
		c.values = t.Grown(c.values, room).Resize(n)
	}
	if n := len(c.replaced); !fits(n, cap(c.replaced), c.needReplaced, c.keepReplaced) {
		c.replaced = append(make([]handle.ID, 0, c.room(n, c.needReplaced)), c.replaced...)
	}
}

// room returns how many elements a list of n that needs so many is given room for: some
// to spare when flushes of one frame add to it.
func (c *changes) room(n, need int) int {
	if c.continues && need > n {
		return max(need, 2*n)
	}
	return max(need, n)
}

// fits reports whether n elements find room in memory for so many, and whether
// that, unless it holds many, is no more than what is worth keeping.
func fits(length, capacity, n, keep int) bool {
	return n <= capacity && capacity <= max(keep, length)
}

// record notes the marked items before anything happens to them.
func (c *changes) record(m Map, t *items.Type, erasing, putting *slotset.Bitset) {
	if !c.continues {
		c.forget(t)
	} else if erasing.Len()+putting.Len() > 0 {
		c.mark(m)
	}
	if c.onErased == nil {
		c.bind(t)
	}
	m.Marked(erasing, c.onErased)
	m.Marked(putting, c.onReplaced)
}

// mark marks the slots of what the frame created and replaced so far.
func (c *changes) mark(m Map) {
	slots := m.Stats().Slots
	k := &c.ofCreated
	k.slots.Grow(slots)
	for ; k.done < len(c.created); k.done++ {
		for _, id := range c.created[k.done] {
			if !c.doubt || m.Has(id) {
				k.slots.Add(int(id.Slot()))
			}
		}
	}
	k = &c.ofReplaced
	k.slots.Grow(slots)
	for ; k.done < len(c.replaced); k.done++ {
		if id := c.replaced[k.done]; !c.doubt || m.Has(id) {
			k.slots.Add(int(id.Slot()))
		}
	}
}

func (c *changes) bind(t *items.Type) {
	c.onErased = func(id handle.ID, item unsafe.Pointer) bool {
		if c.ofCreated.has(id) {
			return true
		}
		n := len(c.erased)
		c.erased = append(c.erased, id)
		c.values = c.values.Resize(n + 1)
		t.Set(c.values.Pointer(n, t.Size), item)
		return true
	}
	c.onReplaced = func(id handle.ID, _ unsafe.Pointer) bool {
		if !c.ofCreated.has(id) && !c.ofReplaced.has(id) {
			c.replaced = append(c.replaced, id)
		}
		return true
	}
}
