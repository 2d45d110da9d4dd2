package shard

import (
	"fmt"
	"unsafe"

	"handloom/handle"
	"handloom/internal/dense"
	"handloom/internal/digest"
	"handloom/internal/items"
	"handloom/internal/paged"
	"handloom/internal/slotset"
	"handloom/internal/sparse"
)

// Map is the storage of a shard without item types. User lookups do not use it.
type Map interface {
	TypeID() uint16
	Len() int
	Rows() int // number of positions that a pass visits
	Item(id handle.ID) unsafe.Pointer
	RowOf(id handle.ID) (row int, ok bool)
	RowsOf(ids []handle.ID, rows []slotset.Row) // sets rows[i] to the row of ids[i], or NoRow
	IDAt(row int) handle.ID                     // null if the row is empty
	All(yield func(id handle.ID, item unsafe.Pointer) bool)
	From(n int, yield func(id handle.ID, item unsafe.Pointer) bool) // All without the first n items
	Clear()
	Stats() handle.Stats
	PutItems(ids []handle.ID, values items.Slice)
	InsertItems(values items.Slice, dst []handle.ID) ([]handle.ID, error)
	CanInsert(n, erased, depleting int) error
	HasRoom(n int) bool
	ReserveMore(n int)
	Shrink()

	Mark(marks *slotset.Bitset, id handle.ID) slotset.Marking
	MarkItems(marks *slotset.Bitset, ids []handle.ID, unmarked []slotset.Unmarked) []slotset.Unmarked
	MarkEvery(marks *slotset.Bitset)
	Marked(marks *slotset.Bitset, yield func(id handle.ID, item unsafe.Pointer) bool)
	EraseMarked(marks *slotset.Bitset) int

	Verify() error
	Digest() uint64
	DigestTo(h *digest.Hash)
	Load(in *digest.Decoder) // the inverse of DigestTo, for an unused map
}

type State struct {
	Map
	data []*sparse.Map
}

// CloneFuncs are functions that make *dst a copy of *src; nil copies by assignment.
type CloneFuncs struct {
	dense.CloneFuncs
	Data []func(dst, src unsafe.Pointer)
}

func (s *Shard) State() State { return State{s.Map, s.all} }

// Copy copies the state into to, of the same kind or zero for a new one, and returns it;
// see handlemap.Map.CopyTo and slotmap.Map.CopyTo.
func Copy(from, to State, clones CloneFuncs) State {
	if to.Map == nil {
		to = EmptyLike(from)
	}
	switch m := from.Map.(type) {
	case *dense.Set:
		m.CopyTo(to.Map.(*dense.Set), clones.CloneFuncs)
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

// DigestTo writes the state to h. It must not change while a [digest.Tee] of h uses it.
func (s State) DigestTo(h *digest.Hash) {
	s.Map.DigestTo(h)
	for _, d := range s.data {
		d.DigestTo(h)
	}
}

// Load reads the output of DigestTo into the unused state and verifies it.
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

// Shrink releases memory of items that are gone, and makes room for reserve items in all. Stable
// items keep their addresses, and all items their rows.
func (s State) Shrink(reserve int) {
	s.Map.Shrink()
	s.ReserveMore(max(0, reserve-s.Len()))
	for _, d := range s.data {
		small := d.EmptyLike()
		d.CopyTo(small, nil)
		d.MoveFrom(small)
	}
}

// Verify checks every invariant and returns an error that cites the first violation, or
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

// Stats returns the Stats of the map, with the memory of the sparse data added.
func (s State) Stats() handle.Stats {
	stats := s.Map.Stats()
	for _, d := range s.data {
		stats.Bytes += d.Bytes()
	}
	return stats
}
