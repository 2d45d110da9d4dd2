package nemesis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"handloom/cluster"
	"handloom/cluster/internal/audit"
	"handloom/cluster/internal/localnet"
	"handloom/internal/cli"
	"handloom/world"
)

// Options of a run.
type Options struct {
	Duration time.Duration // after the start; a running event is completed
	Seed     uint64        // seed of the events
	Only     []string      // names of kinds; nil: all
	Out      io.Writer
}

const (
	hz            = 20
	clients       = 8
	replayWorkers = 5
)

var nodeWorkers = [localnet.Size]int{1, 2, 8}

// A Result is the outcome of a run.
type Result struct {
	audit.Findings
	Zombies int // owners that lost the log and survived
	Fenced  int
	Took    time.Duration
	Events  []Event
}

// A run is one run.
type run struct {
	Options
	*localnet.Fleet
	auditor audit.Auditor
	gaps    gaps
	result  Result
	begun   time.Time
	random  *rand.Rand
	deck    []Kind

	mutex  sync.Mutex
	states [localnet.Size]state
}

// state is the last report of a node.
type state struct {
	owner             bool
	term              uint32
	tick, lostAppends uint64
	saveErr           string // of its last save
}

// Run starts all processes, which execute this program, runs events until the time is over, checks
// all reports, and prints the result.
func Run(ctx context.Context, o Options) (*Result, cli.Verdict) {
	r := &run{Options: o, begun: time.Now(), random: rand.New(rand.NewPCG(o.Seed, 0))}
	var err error
	r.Fleet, err = localnet.NewFleet(localnet.Options{Node: r.words, Receive: r.receive, Out: o.Out})
	r.auditor.OnFault = r.Fault
	v := r.Play(ctx, func() (string, error) {
		if err == nil {
			err = r.run(ctx)
		}
		r.result.Findings, r.result.Took = r.auditor.Findings(), time.Since(r.begun)
		return r.result.String(), err
	})
	r.result.Print(o.Out)
	fmt.Fprintln(o.Out, v)
	return &r.result, v
}

// words returns the arguments of [Node].
func (r *run) words(i int, dir string, urls []string) []string {
	return []string{filepath.Join(dir, fmt.Sprint("n", i)), fmt.Sprint(nodeWorkers[i]), strings.Join(urls, ","), r.snapshots(dir)}
}

// snapshots returns the folder of snapshots, or "" for the object store.
func (r *run) snapshots(dir string) string {
	if r.Seed%2 == 1 {
		return ""
	}
	return filepath.Join(dir, "snapshots")
}

func (r *run) run(ctx context.Context) error {
	if err := r.Heal(); err != nil {
		return err
	}
	var log *cluster.Log
	err := retry(ctx, func(ctx context.Context) (err error) {
		log, err = cluster.Open(ctx, cluster.URLs(r.URLs), cell, logOptions(nil, r.snapshots(r.Dir)))
		return err
	})
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	defer log.Close()
	live, stop := context.WithCancel(context.WithoutCancel(ctx))
	follow, leave := context.WithCancel(context.WithoutCancel(ctx))
	var calling, follower sync.WaitGroup
	defer follower.Wait()
	defer leave()
	defer calling.Wait()
	defer stop()
	follower.Go(func() { r.auditor.Follow(follow, log) })
	if err := r.waitHealthy(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	c, err := cluster.Dial(ctx, cluster.URLs(r.URLs))
	if err != nil {
		return err
	}
	defer c.Close()
	for i := range clients {
		calling.Go(func() { r.call(live, c, i) })
	}
	r.Logf("%d servers and %d nodes are up; %d clients call", localnet.Size, localnet.Size, clients)
	err = r.events(ctx)
	if err == nil && ctx.Err() == nil {
		err = r.saves(ctx)
	}
	stop()
	calling.Wait()
	if err != nil {
		return err
	}
	// The auditor catches up after each node, because an ending node may trim the log.
	err = r.End(func() error {
		if r.Bad() {
			return nil
		}
		return retry(context.Background(), func(ctx context.Context) error { return r.auditor.CaughtUp(ctx, log) })
	})
	leave()
	follower.Wait()
	return r.finish(log, err)
}

// events runs one event after another until the time is over.
func (r *run) events(ctx context.Context) error {
	timed, cancel := context.WithTimeout(ctx, r.Duration)
	defer cancel()
	for {
		select {
		case <-timed.Done():
		case <-time.After(r.calm()):
		}
		if timed.Err() != nil || r.Bad() {
			break
		}
		kind := r.draw()
		e := &event{kind: kind, run: r, Event: Event{At: time.Since(r.begun), Name: kind.Name}}
		err := e.happen(ctx)
		if ctx.Err() != nil || err == nil && r.Bad() {
			break
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", e.Name, e.Victims, err)
		}
		r.note(e)
	}
	if r.Bad() {
		return nil
	}
	if err := r.Heal(); err != nil {
		return err
	}
	return r.waitHealthy(context.WithoutCancel(ctx))
}

// note reports the result of an event.
func (r *run) note(e *event) {
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
	r.Logf("%-18s %-12s term %d to %d, %v without a tick, healthy after %.1fs%s",
		e.Name, fmt.Sprint(e.Victims), e.Before, e.After, e.Outage.Round(ms), e.Recovery.Seconds(), more)
}

// calm returns the time until failovers are fast again.
func (r *run) calm() time.Duration {
	wait := 10*300*ms + 100*ms - time.Since(r.gaps.look().termAt)
	return max(wait, 0) + time.Duration(r.random.IntN(300))*ms
}

// draw draws a kind from a deck, which contains each kind Weight times.
func (r *run) draw() Kind {
	if len(r.deck) == 0 {
		for _, k := range kinds {
			if r.Only == nil || slices.Contains(r.Only, k.Name) {
				r.deck = append(r.deck, slices.Repeat([]Kind{k}, k.Weight)...)
			}
		}
		r.random.Shuffle(len(r.deck), func(i, j int) { r.deck[i], r.deck[j] = r.deck[j], r.deck[i] })
	}
	k := r.deck[len(r.deck)-1]
	r.deck = r.deck[:len(r.deck)-1]
	return k
}

// checkTime is the time limit of a check of the whole log.
const checkTime = 2 * time.Minute

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
		time.Sleep(retryEvery)
	}
}

