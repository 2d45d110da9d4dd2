package dense

import (
	"fmt"
	"slices"

	"handloom/internal/digest"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Load restores the state that [Set.DigestTo] wrote into the map, which must be unused. It
// verifies all invariants and reports violations to in; the map is then unusable.
func (d *Set) Load(in *digest.Decoder) {
	// Slots first: meta set and number of rows follow from the live words.
	d.set.Load(in)
	if in.Err() != nil {
		return
	}
	meta, err := d.set.LoadMeta()
	if err != nil {
		in.Fail(err)
		return
	}
	d.meta = meta
	// Bytes may have any content, so each number is checked before it is an index.
	known := loadOrdering(in, len(meta), len(d.set.Words))
	if in.Migrates() {
		known = nil // keys may have changed
	}
	if known != nil {
		d.following().known = known
	}
	d.items = LoadItems(in, d.typ, len(meta))
	d.loadColumns(in)
	if in.Err() != nil {
		return
	}
	if err := d.verify(); err != nil {
		in.Fail(err)
	}
}

// loadColumns reads the columns of the encoder, in its order, into the columns of this map.
func (d *Set) loadColumns(in *digest.Decoder) {
	own := d.Columns()
	for _, from := range in.Columns(len(own)) {
		if from.Into < 0 {
			// This map has no such column, but the bytes must be passed.
			from.Skip.Skip(in, len(d.meta))
			continue
		}
		in.Migrate(from.Migration)
		c := own[from.Into]
		c.all = LoadItems(in, c.Kind.Type, len(d.meta))
	}
	for _, c := range own {
		// A column that the encoder did not have is zero.
		if in.Err() == nil && c.all.Cap() == 0 {
			c.all = c.Kind.Type.Make(d.items.Cap())
		}
	}
}

// bytesAtOnce limits memory for items not yet read. Input of 8 bytes backs each item.
const bytesAtOnce = 1 << 20

// LoadItems reads n items of type t. Memory of large items grows as they arrive, so that a
// damaged length cannot claim more than a multiple of the input.
func LoadItems(in *digest.Decoder, t *items.Type, n int) items.Slice {
	at := n
	if t.Size > 128 {
		at = min(n, max(1, bytesAtOnce/int(t.Size)))
	}
	all := t.Make(at)
	for done := 0; ; {
		todo := all.Sub(done, at, t.Size)
		t.DecodeItems(in, todo)
		if done = at; done == n || in.Err() != nil {
			return all
		}
		at = min(n, 2*done)
		all = t.Grown(all, at)
	}
}

// loadOrdering reads the progress of Defragment, or nil.
func loadOrdering(in *digest.Decoder, rows, slots int) *ordering {
	kind := in.Uint8()
	if kind == 0 {
		return nil
	}
	o := new(ordering)
	o.stage = stage(kind - 1)
	o.seen = in.Count(rows, "known rows")
	for _, s := range []*rowSet{&o.changed, &o.sorting} {
		s.load(in, o.seen)
	}
	o.list, o.spare = loadSlots(in, slots), loadSlots(in, slots)
	o.ends = loadNumbers[uint32](in, len(o.list), "runs")
	o.places = loadNumbers[slotset.Row](in, len(o.list), "places")
	c := &o.cursor
	for _, place := range o.places {
		if int64(place) > int64(slots) {
			in.Fail(fmt.Errorf("O2: an item is placed at row %d; there are %d slots", place, slots))
		}
	}
	for _, v := range []*int{&c.at, &c.pair, &c.made, &c.left, &c.right, &c.lo, &c.hi, &c.top, &c.step} {
		*v = in.Count(2*slots+2, "rows or items")
	}
	if in.Err() == nil {
		if err := o.resume(slots); err != nil {
			in.Fail(err)
		}
	}
	return o
}

// load reads the rows of a set, which must ascend.
func (s *rowSet) load(in *digest.Decoder, seen int) {
	s.grow(seen)
	next := 0
	for range in.Count(seen, "rows of a set") {
		row := int(in.Uint32())
		if row < next || row >= seen {
			in.Fail(fmt.Errorf("O1: row %d of a set follows row %d, limit %d", row, next-1, seen))
			return
		}
		s.addRange(row, row+1)
		next = row + 1
	}
}

// loadSlots reads slots. They may be vacant by now: a round skips such items.
func loadSlots(in *digest.Decoder, slots int) []slotset.Slot {
	list := loadNumbers[slotset.Slot](in, slots, "items of a round")
	for _, slot := range list {
		if int64(slot) >= int64(slots) {
			in.Fail(fmt.Errorf("O3: slot %d of %d", slot, slots))
			return nil
		}
	}
	return list
}

// loadNumbers allocates as numbers arrive.
func loadNumbers[N ~uint32](in *digest.Decoder, limit int, what string) []N {
	var list []N
	for range in.Count(limit, what) {
		if list = append(list, N(in.Uint32())); in.Err() != nil {
			return nil
		}
	}
	return list
}

// resume completes a decoded round and returns an error if it cannot continue. Verify
// checks the sets and lists (O1 to O3); resume checks the cursors.
func (o *ordering) resume(slots int) error {
	n := len(o.list)
	sound := o.at <= n && len(o.places) <= n && o.lo <= slots && o.hi <= slots && o.top <= slots
	switch o.stage {
	case resting:
		sound = sound && n == 0 && len(o.ends) == 0 && len(o.places) == 0 && o.cursor == (cursor{})
	case finding:
		sound = sound && rising(0, o.ends, max(o.at, 1))
	case merging:
		sound = sound && o.mergesSoundly()
		merged := o.spare
		if sound = sound && len(merged) == o.merged(); sound {
			// A merge writes into spare up to the length of list.
			o.spare = append(slices.Grow(merged, n-len(merged)), make([]slotset.Slot, n-len(merged))...)
		}
	case placing:
		// The encoding leaves out the skips, which only save time.
		o.linkWords()
	case moving:
	default:
		sound = false
	}
	if !sound || o.stage != merging && len(o.spare) > 0 {
		return fmt.Errorf("O2: the round is in stage %d with %d items and cursor %+v", o.stage, n, o.cursor)
	}
	return nil
}

// mergesSoundly reports whether a merge can continue: runs ascend, and both cursors are in
// the runs of the current pair.
func (o *ordering) mergesSoundly() bool {
	n := len(o.list)
	if o.pair >= len(o.ends) || o.pair%2 != 0 || o.made != o.pair/2 || int(o.ends[len(o.ends)-1]) != n {
		return false
	}
	start := uint32(0)
	if o.made > 0 {
		start = o.ends[o.made-1]
	}
	if !rising(0, o.ends[:o.made], n+1) || !rising(start, o.ends[o.pair:], n+1) {
		return false
	}
	mid, hi := int(o.ends[o.pair]), int(o.ends[min(o.pair+1, len(o.ends)-1)])
	return int(start) <= o.left && o.left <= mid && o.right <= hi
}

// rising reports whether ends rise from above start to below limit.
func rising(start uint32, ends []uint32, limit int) bool {
	for _, end := range ends {
		if end <= start || int64(end) >= int64(limit) {
			return false
		}
		start = end
	}
	return true
}
