package nemesis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"handloom/cluster/internal/audit"
	"handloom/internal/cli"
	"handloom/world"
)

// Options of a run.
type Options struct {
	Duration time.Duration // after the start; a running event is completed; 0: no end
	Seed     uint64        // seed of the events
	Hz       int
	Clients  int
	Only     []string // names of kinds; nil: all; empty: none
	Mutant   string   // fault from Mutants in every node; empty: none
	Out      io.Writer

	Game   NewGame
	Client func(ctx context.Context, c *Client) // makes calls until ctx ends
	Apart  bool                                 // the owner moves the stream leader off the server with its number
	Kill   <-chan int                           // numbers of machines to kill; may be nil
}

// A Result is the outcome of a run.
type Result struct {
	audit.Findings
	Zombies int // owners that lost the log and survived
	Fenced  int
	Checks  int
	Took    time.Duration
	Events  []Event
}

const checkEvery = 30 * time.Second

// A Run is one run. Its methods except Play may be called by any goroutine.
type Run struct {
	*fleet
	result  Result
	begun   time.Time
	random  *rand.Rand
	deck    []Kind
	checked time.Time
}

// New prepares a run whose processes execute this program. Only Play ends it.
func New(o Options) (*Run, error) {
	f, err := newFleet(o)
	if err != nil {
		f.close()
		return nil, errors.Join(err, os.RemoveAll(f.folder))
	}
	return &Run{fleet: f, begun: time.Now(), random: rand.New(rand.NewPCG(o.Seed, 0))}, nil
}

// Play starts all processes, runs events until the time is over, checks all reports, and prints
// the result. It keeps the files of a failed run.
func (r *Run) Play(ctx context.Context) (*Result, cli.Verdict) {
	// Children die with the thread that started them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := r.run(ctx)
	result := &r.result
	result.Findings, result.Took = r.auditor.Findings(), time.Since(r.begun)
	v := judge(ctx, result, err, r.Mutant)
	result.Print(r.Out)
	for _, f := range result.Faults {
		fmt.Fprintln(r.Out, "fault:", f)
	}
	if v.Exit == ExitLost || v.Exit == ExitStuck || v.Exit == ExitFailed {
		fmt.Fprintf(r.Out, "logs, journals and stores are in %s\n", r.folder)
	} else if err := os.RemoveAll(r.folder); err != nil {
		v = cli.NewVerdict("failed", ExitFailed, err.Error())
	}
	fmt.Fprintln(r.Out, v)
	return result, v
}

// A Node is the state of a node.
type Node struct {
	Name           string
	Up, Owner      bool
	Workers, Kills int
	Term           uint32
	Tick           uint64
}

// A State is the state of a run.
type State struct {
	Nodes    []Node
	Tick     uint64        // newest
	Still    time.Duration // age of Tick
	Findings audit.Findings
}

// State returns the state of the run.
func (r *Run) State() State {
	seen := r.gaps.look()
	s := State{Tick: seen.last, Still: time.Since(seen.at), Findings: r.auditor.Findings()}
	owner := r.owner()
	for i, n := range r.nodes {
		n.mutex.Lock()
		s.Nodes = append(s.Nodes, Node{n.name, n.up, n == owner, nodeWorkers[i], n.kills, n.term, n.tick})
		n.mutex.Unlock()
	}
	return s
}

// View decodes the view of the game of some node.
func (r *Run) View(into any) error { return r.view(into) }

