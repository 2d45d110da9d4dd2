// Command arena runs a game on three local nodes, each with a server of the log and a world,
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
	"strings"
	"sync"
	"time"

	"handloom/cluster/internal/nemesis"
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
	if len(os.Args) > 1 && os.Args[1] == nemesis.ChildCommand {
		os.Exit(nemesis.Child(os.Args[2:], os.Stdin, os.Stdout, newGame))
	}
	o, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return
	case err != nil:
		fmt.Fprintf(os.Stderr, "arena: %v; -h lists the flags\n", err)
		os.Exit(nemesis.ExitUsage)
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
		return nemesis.ExitFailed
	}
	defer l.Close()
	var p players
	log, kill := lines{out: out}, make(chan int, 1)
	n := nemesis.Options{
		Duration: o.limit, Seed: o.seed, Hz: 30, Clients: 20, Only: []string{}, Out: &log,
		Game: newGame, Client: p.play, Apart: true, Kill: kill,
	}
	command := fmt.Sprintf("go run ./cluster/cmd/arena -seed %d", o.seed)
	if o.kill {
		n.Only = []string{"kill-machine"}
		command += " -kill"
	}
	r, err := nemesis.New(n)
	if err != nil {
		fmt.Fprintln(errs, "arena:", err)
		return nemesis.ExitFailed
	}
	server := servePage(l, o.page, &page{r, &p, &log}, kill)
	defer server.Close()
	fmt.Fprintf(out, "%s\npage: http://%s/\n", command, l.Addr())
	_, v := r.Play(ctx)
	fmt.Fprintf(out, "%d orders answered, %d repeated\n", p.answered.Load(), p.again.Load())
	return v.Exit
}

// lines writes and keeps the lines of a run.
type lines struct {
	out   io.Writer
	mutex sync.Mutex
	all   []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for line := range strings.Lines(string(b)) {
		l.all = append(l.all, strings.TrimRight(line, "\n"))
	}
	return l.out.Write(b)
}
