//go:build unix

package nemesis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"handloom/cluster/internal/audit"
	"handloom/world"
)

// Options of a run.
type Options struct {
	Dir      string        // of logs, journals and stores; it must be there, and empty
	Duration time.Duration // from when all is up; the event that is under way then is the last
	Seed     uint64        // of what is done, to whom, and for how long
	Hz       int           // 0: 20
	Clients  int           // 0: 8
	Only     []string      // kinds of events; nil: all
	Canary   string        // a fault of Canaries in every node; empty: none
	Command  []string      // that runs Child, without its words
	Tell     func(line string)
}

// A Result is what came of a run.
type Result struct {
	audit.Findings
	Zombies int // that lost the log to another node, and lived on
	Fenced  int // of them: that found out
	Checks  int // of the log, while the run went on
	Took    time.Duration

	events []*event
}

const (
	defaultHz      = 20
	defaultClients = 8
	checkEvery     = 30 * time.Second
)

// Run starts servers, nodes and clients, does one event after another until the time is
// over, and checks all that was told. The error says why a run came to no end; what was
// found until then is in the Result. A fault ends it early.
func Run(ctx context.Context, o Options) (*Result, error) {
	// Children are started by this thread, and die with it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	o.Hz, o.Clients = cmp.Or(o.Hz, defaultHz), cmp.Or(o.Clients, defaultClients)
	r := &run{Options: o, begun: time.Now(), random: rand.New(rand.NewPCG(o.Seed, 0)), gaps: new(gaps), auditor: new(audit.Auditor)}
	err := r.run(ctx)
	r.result.Findings, r.result.Took = r.auditor.Findings(), time.Since(r.begun)
	return &r.result, err
}

type run struct {
	Options
	result  Result
	begun   time.Time
	random  *rand.Rand
	deck    []Kind
	fleet   *fleet
	gaps    *gaps
	auditor *audit.Auditor
	checked time.Time
}

func (r *run) run(ctx context.Context) (err error) {
	r.fleet, err = newFleet(r.Options, r.auditor, r.gaps)
	defer r.fleet.close()
	if err != nil {
		return err
	}
	if err := r.fleet.heal(); err != nil {
		return err
	}
	if err := r.fleet.connect(); err != nil {
		return err
	}
	log, err := r.fleet.openLog(ctx)
	if err != nil {
		return fmt.Errorf("the log: %w", err)
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
	if err := r.fleet.settled(ctx); err != nil {
		return fmt.Errorf("it does not start: %w", err)
	}
	for i := range r.Clients {
		clients.Go(func() { newClient(r.fleet, i, r.Seed).run(live) })
	}
	r.say("%d servers and %d nodes are up; %d clients call", members, members, r.Clients)
	err = r.events(ctx, log)
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

// stopNodes ends the nodes in order. Each saves a snapshot and may trim the log. Before
// the next one ends the auditor has read all records, so that none is trimmed unread.
func (r *run) stopNodes(log world.Log) error {
	var errs []error
	for _, n := range r.fleet.nodes {
		if n.process == nil {
			continue
		}
		if err := n.process.End(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", n.name, err))
		}
		n.down()
		if r.fleet.bad() {
			continue
		}
		errs = append(errs, patiently(context.Background(), func(ctx context.Context) error {
			return r.auditor.CaughtUp(ctx, log)
		}))
	}
	return errors.Join(errs...)
}

// events does one event after another, until the time is over.
func (r *run) events(ctx context.Context, log world.Log) error {
	end := time.Now().Add(r.Duration)
	r.checked = time.Now()
	for {
		r.calm(ctx)
		if ctx.Err() != nil || time.Now().After(end) || r.fleet.bad() {
			break
		}
		e := &event{Kind: r.draw(), fleet: r.fleet, random: r.random, at: time.Since(r.begun)}
		err := e.happen(ctx)
		if err != nil && ctx.Err() == nil {
			r.say("%-18s %-12s %v", e.Name, fmt.Sprint(e.victims), err)
			return fmt.Errorf("%s %s: %w", e.Name, e.victims, err)
		}
		if err != nil || r.fleet.bad() {
			break
		}
		r.note(e)
		if err := r.check(ctx, log); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return r.fleet.healAll(context.WithoutCancel(ctx))
}

// healAll is for the end, whatever was under way.
func (f *fleet) healAll(ctx context.Context) error {
	if f.bad() {
		return nil
	}
	if err := f.heal(); err != nil {
		return err
	}
	return f.settled(ctx)
}

// note tells what was seen of an event.
func (r *run) note(e *event) {
	r.result.events = append(r.result.events, e)
	more := ""
	if e.zombie && e.after > e.before {
		r.result.Zombies++
		more = ", not fenced"
		if e.fenced {
			r.result.Fenced++
			more = ", fenced"
		}
	}
	if e.leaderLost {
		more += ", the stream has another leader"
	}
	r.say("%-18s %-12s term %d to %d, %v without a tick, all well after %.1fs%s",
		e.Name, fmt.Sprint(e.victims), e.before, e.after, e.outage.Round(ms), e.settled.Seconds(), more)
}

func (r *run) say(format string, args ...any) {
	r.Tell(fmt.Sprintf("%7.1fs  ", time.Since(r.begun).Seconds()) + fmt.Sprintf(format, args...))
}

// calm waits until a takeover would take its shortest time again.
func (r *run) calm(ctx context.Context) {
	_, since := r.gaps.terms()
	wait := 10*max(300*ms, 3*time.Second/time.Duration(r.Hz)) + 100*ms - time.Since(since)
	wait = max(wait, 0) + time.Duration(r.random.IntN(300))*ms
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
}

// draw draws the next kind of event from a deck, which has each as often as its weight.
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

// checkTime is how long a check of the log may take, with all that there ever was.
const checkTime = 2 * time.Minute

// check looks at the log now and then, and plays it from a snapshot.
func (r *run) check(ctx context.Context, log world.Log) error {
	if time.Since(r.checked) < checkEvery {
		return nil
	}
	r.checked = time.Now()
	err := patiently(ctx, func(ctx context.Context) error {
		return r.auditor.Check(ctx, log, program(r.Hz), replayWorkers)
	})
	if err != nil {
		return fmt.Errorf("the check of the log: %w", err)
	}
	r.result.Checks++
	r.say("the log, played from a snapshot with %d workers, is what was told", replayWorkers)
	return nil
}

// patiently tries something again while servers may be choosing leaders: snapshots have
// their own, whose loss is no outage.
func patiently(ctx context.Context, try func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var before error // of a try that had its time
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

// finish checks everything after the nodes have ended, with err. A fault that is known
// already may keep the check from an end.
func (r *run) finish(log world.Log, err error) error {
	all := func(ctx context.Context) error { return r.auditor.Finish(ctx, log, program(r.Hz), replayWorkers) }
	if r.fleet.bad() {
		ctx, cancel := context.WithTimeout(context.Background(), startTime)
		defer cancel()
		_ = all(ctx)
		return nil
	}
	if err != nil {
		return err
	}
	return patiently(context.Background(), all)
}
