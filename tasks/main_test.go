package tasks

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"handloom/internal/check"
	"handloom/internal/seam"
)

func TestMain(m *testing.M) {
	// GOOS=js has a goroutine for events.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("runtime.handleEvent"))
}

func everyForm(t *testing.T, test func(t *testing.T, ctx context.Context, workers int)) {
	t.Helper()
	for _, workers := range []int{1, 2, 3, 64} {
		t.Run(fmt.Sprintf("team=none/workers=%d", workers), func(t *testing.T) {
			defer alarm()()
			test(t, t.Context(), workers)
		})
		t.Run(fmt.Sprintf("team=%d/workers=%d", workers, workers), func(t *testing.T) {
			inTeam(t, workers, func(ctx context.Context, _ *team) { test(t, ctx, workers) })
		})
	}
}

func inTeam(t *testing.T, workers int, fn func(ctx context.Context, team *team)) {
	t.Helper()
	defer alarm()()
	err := WithTeam(t.Context(), workers, func(ctx context.Context) error {
		fn(ctx, teamOf(ctx))
		return nil
	})
	noError(t, err)
}

// patience is the time limit of a test.
const patience = 4 * time.Minute

func alarm() (stop func() bool) {
	if bytes.Contains(stack(), []byte("synctest bubble")) {
		return func() bool { return true } // finds deadlocks itself
	}
	return time.AfterFunc(patience, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("a test takes more than %v", patience))
	}).Stop
}

// setHook sets seam.Worker until the test ends. The team must not have started.
func setHook(t *testing.T, f func(at seam.Point, worker int)) {
	t.Helper()
	seam.Worker = f
	t.Cleanup(func() { seam.Worker = nil })
}

func repeats(n int) int {
	if check.Cheap || testing.Short() {
		return n / 20
	}
	return n
}

func goroutine() string { return string(bytes.Fields(stack())[1]) }

// stack begins with "goroutine 7 [".
func stack() []byte {
	buf := make([]byte, 64)
	return buf[:runtime.Stack(buf, false)]
}

func meeting(n int) (wait func()) {
	var all sync.WaitGroup
	all.Add(n)
	return func() {
		all.Done()
		all.Wait()
	}
}

type counts []atomic.Int32

func (c counts) checkOnce(t *testing.T) {
	t.Helper()
	for task := range c {
		if ran := c[task].Load(); ran != 1 {
			t.Errorf("task %d of %d ran %d times", task, len(c), ran)
			return
		}
	}
}

func runOnce(t *testing.T, ctx context.Context, n int, fn func(task int) error, o Options) error {
	t.Helper()
	ran := make(counts, n)
	defer ran.checkOnce(t)
	return Run(ctx, n, func(task int) error {
		ran[task].Add(1)
		return fn(task)
	}, o)
}

func nothing(int) error { return nil }

func runMeeting(t *testing.T, ctx context.Context, n int, o Options) {
	t.Helper()
	m := meeting(n)
	noError(t, Run(ctx, n, func(int) error { m(); return nil }, o))
}
