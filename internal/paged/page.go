package paged

import (
	"math/bits"
	"unsafe"

	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// page is the memory of 1<<shift rows: adjacent words and adjacent items. Bulk steps
// (iterations, digests, copies, Clear) thus read memory without gaps, and a lookup waits
// for word and item at once.
type page struct {
	words unsafe.Pointer // of handle.IDs
	items unsafe.Pointer // nil: released. If items hold pointers, those of dead slots are zero (S4).
}

// pageBytes is the maximum size of a page, if more than one row fits: large enough for a
// short list of pages, small enough that making a page is not noticeable (op=get,
// op=growth).
const pageBytes = 40 << 10

const wordSize = unsafe.Sizeof(handle.ID(0))

// pageShift returns the number of bits of a slot that locate its row within the page.
func pageShift(item uintptr) uint8 {
	return uint8(bits.Len64(uint64(pageBytes/(wordSize+item)) / 2))
}

// newPage makes page p, with or without item memory. Words are 0 until their slots are
// issued; 0 matches only the null handle, which refers to slot 0.
func (s *Set) newPage(p int, withItems bool) page {
	words := make([]handle.ID, 1<<s.shift)
	if p == 0 {
		words[0] = handle.FreeBit
	}
	made := page{words: unsafe.Pointer(unsafe.SliceData(words))}
	if withItems {
		made.items = s.newItems()
	}
	return made
}

// newItems allocates the items of a page.
func (s *Set) newItems() unsafe.Pointer {
	made := s.typ.Make(1 << s.shift)
	return made.Data()
}

// restore allocates item memory for page p if it was released.
func (s *Set) restore(p int) {
	if s.isReleased(p) {
		s.pages[p].items = s.newItems()
		s.released--
	}
}

// isReleased reports whether the item memory of page p was released.
func (s *Set) isReleased(p int) bool { return s.pages[p].items == nil }

func (s *Set) words(p int) []handle.ID {
	return unsafe.Slice((*handle.ID)(s.pages[p].words), 1<<s.shift)
}

// items returns the items of page p, which has memory.
func (s *Set) items(p int) items.Slice { return items.At(s.pages[p].items, 1<<s.shift) }

// wordsOf returns the words, and itemsOf the items, of the slots first to end-1 of one
// page.
func (s *Set) wordsOf(first, end int) []handle.ID {
	at := first & int(s.mask)
	return s.words(first >> s.shift)[at : at+end-first]
}

func (s *Set) itemsOf(first, end int) items.Slice {
	at, all := first&int(s.mask), s.items(first>>s.shift)
	return all.Sub(at, at+end-first, s.typ.Size)
}

// word returns the address of the word of a slot.
func (s *Set) word(slot slotset.Slot) *handle.ID {
	return (*handle.ID)(unsafe.Add(s.pages[slot>>(s.shift&31)].words, uintptr(slot&slotset.Slot(s.mask))*wordSize))
}

// item returns the address of the item of a slot. Its page has memory.
func (s *Set) item(slot slotset.Slot) unsafe.Pointer {
	return unsafe.Add(s.pages[slot>>(s.shift&31)].items, uintptr(slot&slotset.Slot(s.mask))*s.typ.Size)
}

// itemOf is item where T is known.
func itemOf[T any](s *Set, slot slotset.Slot) *T {
	return (*T)(unsafe.Add(s.pages[slot>>(s.shift&31)].items, uintptr(slot&slotset.Slot(s.mask))*unsafe.Sizeof(*new(T))))
}