const retryEvery = 20 * ms

// finish checks everything after the nodes ended with err.
func (r *run) finish(log world.Log, err error) error {
	all := func(ctx context.Context) error { return r.auditor.Finish(ctx, log, program, replayWorkers) }
	switch {
	case r.Bad():
		ctx, cancel := context.WithTimeout(context.Background(), bucketTime)
		defer cancel()
		_ = all(ctx)
		return nil
	case err != nil:
		return err
	}
	if err := retry(context.Background(), r.checkBucket); err != nil {
		return fmt.Errorf("bucket: %w", err)
	}
	return retry(context.Background(), all)
}

// waitHealthy waits until every process is up, all replicas are current, and nodes apply new
// ticks.
func (r *run) waitHealthy(ctx context.Context) error {
	from := r.gaps.look().last + 1
	err := r.Until(ctx, func() bool {
		behind := func(n *localnet.Member) bool { return r.look(n).tick < from }
		return r.Up() && !slices.ContainsFunc(r.Nodes, behind) && r.owner() != nil
	})
	if err == nil {
		err = r.Until(ctx, func() bool { _, current := r.Leader(ctx, cell.Stream()); return current })
	}
	return err
}

// look returns the last report of a node.
func (r *run) look(n *localnet.Member) state {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.states[n.Index]
}

// owner returns the owner according to the running nodes, or nil.
func (r *run) owner() (owner *localnet.Member) {
	var term uint32
	for _, n := range r.Nodes {
		if s := r.look(n); n.Up() && s.owner && s.term >= term {
			owner, term = n, s.term
		}
	}
	return owner
}

// receive takes a line of a node.
func (r *run) receive(n *localnet.Member, line string) {
	what, rest, _ := strings.Cut(line, " ")
	var err error
	r.mutex.Lock()
	s := &r.states[n.Index]
	switch what {
	case "tick":
		var tick, digest uint64
		if _, err = fmt.Sscan(rest, &tick, &digest); err == nil {
			r.auditor.Applied(n.Name, tick, digest)
			r.gaps.applied(tick)
		}
	case "status":
		var now state
		if _, err = fmt.Sscan(rest, &now.owner, &now.term, &now.tick, &now.lostAppends); err == nil {
			r.gaps.sawTerm(now.term)
			now.saveErr = strings.Join(strings.Fields(rest)[4:], " ")
			*s = now
		}
	case "closed":
		*s = state{}
	case "wait":
		n.Note(line)
	default: // fail, or an incomplete line
		n.Note(line)
		err = errors.New("unknown line")
	}
	r.mutex.Unlock()
	if err != nil {
		r.Fault("%s says %q: %v", n.Name, line, err)
	}
}
