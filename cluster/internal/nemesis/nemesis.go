package nemesis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
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
	Terms  uint32
	Fenced int // owners that lost the log and survived
	Took   time.Duration
	Events []*event
}

// A run is one run.
type run struct {
	Options
	*Fleet
	auditor *audit.Auditor
	gaps    gaps
	result  Result
	begun   time.Time
	random  *rand.Rand
	deck    []Kind
}

// Run starts all processes, which execute this program, runs events until the time is over, checks
// all reports, and prints the result.
func Run(ctx context.Context, o Options, out io.Writer) (*Result, cli.Verdict) {
	r := newRun(o)
	v := Play(ctx, out, r.words, func(f *Fleet) (string, error) {
		r.attach(f)
		err := r.run(ctx)
		r.result.Findings, r.result.Took = r.auditor.Findings(), time.Since(r.begun)
		r.result.Terms, _ = r.term()
		r.result.Print(out)
		return r.result.String(), err
	})
	return &r.result, v
}

func newRun(o Options) *run {
	return &run{Options: o, begun: time.Now(), random: rand.New(rand.NewPCG(o.Seed, 0))}
}

// attach sends reports of the fleet to the auditor, and faults back.
func (r *run) attach(f *Fleet) {
	r.Fleet, r.auditor = f, audit.New(f.Fault)
	f.applied = func(node string, tick, digest uint64) {
		r.auditor.Applied(node, tick, digest)
		r.gaps.applied(tick)
	}
}

// words returns the arguments of [Node].
func (r *run) words(i int, dir, urls string) []string {
	return []string{filepath.Join(dir, fmt.Sprint("n", i)), fmt.Sprint(nodeWorkers[i]), urls, r.snapshots(dir)}
}

// snapshots returns the folder of snapshots, or "" for the object store.
func (r *run) snapshots(dir string) string {
	if r.Seed%2 == 1 {
		return ""
	}
	return filepath.Join(dir, "snapshots")
}

func (r *run) run(ctx context.Context) error {
	if err := r.Start(); err != nil {
		return err
	}
	var log *cluster.Log
	err := r.retry(ctx, func(ctx context.Context) (err error) {
		log, err = cluster.Open(ctx, cluster.URLs(r.URLs), cell, logOptions(nil, r.snapshots(r.Dir)))
		return err
	})
	if err != nil || r.Bad() {
		return err
	}
	defer log.Close()
	follow, leave := context.WithCancel(context.WithoutCancel(ctx))
	var follower sync.WaitGroup
	defer follower.Wait()
	defer leave()
	follower.Go(func() { r.auditor.Follow(follow, log) })
	if err := r.waitHealthy(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	r.Logf("%d servers and %d nodes are up; %d clients call", localnet.Size, localnet.Size, clients)
	if err := r.Call(ctx, clients, r.call, func(*cluster.Client) error { return r.events(ctx) }); err != nil {
		return err
	}
	// The auditor catches up after each node, because an ending node may trim the log.
	err = r.End(func() error {
		if r.Bad() {
			return nil
		}
		return r.retry(context.Background(), func(ctx context.Context) error { return r.auditor.CaughtUp(ctx, log) })
	})
	leave()
	follower.Wait()
	return r.finish(log, err)
}

// events runs one event after another until the time is over, and at least one.
func (r *run) events(ctx context.Context) error {
	timed, cancel := context.WithTimeout(ctx, r.Duration)
	defer cancel()
	for (pause(timed, r.calm()) || len(r.result.Events) == 0) && !r.Bad() {
		e := &event{run: r, kind: r.draw()}
		err := e.happen(ctx)
		if ctx.Err() != nil || r.Bad() {
			break
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", e.kind.Name, e.victims, err)
		}
		r.note(e)
	}
	if r.Bad() {
		return nil
	}
	if err := r.Heal(); err != nil {
		return err
	}
	err := r.waitHealthy(context.WithoutCancel(ctx))
	if err == nil && ctx.Err() == nil {
		err = r.saves(ctx)
	}
	return err
}

// pause waits, and reports whether ctx has not ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err() == nil
}

// note reports the result of an event.
func (r *run) note(e *event) {
	r.result.Events = append(r.result.Events, e)
	more := ""
	if e.fenced {
		r.result.Fenced++
		more = ", fenced"
	}
	if e.leaderLost {
		more += ", new stream leader"
	}
	r.Logf("%-18s %-12s term %d to %d, %v without a tick, healthy after %.1fs%s",
		e.kind.Name, fmt.Sprint(e.victims), e.before, e.after, e.outage.Round(ms), e.recovery.Seconds(), more)
}

// calm returns the time until failovers are fast again.
func (r *run) calm() time.Duration {
	_, since := r.term()
	return max(10*300*ms+100*ms-time.Since(since), 0) + time.Duration(r.random.IntN(300))*ms
}

// term returns the newest term and the time of its first report.
func (f *Fleet) term() (term uint32, since time.Time) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.newest, f.since
}

// draw draws a kind from a deck, which contains each kind Weight times.
func (r *run) draw() Kind {
	if len(r.deck) == 0 {
		for _, k := range Kinds() {
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
func (r *run) retry(ctx context.Context, try func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var failed error // error of a try that was not interrupted
	err := r.Until(ctx, func() bool {
		err := try(ctx)
		if ctx.Err() == nil {
			failed = err
		}
		return err == nil
	})
	return errors.Join(failed, err)
}

// finish checks everything after the nodes ended with err.
func (r *run) finish(log world.Log, err error) error {
	all := func(ctx context.Context) error { return r.auditor.Finish(ctx, log, program, replayWorkers) }
	if r.Bad() {
		ctx, cancel := context.WithTimeout(context.Background(), bucketTime)
		defer cancel()
		_ = all(ctx) // counts more faults
		return nil
	}
	if err == nil && r.snapshots(r.Dir) == "" {
		err = r.retry(context.Background(), func(ctx context.Context) error { return r.checkBucket(ctx, log) })
	}
	if err == nil {
		err = r.retry(context.Background(), all)
	}
	return err
}

// waitHealthy waits until every process is up, all replicas are current, and nodes apply new
// ticks.
func (r *run) waitHealthy(ctx context.Context) error {
	from := r.gaps.look().last + 1
	err := r.Until(ctx, func() bool {
		behind := func(n *localnet.Member) bool { return r.Status(n, cell).Tick < from }
		return r.Up() && !slices.ContainsFunc(r.Nodes, behind) && r.owner() != nil
	})
	if err == nil {
		err = r.Until(ctx, func() bool { _, current := r.Leader(ctx, cell.Stream()); return current })
	}
	return err
}

// owner returns the node that leads the cell, or nil.
func (r *run) owner() *localnet.Member {
	owner, _ := r.Cell(cell)
	return owner
}
