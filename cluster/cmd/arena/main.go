// Command arena shows a game that goes on while the machines that play it die: three
// nodes on this one, each with a server of the log and a world of the arena. There is
// nothing to set up.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"handloom/cluster/internal/nemesis"
	"handloom/internal/interrupt"
)

const usage = `usage: go run ./cluster/cmd/arena [flags]

An arena on three nodes: each node is a process with a world that plays the arena
on their common log, and has a NATS server of its own, a process as well. One node
owns the log and plays; the others follow it, with 1, 2 and 8 workers, and come to
the same state. Kill the owner with its server, and another node goes on within
half a second; the players notice a pause and lose nothing that was answered. If
the server of the node that is killed led the log, the others have to elect one
first, which takes seconds.

  -kill            kill a node every 5 seconds, the owner most of the time
  -for DURATION    end after this time; else with Ctrl-C
  -players N       how many play (20)
  -hz N            ticks per second (30)
  -seed N          of what the players do and who is killed
  -page ADDRESS    of the page to look at (127.0.0.1:0, a free port)

  go run ./cluster/cmd/arena                    look at the page, kill by button
  go run ./cluster/cmd/arena -kill -for 1m      a minute of kills, and a verdict

Exit codes: 0 no answered order was lost and no state differed, 1 one was or did,
2 wrong usage, 3 it could not run, 130 and 143 by a signal before all nodes played.
`

const (
	exitLost   = 1
	exitMisuse = 2
	exitFailed = 3
)

type options struct {
	kill    bool
	limit   time.Duration
	players int
	hz      int
	seed    uint64
	page    string
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
		fmt.Fprintf(os.Stderr, "arena: %v; -h tells what there is\n", err)
		os.Exit(exitMisuse)
	}
	os.Exit(run(interrupt.Context(), o, os.Stdout, os.Stderr))
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("arena", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.BoolVar(&o.kill, "kill", false, "")
	f.DurationVar(&o.limit, "for", 0, "")
	f.IntVar(&o.players, "players", 20, "")
	f.IntVar(&o.hz, "hz", 30, "")
	f.Uint64Var(&o.seed, "seed", rand.Uint64N(1e6), "")
	f.StringVar(&o.page, "page", "127.0.0.1:0", "")
	switch err := f.Parse(args); {
	case err != nil:
		return o, err
	case f.NArg() > 0:
		return o, fmt.Errorf("%q is too much", f.Args())
	case o.limit < 0:
		return o, fmt.Errorf("-for is %v; want a time ahead", o.limit)
	case o.players < 1 || o.players > 1000:
		return o, fmt.Errorf("-players is %d; want 1 to 1000", o.players)
	case o.hz < 1 || o.hz > 200:
		return o, fmt.Errorf("-hz is %d; want 1 to 200", o.hz)
	}
	return o, nil
}

// run runs all of it, and returns the exit code.
func run(ctx context.Context, o options, out, errs io.Writer) int {
	dir, err := os.MkdirTemp("", "arena")
	if err == nil {
		defer os.RemoveAll(dir)
		var exit int
		if exit, err = runIn(ctx, dir, o, out); err == nil {
			return exit
		}
	}
	fmt.Fprintln(errs, "arena:", err)
	if ctx.Err() != nil {
		return interrupt.Exit(ctx)
	}
	return exitFailed
}

// runIn runs all of it in a folder.
func runIn(ctx context.Context, dir string, o options, out io.Writer) (exit int, err error) {
	path, err := os.Executable()
	if err != nil {
		return 0, err
	}
	l, err := net.Listen("tcp", o.page)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	var p players
	k := &killer{random: rand.New(rand.NewPCG(o.seed, 1<<63)), asked: make(chan int, 1)}
	if o.kill {
		ticker := time.NewTicker(killEvery)
		defer ticker.Stop()
		k.every = ticker.C
	}
	told := lines{out: out}
	k.run, err = nemesis.New(nemesis.Options{
		Dir: dir, Duration: o.limit, Seed: o.seed, Hz: o.hz, Clients: o.players, Command: []string{path}, Tell: told.add,
		Game: newGame, Client: p.play, Apart: true, Next: k.next,
	})
	if err != nil {
		return 0, err
	}
	server := servePage(l, &page{k.run, &p, &told}, k.ask)
	defer server.Close()
	command := fmt.Sprintf("go run ./cluster/cmd/arena -players %d -hz %d -seed %d", o.players, o.hz, o.seed)
	if o.kill {
		command += " -kill"
	}
	told.add(command)
	told.add(fmt.Sprintf("page: http://%s/", l.Addr()))
	r, err := k.run.Do(ctx)
	r.WriteTo(out)
	fmt.Fprintf(out, "%d orders answered, %d times sent again\n", p.answered.Load(), p.again.Load())
	if r.Bad() {
		for _, fault := range r.Faults {
			fmt.Fprintln(out, "fault:", fault)
		}
		fmt.Fprintf(out, "lost: %d orders or ticks; %d differ\n", r.Lost+r.Changed+r.Doubled+r.Broken, r.Diverged)
		return exitLost, nil
	}
	if err == nil {
		fmt.Fprintln(out, "passed: answered and lost 0, states that differ 0")
	}
	return 0, err
}

// lines are the lines of a run so far, which it prints.
type lines struct {
	out   io.Writer
	mutex sync.Mutex
	all   []string
}

func (l *lines) add(line string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	fmt.Fprintln(l.out, line)
	l.all = append(l.all, line)
}
