package check

import (
	"path"
	"runtime"
	"strconv"
	"strings"
)

// IsEngine reports whether a function is part of the library, and not of a program or a test. file
// may have a line.
func IsEngine(function, file string) bool {
	if file, _, _ := strings.Cut(file, ".go:"); strings.HasSuffix(strings.TrimSuffix(file, ".go"), "_test") {
		return false
	}
	for _, prefix := range []string{"tasks.", "store.", "batch.", "shard.", "shard/", "internal/"} {
		if strings.HasPrefix(function, "handloom/"+prefix) {
			return true
		}
	}
	return false
}

// Line returns the file and line of the innermost function outside of the library, or "".
func Line(callers []uintptr) string {
	if len(callers) == 0 {
		return ""
	}
	for frames := runtime.CallersFrames(callers); ; {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") && !IsEngine(f.Function, f.File) {
			return path.Base(f.File) + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return ""
		}
	}
}
