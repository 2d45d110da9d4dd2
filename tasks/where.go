package tasks

import (
	"fmt"
	"iter"
	"path"
	"strings"
)

// where names the first call of the user's code on the stack of a panic, in words
// that are the same on every machine, or is empty when there is no stack. Code of
// the runtime, of this library and of the standard library is not the user's: who
// gave it something wrong wants to know where. A build with -trimpath does not
// tell what is of the standard library.
func where(stack []byte) string {
	var first call // of those that are not the runtime's
	standard := ""
	for c := range panicked(string(stack)) {
		switch {
		case c.function == "panic":
			standard, _, _ = strings.Cut(c.file, "runtime/panic.go:")
		case strings.HasPrefix(c.function, "runtime."):
		case !c.ours() && (standard == "" || !strings.HasPrefix(c.file, standard)):
			return c.String()
		case first == call{}:
			first = c
		}
	}
	if first == (call{}) {
		return ""
	}
	return first.String()
}

// call is one of a stack as debug.Stack prints it, in two lines.
type call struct {
	function string // with its package
	file     string // with the line
}

// panicked iterates over the calls from panic up to the one that runs tasks, so
// that what is found does not depend on the goroutine that ran the task.
func panicked(stack string) iter.Seq[call] {
	return func(yield func(call) bool) {
		_, rest, found := strings.Cut(stack, "\npanic(")
		for rest = "panic(" + rest; found; {
			var line, file string
			line, rest, _ = strings.Cut(rest, "\n")
			file, rest, found = strings.Cut(rest, "\n")
			file, _, _ = strings.Cut(strings.TrimSpace(file), " +0x")
			c := call{line[:max(0, strings.LastIndexByte(line, '('))], file}
			if c.function == "" || c.file == "" || c.runsTasks() || !yield(c) {
				return
			}
		}
	}
}

func (c call) runsTasks() bool {
	return strings.HasPrefix(c.function, "handloom/tasks.") && strings.HasSuffix(c.function, ").stretch")
}

// ours reports whether the call is of this library, its tests aside.
func (c call) ours() bool {
	if file, _, _ := strings.Cut(c.file, ".go:"); strings.HasSuffix(file, "_test") {
		return false
	}
	for _, of := range []string{"tasks.", "store.", "batch.", "shard.", "shard/", "internal/"} {
		if strings.HasPrefix(c.function, "handloom/"+of) {
			return true
		}
	}
	return false
}

// String leaves out the folder: the function has its package.
func (c call) String() string { return fmt.Sprintf("%s, %s", c.function, path.Base(c.file)) }
