package paged

import (
	"math/bits"
	"unsafe"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// page is the memory of 1<<shift rows: adjacent words and adjacent items. Bulk steps
// (iterations, digests, copies, Clear) thus read memory without gaps, and a lookup waits
// for word and item at once.
type page struct {
	words unsafe.Pointer
	items unsafe.Pointer // nil: released. Dead items with pointers are zero (S4).
}

// pageBytes is the maximum size of a page with more than one row: large enough for a short
// list of pages, small enough that making a page is not noticeable (op=get, op=growth).
const pageBytes = 40 << 10

const wordSize = unsafe.Sizeof(handle.ID(0))

// pageShift returns the binary logarithm of the rows of a page: the largest power of two
// that fits pageBytes, at least 1 row.
func pageShift(item uintptr) uint8 {
	return uint8(bits.Len64(uint64(pageBytes/(wordSize+item)) / 2))
}

// newPage leaves words 0 until their slots are issued; 0 matches only the null handle.
func (s *Set) newPage(p int, withItems bool) page {
	words := make([]handle.ID, 1<<s.shift)
	if p == 0 {
		// A word of 0 at slot 0 would match the null handle.
		words[0] = handle.FreeBit
	}
	made := page{words: unsafe.Pointer(unsafe.SliceData(words))}
	if withItems {
		made.items = s.newItems()
	}
	return made
}

// newItems returns zero items for a page, allocated by code that knows T.
func (s *Set) newItems() unsafe.Pointer {
	made := s.typ.Make(1 << s.shift)
	return made.Data()
}

// restore gives a released page memory again.
func (s *Set) restore(p int) {
	if s.isReleased(p) {
		s.pages[p].items = s.newItems()
		s.released--
	}
}

func (s *Set) isReleased(p int) bool { return s.pages[p].items == nil }

// words returns the words of a page, and items its items.
func (s *Set) words(p int) []handle.ID {
	return unsafe.Slice((*handle.ID)(s.pages[p].words), 1<<s.shift)
}

func (s *Set) items(p int) items.Slice { return items.At(s.pages[p].items, 1<<s.shift) }

// wordsOf and itemsOf return the words and items of a run of slots within one page.
func (s *Set) wordsOf(first, end int) []handle.ID {
	at := first & int(s.mask)
	return s.words(first >> s.shift)[at : at+end-first]
}

func (s *Set) itemsOf(first, end int) items.Slice {
	at, all := first&int(s.mask), s.items(first>>s.shift)
	return all.Sub(at, at+end-first, s.typ.Size)
}

// word, item and itemOf return addresses by slot. The slot must exist, and its page must
// have items.
func (s *Set) word(slot slotset.Slot) *handle.ID {
	return (*handle.ID)(unsafe.Add(s.pages[slot>>(s.shift&31)].words, uintptr(slot&slotset.Slot(s.mask))*wordSize))
}

func (s *Set) item(slot slotset.Slot) unsafe.Pointer {
	return unsafe.Add(s.pages[slot>>(s.shift&31)].items, uintptr(slot&slotset.Slot(s.mask))*s.typ.Size)
}

func itemOf[T any](s *Set, slot slotset.Slot) *T {
	return (*T)(unsafe.Add(s.pages[slot>>(s.shift&31)].items, uintptr(slot&slotset.Slot(s.mask))*unsafe.Sizeof(*new(T))))
}
