package schedule

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"handloom/tasks"
)

func TestMain(m *testing.M) {
	// The runtime's own goroutine for events, under GOOS=js.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("runtime.handleEvent"))
}

// everyForm runs the test with a team that the frame opens and in teams of several
// sizes: what a frame does not depend on where its systems run.
func everyForm(t *testing.T, test func(t *testing.T, ctx context.Context, workers int)) {
	t.Helper()
	for _, workers := range []int{1, 2, 3, 64} {
		t.Run(fmt.Sprintf("team=none/workers=%d", workers), func(t *testing.T) { test(t, t.Context(), workers) })
		t.Run(fmt.Sprintf("team=%d/workers=%d", workers, workers), func(t *testing.T) {
			inTeam(t, workers, func(ctx context.Context) { test(t, ctx, workers) })
		})
	}
}

// inTeam calls fn in a team and fails the test if that does not end well.
func inTeam(t *testing.T, workers int, fn func(ctx context.Context)) {
	t.Helper()
	err := tasks.WithTeam(t.Context(), workers, func(ctx context.Context) error {
		fn(ctx)
		return nil
	})
	noError(t, err)
}

// numbered makes a schedule whose resources are called by their numbers.
func numbered(systems ...System) (*Schedule, error) {
	return New(func(r Resource) string { return fmt.Sprintf("resource %d", r) }, systems...)
}

// meeting lets n tasks wait for each other, which puts them on different goroutines.
func meeting(n int) (wait func()) {
	var all sync.WaitGroup
	all.Add(n)
	return func() {
		all.Done()
		all.Wait()
	}
}

// goroutine identifies the calling goroutine.
func goroutine() string { return string(bytes.Fields(stack())[1]) }

// stack begins with "goroutine 7 [running]:" or, in a bubble, with
// "goroutine 7 [running, synctest bubble 1]:".
func stack() []byte {
	buf := make([]byte, 64)
	return buf[:runtime.Stack(buf, false)]
}
