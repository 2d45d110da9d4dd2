package trace

const (
	// idsPerPage is the number of object ids of a heap page: 8192 bytes in steps
	// of 8, on every platform of Go.
	idsPerPage = 1024

	// maxPages is more than a span of small objects has. A longer one holds a
	// single object at the beginning of its slot.
	maxPages = 64
)

// spans has the heap pages with slots longer than 8 bytes. In these an object may
// begin 8 bytes after its slot: two tiny objects share a slot of 16 bytes, and an
// object with pointers of more than 512 bytes follows a word of the allocator.
// The tracer names an allocation by the object and a free by the slot.
type spans map[uint64]struct{}

// set adds the span of pages at page, as a Span or SpanAlloc event describes it.
// The class is 1 for memory outside the heap, and otherwise four times the size
// class, 0 for a single object and 1 for slots of 8 bytes, plus flags.
func (s spans) set(page, pages, class uint64) {
	if pages > maxPages {
		return
	}
	heap, size := class&1 == 0, class>>2
	for i := range pages {
		if heap && size > 1 {
			s[page+i] = struct{}{}
		} else {
			delete(s, page+i)
		}
	}
}

// sharesSlot reports whether the object at id+1 is in the slot at id.
func (s spans) sharesSlot(id uint64) bool {
	_, wide := s[id/idsPerPage]
	return wide
}
