// Command arena runs a game in several cells on three local nodes and three servers of the log,
// while they are killed. It needs no setup.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"handloom/cluster/internal/localnet"
	"handloom/internal/cli"
)

//go:embed usage.txt
var usage string

type options struct {
	kill  bool
	limit time.Duration
	seed  uint64
	page  string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == localnet.ChildCommand {
		os.Exit(localnet.Child(os.Args[2:], os.Stdin, os.Stdout, runNode))
	}
	o, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return
	case err != nil:
		fmt.Fprintf(os.Stderr, "arena: %v; -h lists the flags\n", err)
		os.Exit(localnet.ExitUsage)
	}
	os.Exit(run(cli.Context(), o, os.Stdout, os.Stderr))
}

func parse(args []string) (o options, err error) {
	f := cli.NewFlags()
	f.BoolVar(&o.kill, "kill", false, "")
	f.DurationVar(&o.limit, "for", 0, "")
	f.Uint64Var(&o.seed, "seed", rand.Uint64N(1e6), "")
	f.StringVar(&o.page, "page", "127.0.0.1:0", "")
	words, err := cli.ParseFlags(f, args)
	if err == nil && (len(words) > 0 || o.limit < 0) {
		err = fmt.Errorf("arguments, -for: got %q, %v, want none, and at least 0", words, o.limit)
	}
	return o, err
}

func run(ctx context.Context, o options, out, errs io.Writer) int {
	l, err := net.Listen("tcp", o.page)
	if err != nil {
		fmt.Fprintln(errs, "arena:", err)
		return localnet.ExitFailed
	}
	defer l.Close()
	a, err := newRun(o, out)
	if err != nil {
		a.Close()
		fmt.Fprintln(errs, "arena:", err)
		return localnet.ExitFailed
	}
	server := a.serve(l)
	defer server.Close()
	command := fmt.Sprintf("go run ./cluster/cmd/arena -seed %d", o.seed)
	if o.kill {
		command += " -kill"
	}
	fmt.Fprintf(out, "%s\npage: http://%s/\n", command, l.Addr())
	v := a.run(ctx)
	fmt.Fprintln(out, v)
	return v.Exit
}
