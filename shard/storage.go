package shard

import (
	"fmt"
	"unsafe"

	"handloom/internal/dense"
	"handloom/internal/digest"
	"handloom/internal/items"
	"handloom/internal/paged"
	"handloom/internal/slotset"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Map is the storage of a shard: its steps take handles and values without their type.
// Lookups of users do not go through it.
type Map interface {
	TypeID() uint16
	IsPinned() bool // it is a table's, and no other map was assigned to it
	Len() int
	Rows() int                        // positions that a pass has to visit
	Item(id handle.ID) unsafe.Pointer // nil: there is none
	RowOf(id handle.ID) (row int, ok bool)
	IDAt(row int) handle.ID // null: there is none
	All(yield func(id handle.ID, item unsafe.Pointer) bool)
	From(n int, yield func(id handle.ID, item unsafe.Pointer) bool) // All, without the first n
	Clear()
	Stats() handle.Stats
	Has(id handle.ID) bool
	PutItems(ids []handle.ID, values items.Slice)
	InsertItems(values items.Slice, dst []handle.ID) ([]handle.ID, error)
	CanInsert(n, erased, depleting int) error
	HasRoom(n int) bool
	ReserveMore(n int)

	Mark(marks *slotset.Bitset, id handle.ID) slotset.Marking
	MarkItems(marks *slotset.Bitset, ids []handle.ID, unmarked []slotset.Unmarked) []slotset.Unmarked
	MarkEvery(marks *slotset.Bitset)
	Marked(marks *slotset.Bitset, yield func(id handle.ID, item unsafe.Pointer) bool)
	IsMarked(marks *slotset.Bitset, id handle.ID) bool
	EraseMarked(marks *slotset.Bitset) int

	Verify() error
	Digest() uint64
	DigestTo(h *digest.Hash)
	Load(in *digest.Decoder) // the inverse of DigestTo, for a map never used
}

// State is all that a shard holds: its items, and what some of them have.
type State struct {
	Map
	data []*sparse.Map
}

// CloneFuncs are the functions that copy, each making *dst a copy of *src; where one is nil,
// by assignment.
type CloneFuncs struct {
	dense.Clones
	Data []func(dst, src unsafe.Pointer) // of the sparse maps of the State; may be fewer
}

// State returns what the shard holds.
func (s *Shard) State() State { return State{s.Map, s.all} }

// Copy copies the whole state of a shard into to, which is another of its kind or
// the zero State for a new one, and returns it; see handlemap.Map.CopyTo and
// slotmap.Map.CopyTo.
func Copy(from, to State, clones CloneFuncs) State {
	if to.Map == nil {
		to = EmptyLike(from)
	}
	switch m := from.Map.(type) {
	case *dense.Set:
		m.CopyTo(to.Map.(*dense.Set), clones.Clones)
	case *paged.Set:
		m.CopyTo(to.Map.(*paged.Set), clones.Items)
	default:
		panic(fmt.Sprintf("shard: a map of type %T", m))
	}
	for i, d := range from.data {
		var clone func(dst, src unsafe.Pointer)
		if i < len(clones.Data) {
			clone = clones.Data[i]
		}
		d.CopyTo(to.data[i], clone)
	}
	return to
}

// EmptyLike returns a state of the same kind and types that was never used.
func EmptyLike(s State) (e State) {
	switch m := s.Map.(type) {
	case *dense.Set:
		e.Map = m.EmptyLike()
	case *paged.Set:
		e.Map = m.EmptyLike()
	default:
		panic(fmt.Sprintf("shard: a map of type %T", m))
	}
	for _, d := range s.data {
		e.data = append(e.data, d.EmptyLike())
	}
	return e
}

// MoveFrom takes the state of a shard of the same kind out of it.
func MoveFrom(s, from State) {
	switch m := s.Map.(type) {
	case *dense.Set:
		m.MoveFrom(from.Map.(*dense.Set))
	case *paged.Set:
		m.MoveFrom(from.Map.(*paged.Set))
	default:
		panic(fmt.Sprintf("shard: a map of type %T", m))
	}
	for i, d := range s.data {
		d.MoveFrom(from.data[i])
	}
}

// Digest returns a 64-bit hash of the state.
func (s State) Digest() uint64 {
	if len(s.data) == 0 {
		return s.Map.Digest()
	}
	var h digest.Hash
	s.DigestTo(&h)
	return h.Sum()
}

// DigestTo gives h what [State.Digest] is the sum of. The state stays as it is while a
// [digest.Tee] of h makes something of it.
func (s State) DigestTo(h *digest.Hash) {
	s.Map.DigestTo(h)
	for _, d := range s.data {
		d.DigestTo(h)
	}
}

// Load makes the state, which was never used, what DigestTo gave to in, and verifies all
// of it.
func (s State) Load(in *digest.Decoder) {
	s.Map.Load(in)
	for _, from := range in.Data(len(s.data)) {
		if in.Err() != nil {
			return
		}
		if from.Into < 0 {
			sparse.Skip(in, from.Skip, s.Len())
			continue
		}
		in.Migrate(from.Migration)
		s.data[from.Into].Load(in, s.Map, s.Len(), s.Map.Stats().Slots)
	}
}

// Verify checks every invariant and returns an error that cites the first one broken, or
// nil.
func (s State) Verify() error {
	if err := s.Map.Verify(); err != nil {
		return err
	}
	for _, d := range s.data {
		if err := d.Verify(s.Map); err != nil {
			return err
		}
	}
	return nil
}

// Stats returns the figures of the map, with the memory that the data takes.
func (s State) Stats() handle.Stats {
	of := s.Map.Stats()
	for _, d := range s.data {
		of.Bytes += d.Bytes()
	}
	return of
}
