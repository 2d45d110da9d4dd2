package shard

// CopyTo copies the whole state into dst, which is another Packed or nil for a
// new one, and returns it; see [handlemap.Map.CopyTo].
func (p *Packed[T]) CopyTo(dst Container[T], clone func(dst, src *T)) Container[T] {
	if dst == nil {
		dst = new(Packed[T])
	}
	p.Map.CopyTo(&dst.(*Packed[T]).Map, clone)
	return dst
}

// CopyTo copies the whole state into dst, which is another Stable or nil for a
// new one, and returns it; see [slotmap.Map.CopyTo].
func (s *Stable[T]) CopyTo(dst Container[T], clone func(dst, src *T)) Container[T] {
	if dst == nil {
		dst = new(Stable[T])
	}
	s.Map.CopyTo(&dst.(*Stable[T]).Map, clone)
	return dst
}
