package paged

import (
	"unsafe"

	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// Type is what a [Set] has to know of its item type.
type Type struct {
	*items.Type
	steps
}

// steps is what has to be typed beside the steps of [items.Type]: what is done to the
// items of many slots, which for speed calls nothing per item.
type steps interface {
	// reuse makes slots live that are off the freelist, a value in each, and returns
	// the highest of their handles.
	reuse(s *Set, slots []slotset.Slot, values items.Slice, dst []handle.ID) (highest handle.ID)
	zero(s *Set, slots []slotset.Slot)
}

// typed is steps for T.
type typed[T any] struct{}

// TypeFor returns the Type of T. It takes some microseconds.
func TypeFor[T any]() *Type { return &Type{Type: items.For[T](), steps: new(typed[T])} }

func (*typed[T]) reuse(s *Set, slots []slotset.Slot, values items.Slice, dst []handle.ID) (highest handle.ID) {
	all, dst := (*items.As[T](&values))[:len(slots)], dst[:len(slots)]
	for i, slot := range slots {
		of, at := s.pages[slot>>(s.shift&31)], uintptr(slot&slotset.Slot(s.mask))
		word := (*handle.ID)(unsafe.Add(of.words, at*wordSize))
		id := *word&(slotset.UpperHalf&^handle.FreeBit) | handle.ID(slot)
		*(*T)(unsafe.Add(of.items, at*unsafe.Sizeof(all[0]))) = all[i]
		*word, dst[i] = id, id
		highest = max(highest, id)
		s.live.Pages[slot/64/slotset.BitmapWords][slot/64%slotset.BitmapWords] |= 1 << (slot % 64)
	}
	return highest
}

func (*typed[T]) zero(s *Set, slots []slotset.Slot) {
	var none T
	for _, slot := range slots {
		*itemOf[T](s, slot) = none
	}
}
