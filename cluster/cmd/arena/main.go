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
	"os"
	"slices"
	"sync"
	"time"

	"handloom/internal/interrupt"
	"handloom/internal/report"
)

const usage = `usage: go run ./cluster/cmd/arena [flags]

An arena on three nodes: each is a process with a NATS server of its own and a
world that plays the arena on their common log. One node owns the log and plays;
the others follow it, with 1, 2 and 8 workers, and come to the same state. Kill
the owner, and another one goes on within half a second; the players notice a
pause and lose nothing that was answered. If the server of the node that is killed
led the log, the others have to elect one first, which takes seconds.

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
	if len(os.Args) > 1 && os.Args[1] == nodeCommand {
		os.Exit(runNode(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
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
		if exit, err = runIn(ctx, dir, o, out, errs); err == nil {
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
func runIn(ctx context.Context, dir string, o options, out, errs io.Writer) (exit int, err error) {
	f, err := newFleet(dir, o.hz)
	if err != nil {
		return 0, err
	}
	defer f.close()
	for i := range nodes {
		if err := f.start(i); err != nil {
			return 0, err
		}
	}
	w, p := newWatch(f), newPlayers(f, o.players)
	k := newKiller(f, w)
	watching, endWatch := context.WithCancel(context.WithoutCancel(ctx))
	url, served, err := servePage(watching, o.page, w, p, k.ask)
	if err != nil {
		endWatch()
		return 0, err
	}
	var watched sync.WaitGroup
	watched.Go(func() { w.run(watching) })
	defer func() {
		endWatch()
		watched.Wait()
		<-served
	}()
	fmt.Fprintf(out, "go run ./cluster/cmd/arena -players %d -hz %d -seed %d%s\n", o.players, o.hz, o.seed, killFlag(o.kill))
	fmt.Fprintf(out, "page: %s\n", url)
	if err := w.waitSettled(ctx); err != nil {
		return 0, err
	}
	if err := play(ctx, o, w, p, k, errs); err != nil {
		return 0, err
	}
	return verdict(watching, w, p, k, out)
}

func killFlag(kill bool) string {
	if kill {
		return " -kill"
	}
	return ""
}

// waitSettled returns when every node plays, or why one does not.
func (w *watch) waitSettled(ctx context.Context) error {
	for !w.settled() {
		for i := range nodes {
			if said, failed := w.fleet.failed(i); failed {
				return fmt.Errorf("node %d: %s", i+1, said)
			}
		}
		select {
		case <-time.After(watchEvery):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// play has everybody play until ctx or the time ends, and all nodes play again.
func play(ctx context.Context, o options, w *watch, p *players, k *killer, errs io.Writer) error {
	if o.limit > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, o.limit)
		defer end()
	}
	p.start(ctx, o.seed)
	killed := make(chan error, 1)
	go func() { killed <- k.run(ctx, o.kill, o.seed) }()
	tell := time.NewTicker(2 * time.Second)
	defer tell.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tell.C:
			w.tell(errs, p)
		}
	}
	p.wait()
	err := <-killed
	patience, end := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer end()
	return errors.Join(err, w.waitSettled(patience))
}

// tell prints a line of progress.
func (w *watch) tell(errs io.Writer, p *players) {
	w.lock.Lock()
	defer w.lock.Unlock()
	p.lock.Lock()
	defer p.lock.Unlock()
	var acked uint64
	for _, n := range p.acked {
		acked += n
	}
	fmt.Fprintf(errs, "%4.0f s: node %d owns, term %d, tick %s, orders answered %s, longest pause %s\n",
		time.Since(w.begin).Seconds(), w.owner+1, w.term, report.Count(int(w.tick)), report.Count(int(acked)), report.Duration(p.pause))
}

// verdict says what came of it.
func verdict(ctx context.Context, w *watch, p *players, k *killer, out io.Writer) (exit int, err error) {
	f, err := w.arena(ctx)
	if err != nil {
		return 0, err
	}
	lost, first := p.lost(f.Fighters)
	s := stateOf(ctx, w, p)
	slices.Sort(p.longer)
	table := report.NewTable("kills", "terms", "ticks", "orders answered", "sent again", "pauses", "p50", "max", "digests compared")
	table.Row(report.Count(k.kills), fmt.Sprint(w.term), report.Count(int(s.Tick)), report.Count(int(s.Acked)), report.Count(s.Again),
		report.Count(len(p.longer)), report.Duration(median(p.longer)), report.Duration(s.Pause), report.Count(s.Compared))
	fmt.Fprintln(out)
	for _, e := range s.Events {
		fmt.Fprintf(out, "%8.2f s  %s\n", e.At.Seconds(), e.What)
	}
	fmt.Fprintln(out)
	table.WriteTo(out)
	fmt.Fprintln(out)
	switch {
	case lost > 0:
		fmt.Fprintf(out, "lost: %d orders that were answered: %s\n", lost, first)
		return exitLost, nil
	case s.Differs != "":
		fmt.Fprintf(out, "differs: %s\n", s.Differs)
		return exitLost, nil
	}
	fmt.Fprintln(out, "passed: answered and lost 0, states that differ 0")
	return 0, nil
}

func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	return d[len(d)/2]
}