func (r *Run) run(ctx context.Context) error {
	defer r.close()
	if err := errors.Join(r.heal(), r.connect()); err != nil {
		return err
	}
	log, err := r.openLog(ctx)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	defer log.Close()
	live, stop := context.WithCancel(context.WithoutCancel(ctx))
	follow, leave := context.WithCancel(context.WithoutCancel(ctx))
	var clients, follower sync.WaitGroup
	defer follower.Wait()
	defer leave()
	defer clients.Wait()
	defer stop()
	follower.Go(func() { r.auditor.Follow(follow, log) })
	if err := r.waitHealthy(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	for i := range r.Clients {
		clients.Go(func() { r.Client(live, r.client(i)) })
	}
	r.logf("%d servers and %d nodes are up; %d clients call", Members, Members, r.Clients)
	err = r.events(ctx, log)
	if err == nil && ctx.Err() == nil {
		err = r.saves(ctx, log)
	}
	stop()
	clients.Wait()
	if err != nil {
		return err
	}
	err = r.stopNodes(log)
	leave()
	follower.Wait()
	return r.finish(log, err)
}

// stopNodes ends the nodes in order. The auditor catches up before each next one, because an
// ending node may trim the log. After a failure it no longer waits.
func (r *Run) stopNodes(log world.Log) error {
	var errs []error
	for _, n := range r.nodes {
		if n.process == nil {
			continue
		}
		if err := n.process.End(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", n.name, err))
		}
		n.down()
		if r.bad() || errors.Join(errs...) != nil {
			continue
		}
		errs = append(errs, retry(context.Background(), func(ctx context.Context) error {
			return r.auditor.CaughtUp(ctx, log)
		}))
	}
	return errors.Join(errs...)
}

// events runs one event after another until the time is over.
func (r *Run) events(ctx context.Context, log world.Log) error {
	timed, cancel := context.WithCancel(ctx)
	if r.Duration > 0 {
		timed, cancel = context.WithTimeout(ctx, r.Duration)
	}
	defer cancel()
	r.checked = time.Now()
	for {
		kind := r.next(timed)
		if timed.Err() != nil || r.bad() {
			break
		}
		if kind.do == nil {
			if err := r.heal(); err != nil {
				return err
			}
			continue
		}
		e := &event{kind: kind, fleet: r.fleet, random: r.random, Event: Event{At: time.Since(r.begun), Name: kind.Name}}
		err := e.happen(ctx)
		if ctx.Err() != nil || err == nil && r.bad() {
			break
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", e.Name, e.Victims, err)
		}
		r.note(e)
		if err := r.check(ctx, log); err != nil && ctx.Err() == nil {
			return err
		}
	}
	if r.bad() {
		return nil
	}
	if err := r.heal(); err != nil {
		return err
	}
	return r.waitHealthy(context.WithoutCancel(ctx))
}

// note reports the result of an event.
func (r *Run) note(e *event) {
	r.result.Events = append(r.result.Events, e.Event)
	more := ""
	if e.kind.zombie && e.After > e.Before {
		r.result.Zombies++
		more = ", not fenced"
		if e.Fenced {
			r.result.Fenced++
			more = ", fenced"
		}
	}
	if e.LeaderLost {
		more += ", new stream leader"
	}
	r.logf("%-18s %-12s term %d to %d, %v without a tick, healthy after %.1fs%s",
		e.Name, fmt.Sprint(e.Victims), e.Before, e.After, e.Outage.Round(ms), e.Recovery.Seconds(), more)
}

func (r *Run) logf(format string, args ...any) {
	fmt.Fprintf(r.Out, "%7.1fs  %s\n", time.Since(r.begun).Seconds(), fmt.Sprintf(format, args...))
}

// next waits for the next event. After a pause it returns the zero Kind, which only restarts
// processes.
func (r *Run) next(ctx context.Context) Kind {
	select {
	case <-ctx.Done():
		return Kind{}
	case i := <-r.Kill:
		return machineKill(i)
	case <-time.After(r.calm()):
		return r.draw()
	}
}

// calm returns the time until failovers are fast again.
func (r *Run) calm() time.Duration {
	wait := 10*max(300*ms, 3*time.Second/time.Duration(r.Hz)) + 100*ms - time.Since(r.gaps.look().termAt)
	return max(wait, 0) + time.Duration(r.random.IntN(300))*ms
}

// draw draws a kind from a deck, which contains each kind Weight times.
func (r *Run) draw() Kind {
	if len(r.deck) == 0 {
		for _, k := range kinds {
			if r.Only == nil || slices.Contains(r.Only, k.Name) {
				r.deck = append(r.deck, slices.Repeat([]Kind{k}, k.Weight)...)
			}
		}
		r.random.Shuffle(len(r.deck), func(i, j int) { r.deck[i], r.deck[j] = r.deck[j], r.deck[i] })
	}
	if len(r.deck) == 0 {
		return Kind{}
	}
	k := r.deck[len(r.deck)-1]
	r.deck = r.deck[:len(r.deck)-1]
	return k
}

// checkTime is the time limit of a check of the whole log.
const checkTime = 2 * time.Minute

// check checks the log from a snapshot every checkEvery.
func (r *Run) check(ctx context.Context, log world.Log) error {
	if time.Since(r.checked) < checkEvery {
		return nil
	}
	r.checked = time.Now()
	err := retry(ctx, func(ctx context.Context) error {
		return r.auditor.Check(ctx, log, r.Game.program(r.Hz), replayWorkers)
	})
	if err != nil {
		return fmt.Errorf("check of the log: %w", err)
	}
	r.result.Checks++
	r.logf("the log, replayed from a snapshot with %d workers, agrees with the reports", replayWorkers)
	return nil
}

// retry retries try during elections. A lost leader of snapshots is not an outage.
func retry(ctx context.Context, try func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var before error // error of a try that was not interrupted
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return cmp.Or(before, err)
		}
		before = err
		time.Sleep(askEvery)
	}
}

// finish checks everything after the nodes ended with err.
func (r *Run) finish(log world.Log, err error) error {
	all := func(ctx context.Context) error {
		return r.auditor.Finish(ctx, log, r.Game.program(r.Hz), replayWorkers)
	}
	if r.bad() {
		ctx, cancel := context.WithTimeout(context.Background(), startTime)
		defer cancel()
		_ = all(ctx)
		return nil
	}
	if err != nil {
		return err
	}
	if err := retry(context.Background(), r.spoil); err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	if err := retry(context.Background(), r.checkBucket); err != nil {
		return fmt.Errorf("bucket: %w", err)
	}
	return retry(context.Background(), all)
}
