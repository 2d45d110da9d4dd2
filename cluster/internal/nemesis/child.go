//go:build unix

package nemesis

import (
	"context"
	"fmt"
	"io"
	"strings"

	"handloom/proof/process"
)

// ChildCommand is the first word of the command line of a child.
const ChildCommand = "nemesis-child"

// A child is a server or a node.
type child struct{ *process.Child }

// Child is a server or a node until in ends or it is killed, and says on out what it does.
func Child(words []string, in io.Reader, out io.Writer) (exit int) {
	return process.Serve(in, out, func(ctx context.Context, p *process.Child) error {
		c := child{p}
		switch {
		case len(words) == 4 && words[0] == "server":
			return c.server(ctx, words[1], words[2], strings.Split(words[3], ","))
		case len(words) == 7 && words[0] == "node":
			return c.node(ctx, words[1:])
		}
		return fmt.Errorf("no child is called with %q", words)
	})
}
