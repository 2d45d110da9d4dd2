package shard

import (
	"slices"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/dense"
	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/internal/sparse"
)

// Shard is one typeId of a table: its map and the state of a flush for it.
type Shard struct {
	Map Map
	typ *items.Type

	erasing      slotset.Bitset
	putting      slotset.Bitset
	unmarked     []slotset.Unmarked // scratch: handles of one queue that marked nothing
	maxUnmarked  int
	unmarkedPeak highwater.Mark
	counts       batch.Counts
	samples      []batch.Sample
	rows         []slotset.Row // scratch: see rowsOf
	dataRows     []slotset.Row // scratch: see rowsIn
	ids          []handle.ID   // scratch
	lo, hi       int           // range of the surviving creates dealt to the shard
	links        links
	tracking     tracking
	columns      []*columnShard
	data         []*sparseShard
	all          []*sparse.Map
}

// New returns the shard of a map of items of type t. Handles are at the offsets fields of
// an item; visitor, unless nil, finds handles through references.
func New(m Map, t *items.Type, fields []uintptr, visitor LinkVisitor) *Shard {
	return &Shard{Map: m, typ: t, links: links{fields: fields, visitor: visitor, size: t.Size}}
}

func (s *Shard) Begin() {
	s.counts, s.samples = batch.Counts{}, s.samples[:0]
	s.lo, s.hi = 0, 0
	for _, col := range s.columns {
		col.counts, col.sampled = batch.Counts{}, 0
	}
	for _, d := range s.data {
		d.begin()
	}
}

// Plan determines the erased items, the puts that count and the stale commands for the
// index-th shard in c. It takes O(commands) time.
func (s *Shard) Plan(c *batch.Commands, index int) {
	s.maxUnmarked = 0
	if c.All() > 0 {
		s.Map.MarkEvery(&s.erasing)
	}
	if index == 0 {
		s.counts.Redundant = max(0, c.All()-1)
	}
	c.Erases(index, func(ids []handle.ID, key batch.Key) { s.planErases(c, ids, key) }, func(rows []uint32, _ []handle.ID) {
		s.counts.Redundant += s.Map.(*dense.Set).MarkRows(&s.erasing, rows)
	})
	s.unmarked = highwater.Trim(&s.unmarkedPeak, s.unmarked[:s.maxUnmarked])
	c.Puts(index, false, func(puts *batch.Puts, key batch.Key) { s.planPuts(c, puts, key) })
	s.counts.Erased = s.erasing.Len()
	s.counts.Depleted = s.erasing.Depleting()
	for _, col := range s.columns {
		s.planSets(c, col, index)
	}
	for _, d := range s.data {
		s.planData(c, d, index)
	}
}

// planErases marks all items and then handles the few handles that marked nothing.
func (s *Shard) planErases(c *batch.Commands, ids []handle.ID, key batch.Key) {
	s.unmarked = s.Map.MarkItems(&s.erasing, ids, s.unmarked[:0])
	s.maxUnmarked = max(s.maxUnmarked, len(s.unmarked))
	for _, u := range s.unmarked {
		switch id := ids[u.Index]; {
		case u.Marking == slotset.AlreadyMarked:
			s.counts.Redundant++
		case !id.IsProvisional():
			s.counts.Stale++
			s.sample(batch.Erase, id, key, u.Index)
		case !c.Cancel(id, &s.counts):
			s.sample(batch.Erase, id, key, u.Index)
		}
	}
}

func (s *Shard) planPuts(c *batch.Commands, puts *batch.Puts, key batch.Key) {
	s.putting.Rows.Grow(s.Map.Rows())
	for from := 0; from < len(puts.IDs); from += lookahead {
		for i, row := range s.rowsOf(slotset.Block(puts.IDs[from:])) {
			if row != slotset.NoRow {
				s.planValue(&s.putting, row, &s.counts)
				continue
			}
			sequence := from + i
			id := puts.IDs[sequence]
			if !id.IsProvisional() {
				s.counts.Stale++
			} else if c.Replace(id, puts.Values.Pointer(sequence, s.typ.Size), &s.counts) {
				continue
			}
			s.sample(batch.Put, id, key, sequence)
		}
	}
}

func (s *Shard) isMarked(marks *slotset.Bitset, id handle.ID) bool {
	row, ok := s.Map.RowOf(id)
	return ok && marks.Rows.Has(row)
}

// planValue marks and counts a put or Set of the existing item at row.
func (s *Shard) planValue(marks *slotset.Bitset, row slotset.Row, counts *batch.Counts) {
	switch {
	case s.erasing.Rows.Has(int(row)):
		counts.Dropped++
	case marks.Rows.Add(int(row)):
		counts.Put++
	default:
		counts.Superseded++
	}
}

