package tasks

func (s *sequence) inline() error {
	s.stretch()
	if s.err == nil && s.next < s.n {
		return stopped(s.ctx, s.next, s.n)
	}
	return s.err
}

// sequence is the state of an inline run.
type sequence struct {
	work
	next    int   // current or next task
	err     error // error of the lowest task
	resumed bool  // a task panicked or called Goexit
}

// A loop until a panic saves a deferred call per task.
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

// resume runs the tasks left after a panic or Goexit. Goexit ends the goroutine after its
// deferred calls, even if one recovers a panic.
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
