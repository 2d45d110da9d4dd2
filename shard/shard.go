package shard

import (
	"handloom/batch"
	"handloom/internal/canary"
	"handloom/internal/habit"
	"handloom/shard/handle"
	"handloom/shard/handlemap"
)

// Shard is one typeId of a table: its map and, during a flush, what the batch
// does to it.
type Shard[T any] struct {
	Map Container[T] // not embedded, as each method would be compiled four times more for each item type

	erasing handlemap.Marks // items that the batch erases
	putting handlemap.Marks // items that the batch puts a value to
	odd     []handlemap.Odd // scratch: the handles of one queue that marked nothing
	mostOdd int             // the most of them in this plan
	ofOdd   habit.Habit
	counts  batch.Counts
	samples []batch.Sample
	lo, hi  int // the surviving creates dealt to the shard
	links   links
	changes changes[T]
}

// New returns the shard that owns a map.
func New[T any](m Container[T]) *Shard[T] { return &Shard[T]{Map: m} }

// Plan finds out what the commands to the index-th shard in c do to it: which
// items are erased, which puts count, what is stale. It changes neither the map
// nor the order of anything. It takes O(commands) time.
func (s *Shard[T]) Plan(c *batch.Commands[T], index int) {
	s.counts, s.samples = batch.Counts{}, s.samples[:0]
	s.mostOdd = 0
	for _, erases := range c.Erases(index) {
		s.planErases(c, erases)
	}
	s.odd = habit.Trim(&s.ofOdd, s.odd[:s.mostOdd])
	for _, col := range c.Columns {
		s.planPuts(c, col, index)
	}
	s.counts.Erased = s.erasing.Len()
	s.counts.Depleted = s.erasing.Depleting()
}

// planErases marks the items all at once and then looks at the few handles that
// marked nothing.
func (s *Shard[T]) planErases(c *batch.Commands[T], erases batch.Erases) {
	s.odd = s.Map.MarkItems(&s.erasing, erases.IDs, s.odd[:0])
	s.mostOdd = max(s.mostOdd, len(s.odd))
	for _, odd := range s.odd {
		switch id := erases.IDs[odd.Index]; {
		case odd.Marking == handlemap.Again:
			s.counts.Redundant++
		case !id.IsProvisional():
			s.counts.Stale++
			s.sample(batch.Erase, id, erases.Key, odd.Index)
		case !c.Cancel(id, &s.counts):
			s.sample(batch.Erase, id, erases.Key, odd.Index)
		}
	}
}

func (s *Shard[T]) planPuts(c *batch.Commands[T], col *batch.Column[T], index int) {
	puts := col.Puts(index)
	for sequence := range puts {
		put := &puts[sequence]
		if put.Handle.IsProvisional() {
			if !c.Replace(put.Handle, put.Value, &s.counts) {
				s.sample(batch.Put, put.Handle, col.Key(), sequence)
			}
			continue
		}
		if s.Map.IsMarked(&s.erasing, put.Handle) {
			s.counts.Dropped++
			continue
		}
		switch s.Map.Mark(&s.putting, put.Handle) {
		case handlemap.Stale:
			s.counts.Stale++
			s.sample(batch.Put, put.Handle, col.Key(), sequence)
		case handlemap.Again:
			s.counts.Superseded++
		case handlemap.Marked:
			s.counts.Put++
		}
	}
}

// sample keeps the first stale commands: erases come before puts, both in the
// order of keys.
func (s *Shard[T]) sample(kind batch.Kind, id handle.ID, key batch.Key, sequence int) {
	if len(s.samples) < batch.MaxSamples {
		s.samples = append(s.samples, batch.Sample{
			Handle: id, TypeID: s.Map.TypeID(), Kind: kind, Pass: key.Pass, Task: key.Task, Sequence: sequence,
		})
	}
}

// Erased returns how many items the planned batch erases.
func (s *Shard[T]) Erased() int {
	if canary.Enabled && canary.On(canary.DuplicateEraseCounts) && s.counts.Redundant > 0 {
		return s.erasing.Len() + 1
	}
	return s.erasing.Len()
}

// Deal gives the shard the surviving creates from the lo-th to before the hi-th
// and reports whether they fit: nil, or an error that wraps
// [handlemap.ErrFull].
func (s *Shard[T]) Deal(lo, hi int) error {
	s.lo, s.hi = lo, hi
	s.counts.Created = hi - lo
	s.changes.expect(s.erasing.Len(), s.putting.Len())
	return s.Map.CanInsert(hi-lo, s.erasing.Len(), s.erasing.Depleting())
}

// NeedsMemory reports whether the planned batch needs an array to grow.
func (s *Shard[T]) NeedsMemory() bool {
	return !s.Map.HasRoom(s.hi-s.lo) || !s.changes.hasRoom(s.erasing.Len(), s.putting.Len())
}

// MakeRoom obtains the memory for the planned batch. Capacity is no part of the
// state, so that a flush that fails later has changed nothing.
func (s *Shard[T]) MakeRoom() {
	s.Map.ReserveMore(s.hi - s.lo)
	s.changes.makeRoom(s.erasing.Len(), s.putting.Len())
}

// Apply changes the map as planned: puts, erases, creates. Nothing in it can
// fail and no code of the user runs.
func (s *Shard[T]) Apply(c *batch.Commands[T], index int) {
	s.changes.record(s.Map, &s.erasing, &s.putting)
	s.applyPuts(c, index)
	if canary.Enabled && canary.On(canary.PutAfterErase) {
		defer s.putLate(c, index)()
	}
	if s.erasing.Len() > 0 {
		s.Map.EraseMarked(&s.erasing)
	}
	s.putting.Clear()
	c.Runs(s.lo, s.hi, func(values []T, names []handle.Of[T]) {
		if _, err := s.Map.InsertItems(values, names[:0]); err != nil {
			panic(err) // planned wrongly: the store stops answering
		}
	})
}

// applyPuts writes the values in the order of keys, so that the last put to an
// item wins. Puts to items that are erased write to rows about to go.
func (s *Shard[T]) applyPuts(c *batch.Commands[T], index int) {
	if s.putting.Len() == 0 {
		return
	}
	for _, col := range c.Columns {
		puts := col.Puts(index)
		for i := range puts {
			s.Map.Put(puts[i].Handle, &puts[i].Value)
		}
	}
}

// Cancel forgets the plan.
func (s *Shard[T]) Cancel() {
	s.erasing.Clear()
	s.putting.Clear()
	s.links.clear()
}

// Rest gives up the memory that flushes keep from one to the next, and forgets
// what the last one changed. The map stays as it is.
func (s *Shard[T]) Rest() {
	*s = Shard[T]{Map: s.Map, changes: changes[T]{tracked: s.changes.tracked}}
}

// Counts returns what the planned or applied batch does to the shard, and its
// first stale commands.
func (s *Shard[T]) Counts() (batch.Counts, []batch.Sample) { return s.counts, s.samples }
