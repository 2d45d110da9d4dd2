package store

import "fmt"

// Inbox takes commands from outside of the passes: it calls fn with a queue and
// what fn records is applied by one flush, whole or not at all, after the
// commands of all passes and of calls that returned before. The first flush of a
// frame takes the calls that have returned when it begins, and those of a flush
// that failed before them; what is recorded later belongs to the next frame, so
// that which of its flushes applies a call does not depend on when it came. The
// order in which calls return is input to the program: it is the one thing that
// decides an outcome and is no function of what was recorded.
//
// Inbox may be called from any goroutine at any time (a network reader, say),
// also while a phase is open, and waits for nothing. When fn returns an error or
// panics nothing of the call is kept. Inbox fails with [ErrQueueFull], and then
// nothing of the call is kept either, when the call exceeds the limits of a
// queue, or the calls that wait for a flush exceed Options.InboxLimit; fn is not
// called when they have reached it. On a closed store it is [ErrClosed].
//
// Looking things up inside fn takes a phase as anywhere else.
func (s *Store) Inbox(fn func(q Queue) error) error {
	q, err := s.batch.Enter()
	if err != nil {
		return fmt.Errorf("store: Inbox: %w", err)
	}
	kept := false
	defer func() {
		if !kept {
			s.batch.Leave(q)
		}
	}()
	if err := fn(Queue(q)); err != nil {
		return err
	}
	kept = true
	if err := s.batch.Arrive(q); err != nil {
		return fmt.Errorf("store: Inbox: %w", err)
	}
	return nil
}
