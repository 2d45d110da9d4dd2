package tasks

import (
	"fmt"
	"iter"
	"path"
	"strings"

	"handloom/internal/check"
)

// origin returns the first call of the user's code on the stack of a panic. It skips the
// runtime, this library and the standard library, except with -trimpath.
func origin(stack []byte) string {
	var first call // outside of the runtime
	standard := ""
	for c := range panicked(string(stack)) {
		switch {
		case c.function == "panic":
			standard, _, _ = strings.Cut(c.file, "runtime/panic.go:")
		case strings.HasPrefix(c.function, "runtime."):
		case !check.IsEngine(c.function, c.file) && (standard == "" || !strings.HasPrefix(c.file, standard)):
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

// call is a stack entry.
type call struct {
	function string
	file     string // with the line
}

func panicked(stack string) iter.Seq[call] {
	return func(yield func(call) bool) {
		_, rest, found := strings.Cut(stack, "\npanic(")
		for rest = "panic(" + rest; found; {
			var line, file string
			line, rest, _ = strings.Cut(rest, "\n")
			file, rest, found = strings.Cut(rest, "\n")
			file, _, _ = strings.Cut(strings.TrimSpace(file), " +0x")
			c := call{line[:max(0, strings.LastIndexByte(line, '('))], file}
			runner := strings.HasPrefix(c.function, "handloom/tasks.") && strings.HasSuffix(c.function, ").stretch")
			if c.function == "" || c.file == "" || runner || !yield(c) {
				return
			}
		}
	}
}

func (c call) String() string { return fmt.Sprintf("%s, %s", c.function, path.Base(c.file)) }
