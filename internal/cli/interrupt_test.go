package cli

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContext_EndsWithTheSignal(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		signal os.Signal
		cause  error
		exit   int
	}{
		{os.Interrupt, ErrInterrupted, 130},
		{syscall.SIGTERM, ErrTerminated, 143},
	} {
		ctx := Context()
		if err := self.Signal(tt.signal); err != nil {
			t.Skip(err) // not every system can send it
		}
		<-ctx.Done()
		child, end := context.WithCancel(ctx)
		end()
		if cause := context.Cause(ctx); cause != tt.cause || !errors.Is(cause, context.Canceled) || Exit(ctx) != tt.exit || Exit(child) != tt.exit {
			t.Errorf("%v: the cause is %v, the exit codes %d and %d; want %v and %d", tt.signal, cause, Exit(ctx), Exit(child), tt.cause, tt.exit)
		}
	}
}

func TestExit_CountsCancelAsInterrupted(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	if code := Exit(ctx); code != ExitInterrupted {
		t.Errorf("the exit code is %d", code)
	}
}
