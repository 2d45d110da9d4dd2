//go:build unix

package nemesis

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

// ChildCommand is the first word of the command line of a child.
const ChildCommand = "nemesis-child"

// Child is a server or a node until in ends or it is killed, and says on out what it does.
func Child(words []string, in io.Reader, out io.Writer) (exit int) {
	// What ends a run is the parent's to answer.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		end()
	}()
	c := &child{out: out}
	err := fmt.Errorf("no child is called with %q", words)
	switch {
	case len(words) == 4 && words[0] == "server":
		err = c.server(ctx, words[1], words[2], strings.Split(words[3], ","))
	case len(words) == 7 && words[0] == "node":
		err = c.node(ctx, words[1:])
	}
	if err != nil {
		c.say("fail %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		return 1
	}
	return 0
}

// A child tells its parent what it does, a line at a time.
type child struct {
	lock sync.Mutex
	out  io.Writer
}

// say writes one line at once, which a pipe takes whole.
func (c *child) say(format string, args ...any) {
	c.lock.Lock()
	defer c.lock.Unlock()
	fmt.Fprintf(c.out, format+"\n", args...)
}
