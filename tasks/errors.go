package tasks

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// ErrGoexit says that a task ended its goroutine with runtime.Goexit (which
// is what t.FailNow and t.Skip of package testing do) instead of returning.
// [Run] returns it wrapped in an error that names the task.
var ErrGoexit = errors.New("task called runtime.Goexit")

// A PanicError is the error of a task that panicked. The verbs %v and %s say in
// one line where, %+v prints the whole stack after it.
type PanicError struct {
	Task  int    // the task that panicked
	Value any    // what it panicked with
	Stack []byte // of its goroutine at the panic, as debug.Stack formats it
}

// Error names the task, the value, and the function, file and line of the
// caller's code that panicked, or that called the library with something that
// made it panic. It reads the stack, which takes microseconds.
func (e *PanicError) Error() string {
	text := fmt.Sprintf("tasks: task %d panicked: %v", e.Task, e.Value)
	if at := where(e.Stack); at != "" {
		text += " (in " + at + ")"
	}
	return text
}

// Format prints the stack, too, when the verb is %+v.
func (e *PanicError) Format(s fmt.State, verb rune) {
	fmt.Fprintf(s, fmt.FormatString(s, verb), e.Error())
	if verb == 'v' && s.Flag('+') {
		fmt.Fprintf(s, "\n\n%s", e.Stack)
	}
}

// Unwrap returns the value of the panic if it is an error, otherwise nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// broken is the error of a task that panicked with the value or, if there is
// none, called Goexit.
func broken(task int, value any) error {
	if value == nil {
		return fmt.Errorf("tasks: task %d: %w", task, ErrGoexit)
	}
	return &PanicError{Task: task, Value: value, Stack: debug.Stack()}
}

// failure keeps the error of the lowest task that failed. The lock is taken
// on the way of failure only, so that tasks that succeed share nothing.
type failure struct {
	mu   sync.Mutex
	task int
	err  error
}

func (f *failure) record(task int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || task < f.task {
		f.task, f.err = task, err
	}
}

// take returns the error and forgets it.
func (f *failure) take() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.err
	f.task, f.err = 0, nil
	return err
}
