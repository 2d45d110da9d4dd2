package paged

import (
	"math/bits"
	"unsafe"

	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// page is the memory of 1<<shift rows: their words side by side, and their items side
// by side. What goes over many rows (iterations, digests, copies, Clear) so has nothing
// to step over, and a lookup waits for both at once.
type page struct {
	words unsafe.Pointer // of handle.IDs
	items unsafe.Pointer // zero, if they can hold pointers, but for those of live slots (S4); nil: given back
}

// pageBytes is what the rows of a page take at most, if more than one fits: large
// enough that the list of pages stays small, small enough that making a page is not
// felt (op=get, op=growth).
const pageBytes = 40 << 10

// wordSize is the size of a word in bytes.
const wordSize = unsafe.Sizeof(handle.ID(0))

// pageShift returns how many bits of a slot say where in its page its row lies.
func pageShift(item uintptr) uint8 {
	return uint8(bits.Len64(uint64(pageBytes/(wordSize+item)) / 2))
}

// newPage makes the page p, with memory for items or without. Words are 0 until their
// slots are issued. That matches no handle but the null handle, which asks for slot 0.
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

// newItems makes the memory for the items of a page.
func (s *Set) newItems() unsafe.Pointer {
	made := s.typ.Make(1 << s.shift)
	return made.Data()
}

// restore gives a page that was given back memory for items again.
func (s *Set) restore(p int) {
	if s.isReleased(p) {
		s.pages[p].items = s.newItems()
		s.released--
	}
}

// isReleased reports whether the memory for the items of page p was given back.
func (s *Set) isReleased(p int) bool { return s.pages[p].items == nil }

// words returns the words of page p.
func (s *Set) words(p int) []handle.ID {
	return unsafe.Slice((*handle.ID)(s.pages[p].words), 1<<s.shift)
}

// items returns the items of page p, which has memory.
func (s *Set) items(p int) items.Slice { return items.At(s.pages[p].items, 1<<s.shift) }

// wordsOf returns the words of the slots first to end-1, which are of one page, and
// itemsOf their items.
func (s *Set) wordsOf(first, end int) []handle.ID {
	at := first & int(s.mask)
	return s.words(first >> s.shift)[at : at+end-first]
}

func (s *Set) itemsOf(first, end int) items.Slice {
	at, all := first&int(s.mask), s.items(first>>s.shift)
	return all.Sub(at, at+end-first, s.typ.Size)
}

// word returns where the word of a slot is.
func (s *Set) word(slot slotset.Slot) *handle.ID {
	return (*handle.ID)(unsafe.Add(s.pages[slot>>(s.shift&31)].words, uintptr(slot&slotset.Slot(s.mask))*wordSize))
}

// item returns the address of the item of a slot on a page with memory.
func (s *Set) item(slot slotset.Slot) unsafe.Pointer {
	return unsafe.Add(s.pages[slot>>(s.shift&31)].items, uintptr(slot&slotset.Slot(s.mask))*s.typ.Size)
}

// itemOf is item where T is known.
func itemOf[T any](s *Set, slot slotset.Slot) *T {
	return (*T)(unsafe.Add(s.pages[slot>>(s.shift&31)].items, uintptr(slot&slotset.Slot(s.mask))*unsafe.Sizeof(*new(T))))
}
