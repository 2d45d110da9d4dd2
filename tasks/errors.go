package tasks

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// ErrGoexit means that a task ended its goroutine, for example by t.FailNow. [Run] wraps it
// with the number of the task.
var ErrGoexit = errors.New("task called runtime.Goexit")

// A PanicError is the error of a task that panicked. %v and %s print one line; %+v adds the
// stack.
type PanicError struct {
	Task  int
	Value any
	Stack []byte // formatted by debug.Stack
}

// Error names the task, the value, and the function and line of the caller's code. It takes
// microseconds.
func (e *PanicError) Error() string {
	text := fmt.Sprintf("tasks: task %d panicked: %v", e.Task, e.Value)
	if at := origin(e.Stack); at != "" {
		text += " (in " + at + ")"
	}
	return text
}

// Format prints the stack, too, for %+v.
func (e *PanicError) Format(s fmt.State, verb rune) {
	fmt.Fprintf(s, fmt.FormatString(s, verb), e.Error())
	if verb == 'v' && s.Flag('+') {
		fmt.Fprintf(s, "\n\n%s", e.Stack)
	}
}

// Unwrap returns the value of the panic if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

func broken(task int, value any) error {
	if value == nil {
		return fmt.Errorf("tasks: task %d: %w", task, ErrGoexit)
	}
	return &PanicError{Task: task, Value: value, Stack: debug.Stack()}
}

// failure keeps the error of the lowest failed task.
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

func (f *failure) take() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.err
	f.task, f.err = 0, nil
	return err
}