// sample keeps the first stale commands: erases before puts, both in the order of keys.
func (s *Shard) sample(kind batch.Kind, id handle.ID, key batch.Key, sequence int) {
	if len(s.samples) < batch.MaxSamples {
		s.samples = append(s.samples, s.sampleOf(kind, id, key, sequence))
	}
}

func (s *Shard) sampleOf(kind batch.Kind, id handle.ID, key batch.Key, sequence int) batch.Sample {
	return batch.Sample{Handle: id, TypeID: s.Map.TypeID(), Kind: kind, Pass: key.Pass, Task: key.Task, Sequence: sequence}
}

func (s *Shard) Erased() int { return s.erasing.Len() }

// PlanErase reports whether the item was not yet planned, and whether its slot is depleted.
func (s *Shard) PlanErase(id handle.ID) (marked, depleting bool) {
	before := s.erasing.Depleting()
	marked = s.Map.Mark(&s.erasing, id) == slotset.Marked
	return marked, s.erasing.Depleting() > before
}

func (s *Shard) UnplanErase(id handle.ID, depleting bool) {
	if row, ok := s.Map.RowOf(id); ok {
		s.erasing.Rows.Remove(row)
	}
	if depleting {
		s.erasing.NoteDepleting(-1)
	}
}

// Fits returns an error that wraps [handle.ErrFull] unless creates more items fit after the
// planned erases.
func (s *Shard) Fits(creates int) error {
	return s.Map.CanInsert(creates, s.erasing.Len(), s.erasing.Depleting())
}

// Deal gives the shard the surviving creates lo to hi-1 and checks [Shard.Fits].
func (s *Shard) Deal(c *batch.Commands, lo, hi int) error {
	s.lo, s.hi = lo, hi
	s.counts.Created = hi - lo
	s.dealData(c)
	return s.Fits(hi - lo)
}

func (s *Shard) Dealt() int { return s.hi - s.lo }

func (s *Shard) NeedsMemory() bool {
	return !s.Map.HasRoom(s.hi-s.lo) || len(s.data) > 0 && slices.ContainsFunc(s.data, (*sparseShard).needsMemory)
}

// MakeRoom allocates all memory of the batch. Capacity is not part of the state, so a later
// failure has changed nothing.
func (s *Shard) MakeRoom() {
	s.Map.ReserveMore(s.hi - s.lo)
	for _, d := range s.data {
		d.Reserve(d.added+d.given, d.slots)
	}
}

// Apply applies the plan. It cannot fail and runs no user code.
func (s *Shard) Apply(c *batch.Commands, index int) {
	if s.tracking.listener != nil {
		s.tracking.begin(s)
	}
	if s.putting.Len() > 0 {
		// In the order of keys, so that the last put of an item wins.
		c.Puts(index, false, func(puts *batch.Puts, _ batch.Key) { s.Map.PutItems(puts.IDs, puts.Values) })
	}
	for _, col := range s.columns {
		s.applySets(c, col, index)
	}
	for _, d := range s.data {
		s.applyData(c, d, index)
	}
	if s.erasing.Len() > 0 {
		s.Map.EraseMarked(&s.erasing)
	}
	s.putting.Clear()
	first := s.Map.Rows()
	c.Runs(s.lo, s.hi, func(values items.Slice, created []handle.ID) {
		if _, err := s.Map.InsertItems(values, created[:0]); err != nil {
			panic(err) // a bug in planning: the store halts
		}
		if s.tracking.listener != nil {
			s.tracking.listener.Created(created)
		}
	})
	for _, col := range s.columns {
		c.Staged(col.number, s.lo, s.hi, func(offset int, values items.Slice) { col.Fill(first+offset, values) })
	}
	for _, d := range s.data {
		c.Given(d.number, s.lo, s.hi, d.give)
	}
}

func (s *Shard) Cancel() {
	s.erasing.Clear()
	s.putting.Clear()
	s.links.clear()
	for _, col := range s.columns {
		col.setting.Clear()
		col.links.clear()
	}
	for _, d := range s.data {
		d.dropping.Clear()
		d.links.clear()
	}
}

// Trim releases the memory kept between flushes.
func (s *Shard) Trim() {
	columns, all, tracking := s.columns, s.data, s.tracking
	*s = *New(s.Map, s.typ, s.links.fields, s.links.visitor)
	s.tracking = tracking
	for _, col := range columns {
		s.AddColumn(col.Column, col.number, col.links.fields, col.links.visitor, col.onSet)
	}
	for _, d := range all {
		d.Trim()
		s.AddSparse(d.Map, d.name, d.number, d.links.fields, d.links.visitor, d.changed)
	}
}

// Report adds to counts and returns the first stale commands.
func (s *Shard) Report(counts *batch.Counts) []batch.Sample {
	counts.Add(s.counts)
	return s.samples
}
