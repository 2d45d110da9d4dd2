package paged

import (
	"fmt"
	"slices"
	"unsafe"

	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// Insert adds v and returns its handle in O(1) time. It fails with [handle.ErrFull] and
// changes nothing.
func Insert[T any](s *Set, v T) (handle.Of[T], error) {
	if s.busy == 0 && s.released == 0 && (s.maxItems == 0 || s.Len() < s.maxItems) {
		var slot slotset.Slot // known before the word arrives from memory
		var id handle.ID
		switch {
		case s.list.Next != 0 && s.slots < s.room:
			// makeSlot without its calls (op=insert)
			slot := s.slots
			s.slots++
			page, at := s.pages[slot>>(s.shift&63)], uintptr(slot&int(s.mask))
			id := s.list.Next | handle.ID(slot)
			*(*handle.ID)(unsafe.Add(page.words, at*wordSize)) = id
			*(*T)(unsafe.Add(page.items, at*unsafe.Sizeof(v))) = v
			s.live.Pages[slot/64/slotset.BitmapWords][slot/64%slotset.BitmapWords] |= 1 << (slot % 64)
			return handle.Of[T]{ID: id}, nil
		case s.list.CanReuse():
			slot = s.list.Front()
			id = s.reuse()
		case s.slots < s.room:
			slot = slotset.Slot(s.slots)
			id = s.makeSlot()
		default:
			return insertSlow(s, v)
		}
		*itemOf[T](s, slot) = v
		return handle.Of[T]{ID: id}, nil
	}
	return insertSlow(s, v)
}

func insertSlow[T any](s *Set, v T) (handle.Of[T], error) {
	Bind[T](s).guard("Insert")
	if err := s.makeRoom(1); err != nil {
		return handle.Of[T]{}, err
	}
	var id handle.ID
	if _, fresh, _ := s.list.Split(s.slots, 1); fresh == 1 {
		id = s.makeSlot()
	} else {
		id = s.reuse()
	}
	*itemOf[T](s, slotset.Slot(id)) = v
	return handle.Of[T]{ID: id}, nil
}

// InsertItems inserts all or, with [handle.ErrFull], none. It takes O(n) time and moves no
// item.
func (s *Set) InsertItems(values items.Slice, dst []handle.ID) ([]handle.ID, error) {
	s.guard("InsertItems")
	n := values.Len()
	if n == 0 {
		return dst, nil
	}
	if err := s.makeRoom(n); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, n)
	s.insert(values, dst[len(dst):len(dst)+n])
	return dst[:len(dst)+n], nil
}

func InsertFunc[T any](s *Set, f func(h handle.Of[T], v *T)) (handle.Of[T], error) {
	s.guard("InsertFunc")
	one, err := EmplaceItems(s, 1, func(_ int, h handle.Of[T], v *T) { f(h, v) }, s.one[:0])
	if err != nil {
		return handle.Of[T]{}, err
	}
	s.one = one
	return handle.Of[T]{ID: one[0]}, nil
}

// EmplaceItems inserts all n items or, with [handle.ErrFull] or if f panics, none.
func EmplaceItems[T any](s *Set, n int, f func(i int, h handle.Of[T], v *T), dst []handle.ID) ([]handle.ID, error) {
	if n == 0 {
		s.guard("EmplaceItems")
		return dst, nil
	}
	all, err := s.stage("EmplaceItems", n, dst)
	if err != nil {
		return dst, err
	}
	handles, filled := all[len(dst):], false
	defer func() { s.finishStaged(filled) }()
	var none T
	for i, id := range handles {
		item := itemOf[T](s, slotset.Slot(id))
		*item = none // instead of an erased item
		f(i, handle.Of[T]{ID: id}, item)
	}
	filled = true
	return all, nil
}

// stage begins to add n items with these handles. The caller fills the items and calls
// finishStaged.
func (s *Set) stage(operation string, n int, dst []handle.ID) ([]handle.ID, error) {
	s.guard(operation)
	if n < 0 {
		panic(fmt.Sprintf("slotmap: %s of %d items; n must not be negative", operation, n))
	}
	if err := s.makeRoom(n); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, n)
	handles := dst[len(dst) : len(dst)+n]
	s.peek(n, func(i int, id handle.ID) { handles[i] = id })
	s.busy++
	s.staged = handles
	return dst[:len(dst)+n], nil
}

// finishStaged adds the staged items, or zeroes them (S4) unless all were filled.
func (s *Set) finishStaged(filled bool) {
	handles := s.staged
	s.busy--
	s.staged = nil
	if filled {
		s.issue(len(handles))
		return
	}
	for _, id := range handles {
		s.typ.Zero(s.item(slotset.Slot(id)))
	}
}
