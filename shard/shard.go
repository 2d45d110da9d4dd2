package shard

import (
	"slices"

	"handloom/batch"
	"handloom/internal/dense"
	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Shard is one typeId of a table: its map and, during a flush, what the batch
// does to it.
type Shard struct {
	Map Map
	typ *items.Type // of its items

	erasing      slotset.Bitset     // items that the batch erases
	putting      slotset.Bitset     // items that the batch puts a value to
	unmarked     []slotset.Unmarked // scratch: the handles of one queue that marked nothing
	mostUnmarked int                // the most of them in this plan
	unmarkedPeak highwater.Mark
	counts       batch.Counts
	samples      []batch.Sample
	lo, hi       int // the surviving creates dealt to the shard
	links        links
	tracking     tracking
	columns      []*columnShard
	data         []*sparseShard
	all          []*sparse.Map // of data
}

// New returns the shard that owns a map of items of a type. Handles lie in an item at the
// offsets of fields, and behind references where visitor, unless it is nil, finds them.
func New(m Map, t *items.Type, fields []uintptr, visitor LinkVisitor) *Shard {
	return &Shard{Map: m, typ: t, links: links{fields: fields, visitor: visitor, size: t.Size}}
}

// Begin begins a flush, of which nothing is planned yet.
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

// Plan finds out what the commands to the index-th shard in c do to it: which
// items are erased, which puts count, what is stale. It changes neither the map
// nor the order of anything. It takes O(commands) time.
func (s *Shard) Plan(c *batch.Commands, index int) {
	s.mostUnmarked = 0
	if c.All() > 0 {
		s.Map.MarkEvery(&s.erasing)
	}
	if index == 0 {
		s.counts.Redundant = max(0, c.All()-1)
	}
	for _, erases := range c.Erases(index) {
		s.planErases(c, erases)
	}
	s.unmarked = highwater.Trim(&s.unmarkedPeak, s.unmarked[:s.mostUnmarked])
	for _, puts := range c.Puts(index) {
		s.planPuts(c, puts)
	}
	s.counts.Erased = s.erasing.Len()
	s.counts.Depleted = s.erasing.Depleting()
	for _, col := range s.columns {
		s.planSets(c, col, index)
	}
	for _, d := range s.data {
		s.planData(c, d, index)
	}
}

// planErases marks the items all at once and then looks at the few handles that
// marked nothing. A row has an item.
func (s *Shard) planErases(c *batch.Commands, erases batch.Erases) {
	if len(erases.Rows) > 0 {
		s.counts.Redundant += s.Map.(*dense.Set).MarkRows(&s.erasing, erases.Rows)
		return
	}
	s.unmarked = s.Map.MarkItems(&s.erasing, erases.IDs, s.unmarked[:0])
	s.mostUnmarked = max(s.mostUnmarked, len(s.unmarked))
	for _, of := range s.unmarked {
		switch id := erases.IDs[of.Index]; {
		case of.Marking == slotset.AlreadyMarked:
			s.counts.Redundant++
		case !id.IsProvisional():
			s.counts.Stale++
			s.sample(batch.Erase, id, erases.Key, of.Index)
		case !c.Cancel(id, &s.counts):
			s.sample(batch.Erase, id, erases.Key, of.Index)
		}
	}
}

func (s *Shard) planPuts(c *batch.Commands, puts batch.KeyedPuts) {
	for sequence, id := range puts.IDs {
		if id.IsProvisional() {
			if !c.Replace(id, puts.Values.Pointer(sequence, s.typ.Size), &s.counts) {
				s.sample(batch.Put, id, puts.Key, sequence)
			}
			continue
		}
		if s.Map.IsMarked(&s.erasing, id) {
			s.counts.Dropped++
			continue
		}
		switch s.Map.Mark(&s.putting, id) {
		case slotset.Stale:
			s.counts.Stale++
			s.sample(batch.Put, id, puts.Key, sequence)
		case slotset.AlreadyMarked:
			s.counts.Superseded++
		case slotset.Marked:
			s.counts.Put++
		}
	}
}

// sample keeps the first stale commands: erases come before puts, both in the order of
// keys.
func (s *Shard) sample(kind batch.Kind, id handle.ID, key batch.Key, sequence int) {
	if len(s.samples) < batch.MaxSamples {
		s.samples = append(s.samples, s.sampleOf(kind, id, key, sequence))
	}
}

func (s *Shard) sampleOf(kind batch.Kind, id handle.ID, key batch.Key, sequence int) batch.Sample {
	return batch.Sample{Handle: id, TypeID: s.Map.TypeID(), Kind: kind, Pass: key.Pass, Task: key.Task, Sequence: sequence}
}

// Erased returns how many items the planned batch erases.
func (s *Shard) Erased() int {
	return s.erasing.Len()
}

// PlanErase adds an item to those that the batch erases. It reports whether the item was
// none of them, and whether its slot is depleted then.
func (s *Shard) PlanErase(id handle.ID) (marked, depleting bool) {
	before := s.erasing.Depleting()
	marked = s.Map.Mark(&s.erasing, id) == slotset.Marked
	return marked, s.erasing.Depleting() > before
}

// UnplanErase takes back a PlanErase that marked the item.
func (s *Shard) UnplanErase(id handle.ID, depleting bool) {
	if row, ok := s.Map.RowOf(id); ok {
		s.erasing.Rows.Remove(row)
	}
	if depleting {
		s.erasing.NoteDepleting(-1)
	}
}

// Fits reports whether so many creates fit the shard, besides the erases that are planned:
// nil, or an error that wraps [handle.ErrFull].
func (s *Shard) Fits(creates int) error {
	return s.Map.CanInsert(creates, s.erasing.Len(), s.erasing.Depleting())
}

// Deal gives the shard the surviving creates from the lo-th to before the hi-th
// and reports whether they fit: nil, or an error that wraps
// [handle.ErrFull].
func (s *Shard) Deal(c *batch.Commands, lo, hi int) error {
	s.lo, s.hi = lo, hi
	s.counts.Created = hi - lo
	s.dealData(c)
	return s.Fits(hi - lo)
}

// Dealt returns how many creates were dealt to the shard.
func (s *Shard) Dealt() int { return s.hi - s.lo }

// NeedsMemory reports whether the planned batch needs an array to grow.
func (s *Shard) NeedsMemory() bool {
	return !s.Map.HasRoom(s.hi-s.lo) || len(s.data) > 0 && slices.ContainsFunc(s.data, (*sparseShard).needsMemory)
}

// MakeRoom obtains the memory for the planned batch. Capacity is no part of the
// state, so that a flush that fails later has changed nothing.
func (s *Shard) MakeRoom() {
	s.Map.ReserveMore(s.hi - s.lo)
	for _, d := range s.data {
		d.Reserve(d.added+d.given, d.slots)
	}
}

// Apply changes the map as planned: puts, Sets, erases, creates. Nothing in it can
// fail and no code of the user runs.
func (s *Shard) Apply(c *batch.Commands, index int) {
	if s.tracking.listener != nil {
		s.tracking.begin(s)
	}
	if s.putting.Len() > 0 {
		s.applyPuts(c, index)
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
			panic(err) // planned wrongly: the store stops answering
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

// applyPuts writes the values in the order of keys, so that the last put to an
// item wins. Puts to items that are erased write to rows about to go.
func (s *Shard) applyPuts(c *batch.Commands, index int) {
	for _, puts := range c.Puts(index) {
		s.Map.PutItems(puts.IDs, puts.Values)
	}
}

// Cancel forgets the plan.
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

// Trim gives up the memory that flushes keep from one to the next. The map stays as it is.
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

// Report adds what the planned or applied batch does to the shard to counts, and returns
// its first stale commands.
func (s *Shard) Report(counts *batch.Counts) []batch.Sample {
	counts.Add(s.counts)
	return s.samples
}
