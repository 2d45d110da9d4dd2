package store

import "context"

// Shrink gives back the memory of items that are gone, and of commands, keys and lists of
// changes that no call can see any more; what the last frame lists stays until the next
// flush. The options Reserve hold. No handle, row, list, call of the inbox or recorded
// command changes, and no digest; pointers to items and elements are invalid, except to
// items of a [StableTable]. A slot that was used keeps at most 16 bytes, so that its
// old handles stay stale.
//
// A [Schedule], a [Groups] and a [Checkpoint] keep memory of their own.
//
// It copies all items and keys, and the next burst allocates again: call it after a large
// erase, not in each frame. It holds the store alone, or joins the Frame of its context. It
// fails with [ErrPhase], [ErrClosed], [ErrBroken] or the cause of ctx; nothing has changed then.
func (s *Store) Shrink(ctx context.Context) error {
	s.given(ctx, "Shrink")
	p, err := s.enter(ctx, opShrink)
	if err != nil {
		return err
	}
	defer p.leave()
	if !s.batch.Started() {
		s.flush.active.trim(s.batch, true)
		s.flush.active.trim(s.batch, true) // what the first call took for recently used
	}
	for _, t := range s.tables {
		for _, sh := range t.order {
			sh.State().Shrink(t.reserve)
		}
		for _, x := range t.indexes {
			x.shrink()
		}
	}
	s.publishAll(s.tables)
	return nil
}
