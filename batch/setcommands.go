package batch

import (
	"cmp"
	"slices"
	"unsafe"

	"handloom/handle"
	"handloom/internal/highwater"
	"handloom/internal/items"
)

// attached are the commands of a batch for one attachment.
type attached struct {
	sets      []*Sets
	dropped   int
	companion []companion // by segment in order
	named     bitmap      // by creation number: set by handle; may be empty
	given     bitmap      // by creation number: has an optional value
	room      []room      // by segment in order

	setsPeak, companionPeak, namedPeak, givenPeak highwater.Mark
}

// room is memory for a segment's values if its queue staged too few.
type room struct {
	typ    *items.Type
	values items.Slice
	peak   highwater.Mark
}

// companion has the values of an attachment for the creates of a segment.
type companion struct {
	values items.Slice
	own    *staged // staged by the queue of the creates, or nil
	key    Key
}

// Sets returns the queues' Sets, in key order.
func (c *Commands) Sets(attachment int) []*Sets {
	if attachment < len(c.attached) {
		return c.attached[attachment].sets
	}
	return nil
}

// addSets adds the Sets of a queue, in key order.
func (c *Commands) addSets(s *Sets, key Key) {
	s.key = key
	a := c.attachment(s.log.index)
	a.sets = append(a.sets, s)
	c.shards |= s.put
	// Staged commands name no shard, and the worker of shard 0 counts them (B5).
	c.shards.Add(0)
}

// attachment returns the commands of an attachment, which may be empty.
func (c *Commands) attachment(index int) *attached {
	for len(c.attached) <= index {
		c.attached = append(c.attached, attached{})
	}
	return &c.attached[index]
}

// numberStaged finds the staged values of each segment. A segment belongs to one queue, so
// at most one array belongs to it.
func (c *Commands) numberStaged() {
	for i := range c.attached {
		a := &c.attached[i]
		a.named = a.named[:0]
		if len(a.sets) == 0 {
			continue
		}
		a.companion = highwater.Room(&a.companionPeak, a.companion, len(c.order))
		clear(a.companion)
		for _, s := range a.sets {
			for segment := range s.staged[:s.used] {
				st := &s.staged[segment]
				a.companion[s.creates.first+segment] = companion{st.values, st, s.key}
			}
		}
	}
}

// CountStaged counts the staged Sets of an attachment, after all erases. Only the worker
// that plans the table's first typeId may call it.
func (c *Commands) CountStaged(attachment int, counts *Counts) {
	for _, s := range c.Sets(attachment) {
		c.countAgain(s, counts)
		dropped := 0
		for i := range s.staged[:s.used] {
			// Most segments have no cancelled creates and need no visit.
			if segment := &c.order[s.creates.first+i]; segment.cancelled > 0 {
				s.staged[i].set.each(func(offset int) {
					if c.marks[segment.first+offset] == cancelled {
						dropped++
					}
				})
			}
		}
		counts.Dropped += dropped
		counts.Put += s.setCount - dropped
	}
}

// countAgain counts repeated staged Sets and Unsets.
func (c *Commands) countAgain(s *Sets, counts *Counts) {
	dropped := 0
	if c.cancelled > 0 {
		for _, at := range s.again {
			if c.marks[c.order[s.creates.first+int(at.segment)].first+int(at.offset)] == cancelled {
				dropped++
			}
		}
	}
	counts.Dropped += dropped
	counts.Superseded += len(s.again) - dropped
}

// SetCreate applies and counts a Set of a provisional handle, recorded by handle in the
// queue with the given key, and reports whether id is of this batch. It is called after
// CountStaged, by the same worker. A value staged by the create's own queue wins if its key
// is higher.
func (c *Commands) SetCreate(attachment int, id handle.ID, v unsafe.Pointer, key Key, counts *Counts) bool {
	s, creation, ok := c.locate(id)
	switch {
	case !ok:
		counts.Stale++
		return false
	case c.marks[creation] == cancelled:
		counts.Dropped++
		return true
	}
	a, offset := &c.attached[attachment], creation-s.first
	to := &a.companion[c.positionOf(s)]
	staged := to.own != nil && offset < to.own.values.Len() && to.own.set.has(offset)
	if staged && to.key.compare(key) > 0 {
		counts.Superseded++
		return true
	}
	if staged || a.named.has(creation) {
		counts.Superseded++
	} else {
		counts.Put++
	}
	c.name(a, creation)
	// Sets come in key order, so the last one wins.
	c.setCreated(attachment, to, s, offset, v)
	return true
}

