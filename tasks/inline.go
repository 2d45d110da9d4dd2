package tasks

// inline runs all tasks in order on the calling goroutine.
func (s *sequence) inline() error {
	s.stretch()
	if s.err == nil && s.next < s.n {
		return stopped(s.ctx, s.next, s.n)
	}
	return s.err
}

// sequence is a position in the tasks of an inline run.
type sequence struct {
	work
	next    int   // the task that runs, or runs next
	err     error // of the first task that failed, which in this order is the lowest
	resumed bool  // after a task that panicked or called Goexit
}

// stretch runs tasks until none is left, or until one panicked and it reports
// that there may be more. One deferred call serves the whole stretch instead
// of every task, and runs what is left after the first that panicked: only then
// need there be one for the whole run as well.
func (s *sequence) stretch() (more bool) {
	returned := false
	defer func() {
		if returned {
			return
		}
		s.fail(broken(s.next, recover()))
		s.next++
		if more = s.resumed; !more {
			s.resumed = true
			s.resume()
		}
	}()
	for ; s.next < s.n && !s.canceled(); s.next++ {
		if err := s.fn(s.next); err != nil {
			s.fail(err)
		}
	}
	returned = true
	return false
}

// resume runs the tasks that are left. Goexit in a task ends the goroutine as
// soon as its deferred calls are done, even if one of them panicked and we
// recovered that. Ours is then the last chance for the other tasks.
func (s *sequence) resume() {
	ended := false
	defer func() {
		if !ended {
			s.resume()
		}
	}()
	for s.stretch() {
	}
	ended = true
}

func (s *sequence) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}
