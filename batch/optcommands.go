package batch

import (
	"math/bits"
	"slices"
	"unsafe"

	"handloom/handle"
)

// Only the last command of an item has an effect on an optional attachment. So a flush
// plans commands by handle from the last to the first.

// CountOptional begins to plan an optional attachment. The rules of CountStaged apply.
func (c *Commands) CountOptional(attachment int, counts *Counts) {
	if len(c.Sets(attachment)) == 0 {
		return
	}
	a := &c.attached[attachment]
	a.named = a.named[:0]
	words := (len(c.created) + 63) / 64
	a.given = slices.Grow(a.given[:0], words)[:words]
	clear(a.given)
	// The staged commands count as the last of their creates. GiveCreate corrects the
	// counts where a later command by handle follows.
	for _, s := range a.sets {
		c.countAgain(s, counts)
		for i := range s.staged[:s.used] {
			st, segment := &s.staged[i], &c.order[s.creates.first+i]
			st.set.each(func(offset int) {
				switch creation := segment.first + offset; {
				case c.marks[creation] == cancelled:
					counts.Dropped++
				case st.unset.has(offset):
					counts.Redundant++
				default:
					counts.Put++
					a.given.put(creation, true)
				}
			})
		}
	}
}

// GiveCreate applies and counts a Set of the value at v, or an Unset if v is nil, of a
// provisional handle, and reports whether id is of this batch.
func (c *Commands) GiveCreate(attachment int, id handle.ID, v unsafe.Pointer, key Key, counts *Counts) bool {
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
	staged := to.own != nil && to.own.set.has(offset)
	// Commands come from last to first, so the first that names a create decides.
	if a.named.has(creation) || staged && to.key.compare(key) > 0 {
		counts.Superseded++
		return true
	}
	if staged {
		counts.Superseded++
		// CountOptional counted the staged command as the last one.
		c.count(a.given.has(creation), -1, counts)
	}
	c.name(a, creation)
	a.given.put(creation, v != nil)
	// An Unset moves no value: given alone decides.
	if v != nil {
		c.setCreated(attachment, to, s, offset, v)
	}
	c.count(v != nil, 1, counts)
	return true
}

// count adds n commands: a create has no earlier value, so an Unset of a create is
// redundant.
func (c *Commands) count(given bool, n int, counts *Counts) {
	if given {
		counts.Put += n
	} else {
		counts.Redundant += n
	}
}

// CountGiven returns the number of survivors lo to hi-1 with a value of an optional
// attachment.
func (c *Commands) CountGiven(attachment, lo, hi int) (n int) {
	c.Given(attachment, lo, hi, func(handle.ID, unsafe.Pointer) { n++ })
	return n
}

// Given calls f for the survivors lo to hi-1 with a value of an optional attachment.
func (c *Commands) Given(attachment, lo, hi int, f func(id handle.ID, v unsafe.Pointer)) {
	if lo == hi || len(c.Sets(attachment)) == 0 {
		return
	}
	a, size := &c.attached[attachment], c.recorder.attachments[attachment].typ.Size
	c.segments(lo, hi, func(at, from, to int) {
		first, values := c.order[at].first, &a.companion[at].values
		// Only survivors: segments leaves out cancelled creates.
		a.given.within(first+from, first+to, func(creation int) {
			f(c.created[creation], values.Pointer(creation-first, size))
		})
	})
}

// within calls f for the members lo to hi-1, in ascending order, one word at a time.
func (b bitmap) within(lo, hi int, f func(i int)) {
	for w := lo / 64; w*64 < hi && w < len(b); w++ {
		word := b[w] & (^uint64(0) << max(0, lo-w*64)) & (^uint64(0) >> max(0, w*64+64-hi))
		for ; word != 0; word &= word - 1 {
			f(w*64 + bits.TrailingZeros64(word))
		}
	}
}