// name notes that a create was set by handle.
func (c *Commands) name(a *attached, creation int) {
	if len(a.named) == 0 {
		n := (len(c.created) + 63) / 64
		a.named = slices.Grow(a.named, n)[:n]
		clear(a.named)
	}
	a.named.put(creation, true)
}

// A swap, not a copy: if the flush fails, swapBack returns the value to the queue.
// setCreated gives a create the value at v.
func (c *Commands) setCreated(attachment int, to *companion, s *run, offset int, v unsafe.Pointer) {
	t := c.recorder.attachments[attachment].typ
	if to.values.Len() <= offset {
		to.values = c.attached[attachment].widened(t, c.positionOf(s), to.values, s.creates)
	}
	c.swap(t, &c.recorder.attachments[attachment].spare, to.values.Pointer(offset, t.Size), v)
}

// widened returns a copy with n values: the array of the queue has no place for creates that
// the queue did not set.
func (a *attached) widened(t *items.Type, segment int, values items.Slice, n int) items.Slice {
	if len(a.room) <= segment {
		a.room = append(a.room, make([]room, segment+1-len(a.room))...)
	}
	r := &a.room[segment]
	r.typ = t
	if r.values.Cap() < n {
		r.values = t.Make(n)
	}
	r.values = r.values.Resize(n)
	t.Copy(r.values, values)
	t.Clear(r.values.Sub(values.Len(), n, t.Size))
	return r.values
}

// positionOf returns the index of s in the order, by its address: locate has found s already.
func (c *Commands) positionOf(s *run) int {
	return int((uintptr(unsafe.Pointer(s)) - uintptr(unsafe.Pointer(&c.order[0]))) / unsafe.Sizeof(run{}))
}

// Staged calls f with runs of values for the survivors lo to hi-1; offset is relative to
// lo. Creates without a value are left out or zero.
func (c *Commands) Staged(attachment, lo, hi int, f func(offset int, values items.Slice)) {
	if attachment >= len(c.attached) || len(c.attached[attachment].sets) == 0 || lo == hi {
		return
	}
	all, size := c.attached[attachment].companion, c.recorder.attachments[attachment].typ.Size
	// done counts survivors without a value, too, so that offsets match the rows of the
	// creates.
	done := 0
	c.segments(lo, hi, func(at, from, to int) {
		values := &all[at].values
		if n := values.Len(); from < n {
			f(done, values.Sub(from, min(to, n), size))
		}
		done += to - from
	})
}

// releaseSets drops the arrays of the queues and keeps empty ones.
func (c *Commands) releaseSets() {
	for i := range c.attached {
		a := &c.attached[i]
		a.dropped = 0
		clear(a.sets)
		a.sets = highwater.Trim(&a.setsPeak, a.sets)
		clear(a.companion)
		a.releaseRoom()
		a.companion = highwater.Trim(&a.companionPeak, a.companion)
		a.named = highwater.Trim(&a.namedPeak, a.named)
		a.given = highwater.Trim(&a.givenPeak, a.given)
	}
}

// releaseRoom empties the rooms and trims them.
func (a *attached) releaseRoom() {
	if few := max(4, 2*len(a.companion)); len(a.room) > few {
		clear(a.room[few:])
		a.room = a.room[:few]
	}
	for i := range a.room {
		if r := &a.room[i]; r.values.Cap() > 0 {
			r.values = emptied(r.typ, r.values, &r.peak)
		}
	}
}

func (k Key) compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Pass, o.Pass), cmp.Compare(k.Task, o.Task))
}
