package shard

import (
	"unsafe"

	"handloom/shard/handle"
)

// listener gets what flushes do to the items of a shard, on the goroutine that applies.
type listener interface {
	Erasing(n int)                                   // before n items are erased
	Erased(id handle.ID, item unsafe.Pointer) bool   // with the value before the batch; in order of rows
	Replaced(id handle.ID, item unsafe.Pointer) bool // likewise: a put that counts
	Created(ids []handle.ID)                         // a run; the batch keeps ids until its handles resolve no more
}

// tracking is the listener of a shard, with its methods bound once.
type tracking struct {
	listener         listener // nil: there is none
	erased, replaced func(id handle.ID, item unsafe.Pointer) bool
}

// Track makes flushes report to l what they do to the items.
func (s *Shard) Track(l listener) { s.tracking = tracking{l, l.Erased, l.Replaced} }

// begin reports the planned erases and puts, before anything happens to the items.
func (k *tracking) begin(s *Shard) {
	if n := s.erasing.Len(); n > 0 {
		k.listener.Erasing(n)
		s.Map.Marked(&s.erasing, k.erased)
	}
	s.Map.Marked(&s.putting, k.replaced)
}
