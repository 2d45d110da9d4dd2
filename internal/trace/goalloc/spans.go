package goalloc

const (
	// idsPerPage is how many object ids a page of the heap has: 8192 bytes in
	// steps of 8, on every platform of Go.
	idsPerPage = 1024

	// maxPages is more than a span of small objects has. A longer one holds a
	// single object, which begins where its slot does.
	maxPages = 64
)

// spans knows where an object may begin 8 bytes behind its slot. The tracer
// tells an allocation by the address of the object and a free by that of its
// slot, which differ twice: two tiny objects share a slot of 16 bytes, and an
// object with pointers of more than 512 bytes has a word of the allocator
// before it. In slots of 8 bytes the next address is the next object's.
type spans struct {
	wide map[uint64]struct{} // pages whose slots are longer than 8 bytes
}

// set notes the span of pages at page, as a Span or SpanAlloc event tells it.
// The class is 1 for memory that is no heap, and otherwise four times the size
// class, 0 for a single object and 1 for slots of 8 bytes, plus flags.
func (s *spans) set(page, pages, class uint64) {
	if pages > maxPages {
		return
	}
	heap, size := class&1 == 0, class>>2
	for i := range pages {
		if heap && size > 1 {
			s.wide[page+i] = struct{}{}
		} else {
			delete(s.wide, page+i)
		}
	}
}

// sharesSlot reports whether the object id behind this slot, id+1, is in it.
func (s *spans) sharesSlot(id uint64) bool {
	_, wide := s.wide[id/idsPerPage]
	return wide
}
