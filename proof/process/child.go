package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// Child is the side of the child: its output has whole lines.
type Child struct {
	mutex sync.Mutex
	out   io.Writer
}

// Logf writes one line. Any goroutine may call it.
func (c *Child) Logf(format string, args ...any) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	fmt.Fprintf(c.out, format+"\n", args...)
}

// Serve calls run with a context that ends when in ends, and returns the exit
// code. If run fails, Serve writes "fail" and the error. It ignores interrupts;
// the parent handles them.
func Serve(in io.Reader, out io.Writer, run func(ctx context.Context, c *Child) error) (exit int) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		// The parent closes the input or dies; both end the context.
		_, _ = io.Copy(io.Discard, in)
		end()
	}()
	c := &Child{out: out}
	if err := run(ctx, c); err != nil {
		// A report is one line.
		c.Logf("fail %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		return 1
	}
	return 0
}
