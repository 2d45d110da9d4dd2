package schedule

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"handloom/tasks"
)

// Each run checks the same cases, or drawn ones with -rapid.seed=0.
var _ = flag.Set("rapid.seed", "1")

func TestMain(m *testing.M) {
	// GOOS=js has a goroutine for events.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("runtime.handleEvent"))
}

func everyForm(t *testing.T, test func(t *testing.T, ctx context.Context, workers int)) {
	t.Helper()
	for _, workers := range []int{1, 2, 3, 64} {
		t.Run(fmt.Sprintf("team=none/workers=%d", workers), func(t *testing.T) { test(t, t.Context(), workers) })
		t.Run(fmt.Sprintf("team=%d/workers=%d", workers, workers), func(t *testing.T) {
			inTeam(t, workers, func(ctx context.Context) { test(t, ctx, workers) })
		})
	}
}

func inTeam(t *testing.T, workers int, fn func(ctx context.Context)) {
	t.Helper()
	err := tasks.WithTeam(t.Context(), workers, func(ctx context.Context) error {
		fn(ctx)
		return nil
	})
	noError(t, err)
}

func numbered(systems ...System) (*Schedule, error) {
	return New(func(r Resource) string { return fmt.Sprintf("resource %d", r) }, systems...)
}

func meeting(n int) (wait func()) {
	var all sync.WaitGroup
	all.Add(n)
	return func() {
		all.Done()
		all.Wait()
	}
}

func goroutine() string {
	buf := make([]byte, 64)
	return string(bytes.Fields(buf[:runtime.Stack(buf, false)])[1])
}
