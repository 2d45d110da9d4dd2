package tasks

import "runtime/debug"

// inline runs all tasks in order on the calling goroutine.
func (s *sequence) inline() error {
	s.run()
	if s.err == nil && s.next < s.n {
		return stopped(s.ctx, s.next, s.n)
	}
	return s.err
}

// sequence is a position in the tasks of an inline run.
type sequence struct {
	work
	next int   // the task that runs, or runs next
	err  error // of the first task that failed, which in this order is the lowest
}

func (s *sequence) run() {
	for s.stretch() {
	}
}

// stretch runs tasks until none is left, or until one panicked and it reports
// that there may be more. One deferred call serves the whole stretch instead
// of every task.
func (s *sequence) stretch() (more bool) {
	returned := false
	defer func() {
		if !returned {
			more = s.broken(recover())
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

// broken accounts for the task that panicked with the value or, if there is
// none, called Goexit. The goroutine then ends as soon as its deferred calls
// are done, and we are in one of them: the last chance for the other tasks.
func (s *sequence) broken(value any) (more bool) {
	if value != nil {
		s.fail(&PanicError{Task: s.next, Value: value, Stack: debug.Stack()})
		s.next++
		return true
	}
	s.fail(goexited(s.next))
	s.next++
	s.run()
	return false
}

func (s *sequence) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}
