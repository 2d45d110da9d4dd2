package shard

import (
	"unsafe"

	"handloom/batch"
	"handloom/shard/handle"
	"handloom/shard/handlemap"
)

// Shard is one typeId of a table: its map and, during a flush, what the batch
// does to it.
type Shard[T any] struct {
	Container[T]

	erasing handlemap.Marks // items that the batch erases
	putting handlemap.Marks // items that the batch puts a value to
	counts  batch.Counts
	samples []batch.Sample
	lo, hi  int // the surviving creates dealt to the shard
}

// New returns the shard that owns a map.
func New[T any](m Container[T]) *Shard[T] { return &Shard[T]{Container: m} }

// Plan finds out what the commands in one list of c do to the shard: which
// items are erased, which puts count, what is stale. It changes neither the map
// nor the order of anything. It takes O(commands) time.
func (s *Shard[T]) Plan(c *batch.Commands[T], list int) {
	s.counts, s.samples = batch.Counts{}, s.samples[:0]
	for _, col := range c.Columns {
		s.planErases(c, col, list)
	}
	for _, col := range c.Columns {
		s.planPuts(c, col, list)
	}
	s.counts.Erased = s.erasing.Len()
	s.counts.Depleted = s.erasing.Depleting()
}

func (s *Shard[T]) planErases(c *batch.Commands[T], col *batch.Column[T], list int) {
	for sequence, id := range col.Erases(list) {
		if id.IsProvisional() {
			if !c.Cancel(id, &s.counts) {
				s.sample(col, batch.Erase, id, sequence)
			}
			continue
		}
		switch s.Mark(&s.erasing, id) {
		case handlemap.Stale:
			s.counts.Stale++
			s.sample(col, batch.Erase, id, sequence)
		case handlemap.Again:
			s.counts.Redundant++
		}
	}
}

func (s *Shard[T]) planPuts(c *batch.Commands[T], col *batch.Column[T], list int) {
	puts := col.Puts(list)
	for sequence := range puts {
		put := &puts[sequence]
		if put.Handle.IsProvisional() {
			if !c.Replace(put.Handle, put.Value, &s.counts) {
				s.sample(col, batch.Put, put.Handle, sequence)
			}
			continue
		}
		if s.IsMarked(&s.erasing, put.Handle) {
			s.counts.Dropped++
			continue
		}
		switch s.Mark(&s.putting, put.Handle) {
		case handlemap.Stale:
			s.counts.Stale++
			s.sample(col, batch.Put, put.Handle, sequence)
		case handlemap.Again:
			s.counts.Superseded++
		case handlemap.Marked:
			s.counts.Put++
		}
	}
}

// sample keeps the first stale commands of each kind, which come in the order
// of keys.
func (s *Shard[T]) sample(col *batch.Column[T], kind batch.Kind, id handle.ID, sequence int) {
	if len(s.samples) < batch.MaxSamples {
		s.samples = append(s.samples, col.Sample(s.TypeID(), kind, id, sequence))
	}
}

// Erased returns how many items the planned batch erases.
func (s *Shard[T]) Erased() int { return s.erasing.Len() }

// Deal gives the shard the surviving creates from the lo-th to before the hi-th
// and reports whether they fit: nil, or an error that wraps
// [handlemap.ErrFull].
func (s *Shard[T]) Deal(lo, hi int) error {
	s.lo, s.hi = lo, hi
	s.counts.Created = hi - lo
	return s.CanInsert(hi-lo, s.erasing.Len(), s.erasing.Depleting())
}

// NeedsMemory reports whether the creates dealt to the shard need an array to
// grow.
func (s *Shard[T]) NeedsMemory() bool { return !s.HasRoom(s.hi - s.lo) }

// MakeRoom obtains the memory for the creates dealt to the shard. Capacity is
// no part of the state, so that a flush that fails later has changed nothing.
func (s *Shard[T]) MakeRoom() { s.ReserveMore(s.hi - s.lo) }

// Apply changes the map as planned: puts, erases, creates. Nothing in it can
// fail and no code of the user runs.
func (s *Shard[T]) Apply(c *batch.Commands[T], list int) {
	s.applyPuts(c, list)
	if s.erasing.Len() > 0 {
		s.EraseMarked(&s.erasing)
	}
	s.putting.Clear()
	c.Runs(s.lo, s.hi, func(values []T, names []handle.Of[T]) {
		if _, err := s.InsertItems(values, names[:0]); err != nil {
			panic(err) // planned wrongly: the store stops answering
		}
	})
}

// applyPuts writes the values in the order of keys, so that the last put to an
// item wins. Puts to items that are erased write to rows about to go.
func (s *Shard[T]) applyPuts(c *batch.Commands[T], list int) {
	if s.putting.Len() == 0 {
		return
	}
	for _, col := range c.Columns {
		puts := col.Puts(list)
		for i := range puts {
			s.Put(puts[i].Handle, &puts[i].Value)
		}
	}
}

// Link makes the provisional handles real in every value that the batch created
// or put: fields are their offsets within T, and resolve returns the handle of
// an item of this batch, or null. It counts those that stay null.
func (s *Shard[T]) Link(c *batch.Commands[T], list int, fields []uintptr, resolve func(handle.ID) handle.ID) {
	visit := func(h handle.Of[T]) {
		if item, ok := s.Get(h); ok { // not if it was put and erased
			s.link(item, fields, resolve)
		}
	}
	c.Runs(s.lo, s.hi, func(_ []T, names []handle.Of[T]) {
		for _, h := range names {
			visit(h)
		}
	})
	for _, col := range c.Columns {
		puts := col.Puts(list)
		for i := range puts {
			visit(handle.Of[T]{ID: puts[i].Handle})
		}
	}
}

func (s *Shard[T]) link(item *T, fields []uintptr, resolve func(handle.ID) handle.ID) {
	for _, offset := range fields {
		id := (*handle.ID)(unsafe.Add(unsafe.Pointer(item), offset))
		if id.IsProvisional() {
			if *id = resolve(*id); id.IsZero() {
				s.counts.Dangling++
			}
		}
	}
}

// Cancel forgets the plan.
func (s *Shard[T]) Cancel() {
	s.erasing.Clear()
	s.putting.Clear()
}

// Counts returns what the planned or applied batch does to the shard, and its
// first stale commands.
func (s *Shard[T]) Counts() (batch.Counts, []batch.Sample) { return s.counts, s.samples }
