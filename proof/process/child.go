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

// A Child tells its parent what it does.
type Child struct {
	mutex sync.Mutex
	out   io.Writer
}

// Logf writes one line at once, which a pipe takes whole. Any goroutine may call it.
func (c *Child) Logf(format string, args ...any) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	fmt.Fprintf(c.out, format+"\n", args...)
}

// Serve is what a child does: run, until that returns, with a context that ends when in
// does. It says "fail" and why, if that is an error, and returns the exit code. The signals
// that end a run are the parent's to answer.
func Serve(in io.Reader, out io.Writer, run func(ctx context.Context, c *Child) error) (exit int) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		end()
	}()
	c := &Child{out: out}
	if err := run(ctx, c); err != nil {
		c.Logf("fail %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		return 1
	}
	return 0
}
