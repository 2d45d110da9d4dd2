package paged

import (
	"unsafe"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Type is an [items.Type] with the typed steps of pages.
type Type struct {
	*items.Type
	steps
}

// steps are typed to avoid a call per item.
type steps interface {
	// reuse puts values into slots, already off the freelist, and returns the highest
	// handle.
	reuse(s *Set, slots []slotset.Slot, values items.Slice, dst []handle.ID) (highest handle.ID)
	zero(s *Set, slots []slotset.Slot)
}

type typed[T any] struct{}

// TypeFor returns the Type of T. It takes some microseconds.
func TypeFor[T any]() *Type { return &Type{Type: items.For[T](), steps: new(typed[T])} }

func (*typed[T]) reuse(s *Set, slots []slotset.Slot, values items.Slice, dst []handle.ID) (highest handle.ID) {
	all, dst := (*items.As[T](&values))[:len(slots)], dst[:len(slots)]
	for i, slot := range slots {
		page, at := s.pages[slot>>(s.shift&31)], uintptr(slot&slotset.Slot(s.mask))
		word := (*handle.ID)(unsafe.Add(page.words, at*wordSize))
		id := *word&(slotset.UpperHalf&^handle.FreeBit) | handle.ID(slot)
		*(*T)(unsafe.Add(page.items, at*unsafe.Sizeof(all[0]))) = all[i]
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
