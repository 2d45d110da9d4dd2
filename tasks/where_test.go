package tasks

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func stackOf(root string, calls ...string) []byte {
	var text strings.Builder
	text.WriteString("goroutine 7 [running]:\nruntime/debug.Stack()\n\t" + root + "runtime/debug/stack.go:26 +0x5e\n" +
		"handloom/tasks.broken(0x7, {0x1, 0x2})\n\t/src/handloom/tasks/errors.go:54 +0x1\n" +
		"handloom/tasks.(*phase).stretch.func1()\n\t/src/handloom/tasks/phase.go:93 +0x1\n")
	for i := 0; i < len(calls); i += 2 {
		text.WriteString(calls[i] + "\n\t" + strings.Replace(calls[i+1], "ROOT/", root, 1) + " +0x1d\n")
	}
	return []byte(text.String() + "handloom/tasks.(*phase).stretch(0x1, 0x2)\n\t/src/handloom/tasks/phase.go:103 +0x1\n" +
		"main.main()\n\t/src/game/main.go:9 +0x1\ncreated by main.other in goroutine 1\n\t/src/game/main.go:1 +0x1\n")
}

func TestOrigin_FirstCallOfTheUser(t *testing.T) {
	const panics, its = "panic({0x1, 0x2})", "ROOT/runtime/panic.go:860"
	for want, calls := range map[string][]string{
		"main.step, step.go:33":           {"main.step(0x1, {0x2, 0x3})", "/src/game/step.go:33"},
		"main.(*T[...]).f, step.go:34":    {"runtime.panicmem(...)", "ROOT/runtime/panic.go:262", "main.(*T[...]).f(0x1)", "/src/game/step.go:34"},
		"handloom/stress.f, stress.go:35": {"handloom/stress.f()", "/src/handloom/stress/stress.go:35"},
		"main.bad, step.go:36":            {"strings.Repeat({0x1, 0x2}, 0x3)", "ROOT/strings/strings.go:628", "main.bad(...)", "/src/game/step.go:36"},
		"main.stale, step.go:37": {
			"handloom/shard/handlemap.(*Map[...]).At(...)", "/src/handloom/shard/handlemap/map.go:80",
			"handloom/store.(*Table[...]).At(...)", "/src/handloom/store/table.go:205",
			"main.stale()", "/src/game/step.go:37",
		},
		"main.again, step.go:38": {
			"main.again()", "/src/game/step.go:38", panics, its, "main.first()", "/src/game/step.go:39",
		},
		// A bug of the library, or no origin:
		"handloom/shard.(*Shard[...]).apply, apply.go:40": {"handloom/shard.(*Shard[...]).apply(0x1)", "/src/handloom/shard/apply.go:40", "handloom/store.(*flush).run()", "/src/handloom/store/flush.go:41"},
		"": nil,
	} {
		for _, root := range []string{"/usr/local/go/src/", ""} {
			if root == "" && want == "main.bad, step.go:36" {
				continue // unknown with -trimpath
			}
			if got := origin(stackOf(root, append([]string{panics, its}, calls...)...)); got != want {
				t.Errorf("with the standard library below %q: %q, want %q", root, got, want)
			}
		}
	}
	for _, stack := range []string{"", "words", "goroutine 1 [running]:\npanic(", "x\npanic(\n", "x\npanic(1)\n\tf.go:1\nmain.f("} {
		if got := origin([]byte(stack)); got != "" {
			t.Errorf("%q: %q", stack, got)
		}
	}
}

func TestPanicError_Verbs(t *testing.T) {
	err := &PanicError{Task: 3, Value: errors.ErrUnsupported, Stack: stackOf("", "panic(0x1)", "runtime/panic.go:860", "main.f()", "/src/f.go:1")}
	text := "tasks: task 3 panicked: unsupported operation (in main.f, f.go:1)"
	for format, want := range map[string]string{
		"%v": text, "%s": text, "%q": `"` + text + `"`, "%70s": strings.Repeat(" ", 5) + text, "%+v": text + "\n\n" + string(err.Stack),
	} {
		if got := fmt.Sprintf(format, err); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
	if err := (&PanicError{Value: "by hand"}); err.Error() != "tasks: task 0 panicked: by hand" || err.Unwrap() != nil {
		t.Errorf("without a stack: %q", err)
	}
}
