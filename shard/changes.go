package shard

import (
	"unsafe"

	"handloom/handle"
)

// listener receives the changes that flushes make to the items of a shard, on the applying
// goroutine.
type listener interface {
	Erasing(n int)                                   // before n items are erased
	Erased(id handle.ID, item unsafe.Pointer) bool   // with the value before the batch; by ascending row
	Replaced(id handle.ID, item unsafe.Pointer) bool // as Erased, for a put that counts
	Created(ids []handle.ID)                         // a run; ids are valid until the batch's handles no longer resolve
}

type tracking struct {
	listener         listener
	erased, replaced func(id handle.ID, item unsafe.Pointer) bool
}

func (s *Shard) Track(l listener) { s.tracking = tracking{l, l.Erased, l.Replaced} }

// begin reports the planned erases and puts before the items change.
func (k *tracking) begin(s *Shard) {
	if n := s.erasing.Len(); n > 0 {
		k.listener.Erasing(n)
		s.Map.Marked(&s.erasing, k.erased)
	}
	s.Map.Marked(&s.putting, k.replaced)
}
