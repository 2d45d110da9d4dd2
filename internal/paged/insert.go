package paged

import (
	"fmt"
	"slices"
	"unsafe"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Insert adds v and returns its handle in O(1) time. It fails with [handle.ErrFull] and
// changes nothing.
//
// It is in one piece, because calls would double its time (op=insert, op=churn,
// op=refillrandom).
func Insert[T any](s *Set, v T) (handle.Of[T], error) {
	// With released pages, the page of the next slot may lack memory for items.
	if s.busy != 0 || s.released != 0 || s.maxItems != 0 && s.Len() >= s.maxItems {
		return insertSlow(s, v)
	}
	upper, slot := s.list.Next, slotset.Slot(s.slots)
	if upper != 0 {
		// A new slot needs a page.
		if s.slots >= s.room {
			return insertSlow(s, v)
		}
		s.slots++
	} else {
		var ok bool
		if slot, ok = slotset.TryPop[slotset.Inline](&s.list); !ok {
			return insertSlow(s, v)
		}
	}
	page, at := &s.pages[slot>>(s.shift&31)], uintptr(slot&slotset.Slot(s.mask))
	word := (*handle.ID)(unsafe.Add(page.words, at*wordSize))
	*(*T)(unsafe.Add(page.items, at*unsafe.Sizeof(v))) = v // before the word arrives from memory
	if upper == 0 {
		upper = slotset.Reissue[slotset.Inline](&s.list, *word)
	}
	id := upper | handle.ID(slot)
	*word = id
	// The bit and the word change together (S2).
	s.live.Pages[slot/64/slotset.BitmapWords][slot/64%slotset.BitmapWords] |= 1 << (slot % 64)
	return handle.Of[T]{ID: id}, nil
}

// insertSlow handles growth, limits, released pages, a wrap of the freelist ring and
// running callbacks.
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

// InsertFunc is [EmplaceItems] of one item.
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
	// filled stays false if f panics or ends the goroutine.
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
	// The handles are known before the items, and are issued only if all items are filled
	// in.
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
		// Callbacks change nothing, so issue gives the handles that peek has shown.
		s.issue(len(handles))
		return
	}
	for _, id := range handles {
		s.typ.Zero(s.item(slotset.Slot(id)))
	}
}
