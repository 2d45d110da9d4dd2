package batch

import (
	"cmp"
	"slices"
	"unsafe"

	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// attached is what the queues of a batch say to one attachment of a table.
type attached struct {
	sets      []*Sets     // in key order
	dropped   int         // commands of dropped calls
	companion []companion // by segment in order
	named     bitmap      // by creation number: commands by handle have set the create; empty: none
	given     bitmap      // by creation number: the create begins with an optional value
	room      []room      // by segment in order

	setsPeak, besidePeak, namedPeak, givenPeak highwater.Mark
}

// room is memory for the values of a segment whose own queue staged too few of them. It is
// used again.
type room struct {
	typ    *items.Type
	values items.Slice
	peak   highwater.Mark
}

// companion are the values that belong to the creates of a segment.
type companion struct {
	values items.Slice
	own    *staged // what the queue of the creates staged; nil: nothing
	key    Key     // of that queue
}

// Sets returns what queues recorded for an attachment, in key order.
func (c *Commands) Sets(attachment int) []*Sets {
	if attachment < len(c.attached) {
		return c.attached[attachment].sets
	}
	return nil
}

func (c *Commands) addSets(s *Sets, key Key) {
	s.key = key
	a := c.attachment(s.of.index)
	a.sets = append(a.sets, s)
	c.shards |= s.shards
	c.shards.Add(0) // which counts what was staged
}

// attachment returns what queues say to an attachment, by its index.
func (c *Commands) attachment(index int) *attached {
	for len(c.attached) <= index {
		c.attached = append(c.attached, attached{})
	}
	return &c.attached[index]
}

// numberStaged finds the place of what was staged among the segments.
func (c *Commands) numberStaged() {
	for i := range c.attached {
		a := &c.attached[i]
		a.named = a.named[:0]
		if len(a.sets) == 0 {
			continue
		}
		a.companion = highwater.Room(&a.besidePeak, a.companion, len(c.order))
		clear(a.companion)
		for _, s := range a.sets {
			for segment := range s.staged[:s.used] {
				st := &s.staged[segment]
				a.companion[s.creates.first+segment] = companion{st.values, st, s.key}
			}
		}
	}
}

// CountStaged counts what the Sets of an attachment that were staged come to. Only the worker
// that plans the table's first typeId may call it, once every erase has been applied.
func (c *Commands) CountStaged(attachment int, counts *Counts) {
	for _, s := range c.Sets(attachment) {
		c.countAgain(s, counts)
		dropped := 0
		for i := range s.staged[:s.used] {
			if of := &c.order[s.creates.first+i]; of.cancelled > 0 {
				s.staged[i].set.each(func(offset int) {
					if c.marks[of.first+offset] == cancelled {
						dropped++
					}
				})
			}
		}
		counts.Dropped += dropped
		counts.Put += s.createIndex - dropped
	}
}

// countAgain counts the Sets and Unsets of staged creates that had been set before by the
// same queue.
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

// SetCreate applies a Set of the value at v to a provisional handle, recorded by handle in a queue
// of the given key, counts it, and reports whether id is of this batch. Who may call it
// is as for CountStaged, and that comes first.
//
// What the create's own queue staged wins if its key is higher. Values change places, as
// those of [Commands.Replace] do.
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
	of := &a.companion[c.positionOf(s)]
	staged := of.own != nil && offset < of.own.values.Len() && of.own.set.has(offset)
	if staged && of.key.compare(key) > 0 {
		counts.Superseded++
		return true
	}
	if staged || a.named.has(creation) {
		counts.Superseded++
	} else {
		counts.Put++
	}
	c.name(a, creation)
	c.setColumn(attachment, of, s, offset, v)
	return true
}

// name notes that a command by handle has set a create.
func (c *Commands) name(a *attached, creation int) {
	if len(a.named) == 0 {
		n := (len(c.created) + 63) / 64
		a.named = slices.Grow(a.named, n)[:n]
		clear(a.named)
	}
	a.named.put(creation, true)
}

// setColumn makes the value at v that of a create of a segment.
func (c *Commands) setColumn(attachment int, of *companion, s *run, offset int, v unsafe.Pointer) {
	t := c.recorder.attachments[attachment].typ
	if of.values.Len() <= offset {
		of.values = c.attached[attachment].widened(t, c.positionOf(s), of.values, s.creates)
	}
	c.swap(t, &c.recorder.attachments[attachment].spare, of.values.Pointer(offset, t.Size), v)
}

// widened returns the values of a segment, in order, as those of all its n creates.
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
	t.Clear(r.values.Sub(values.Len(), n, t.Size)) // of uses before
	return r.values
}

// positionOf returns which segment in order a run is.
func (c *Commands) positionOf(s *run) int {
	return int((uintptr(unsafe.Pointer(s)) - uintptr(unsafe.Pointer(&c.order[0]))) / unsafe.Sizeof(run{}))
}

// Staged calls f with the values of an attachment that belong to the surviving creates from the
// lo-th to before the hi-th, in runs: offset is that of the first of them, counted from
// lo. Creates without a value are left out, or have a zero one.
func (c *Commands) Staged(attachment, lo, hi int, f func(offset int, values items.Slice)) {
	if attachment >= len(c.attached) || len(c.attached[attachment].sets) == 0 || lo == hi {
		return
	}
	all, size := c.attached[attachment].companion, c.recorder.attachments[attachment].typ.Size
	done := 0
	c.segments(lo, hi, func(at, from, to int) {
		values := &all[at].values
		if n := values.Len(); from < n {
			f(done, values.Sub(from, min(to, n), size))
		}
		done += to - from
	})
}

// releaseSets forgets the Sets, which the next batch writes to.
func (c *Commands) releaseSets() {
	for i := range c.attached {
		a := &c.attached[i]
		a.dropped = 0
		clear(a.sets)
		a.sets = highwater.Trim(&a.setsPeak, a.sets)
		clear(a.companion)
		a.releaseRoom()
		a.companion = highwater.Trim(&a.besidePeak, a.companion)
		a.named = highwater.Trim(&a.namedPeak, a.named)
		a.given = highwater.Trim(&a.givenPeak, a.given)
	}
}

// releaseRoom empties the memory for values, and gives up what recent batches did not need.
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
