package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
	"handloom/internal/cli"
)

// copies is the number of nodes per cell.
const copies = 2

// An arenaRun is one run.
type arenaRun struct {
	options
	*localnet.Fleet
	players players
	kills   chan string // names of processes to kill, from the page

	mutex   sync.Mutex
	reports [localnet.Size][]cellReport // one per node
	runners [fieldCells][]runner        // shown on the page
}

// newRun creates a run with a fleet. Play it.
func newRun(o options, out io.Writer) (a *arenaRun, err error) {
	a = &arenaRun{options: o, kills: make(chan string, 1)}
	a.Fleet, err = localnet.NewFleet(localnet.Options{
		Node: func(i int, _ string, urls []string) []string {
			return []string{fmt.Sprint("n", i), fmt.Sprint(1 << i), strings.Join(urls, ",")}
		},
		Receive: a.receive, Out: out,
	})
	return a, err
}

// receive takes the report of a node.
func (a *arenaRun) receive(n *localnet.Member, line string) {
	var report []cellReport
	err := json.Unmarshal([]byte(line), &report)
	a.mutex.Lock()
	a.reports[n.Index] = report
	a.mutex.Unlock()
	i := slices.IndexFunc(report, func(c cellReport) bool { return c.Fault != "" })
	switch {
	case strings.HasPrefix(line, "wait "):
		n.Note(line)
	case err != nil:
		a.Fault("%s says %q", n.Name, line)
	case i >= 0:
		a.Fault("%s: %s", n.Name, report[i].Fault)
	}
}

// A place is the state of a cell.
type place struct {
	Leader    string // a node, or ""
	Followers []string
	Runners   []runner
	term      uint32
}

func (a *arenaRun) places() (all [fieldCells]place) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for _, n := range a.Nodes {
		if !n.Up() {
			continue
		}
		for _, c := range a.reports[n.Index] {
			switch p := &all[c.Cell-1]; {
			case c.Leader && c.Term > p.term:
				p.Leader, p.term = n.Name, c.Term
			case c.Term > 0:
				p.Followers = append(p.Followers, n.Name)
			}
		}
	}
	for i := range all {
		all[i].Runners = a.runners[i]
	}
	return all
}

func (a *arenaRun) isHealthy() bool {
	all := a.places()
	return a.Up() && !slices.ContainsFunc(all[:], func(p place) bool { return p.Leader == "" || len(p.Followers) < copies-1 })
}

// run plays until the time is over, and returns the verdict.
func (a *arenaRun) run(ctx context.Context) cli.Verdict {
	return a.Play(ctx, func() (string, error) {
		err := a.play(ctx)
		return fmt.Sprintf("each of %d players has one runner, which carried out each answered order once; %d orders, %d crossings", playerCount, a.players.answered(), a.players.crossed), err
	})
}

func (a *arenaRun) play(ctx context.Context) error {
	err := a.Heal()
	if err == nil {
		err = a.Until(ctx, a.isHealthy)
	}
	if err != nil || a.Bad() {
		return err
	}
	a.Logf("3 servers and 3 nodes are up; %d cells, each on %d nodes; %d players", fieldCells, copies, playerCount)
	if a.players.client, err = cluster.Dial(ctx, cluster.URLs(a.URLs)); err != nil {
		return err
	}
	defer a.players.client.Close()
	live, stop := context.WithCancel(context.WithoutCancel(ctx))
	var playing sync.WaitGroup
	defer playing.Wait()
	defer stop()
	for i := range playerCount {
		playing.Go(func() { a.players.play(live, i, rand.New(rand.NewPCG(a.seed, uint64(i)))) })
	}
	for i := range fieldCells {
		playing.Go(func() { a.watch(live, i) })
	}
	if err := a.killAll(ctx); err != nil {
		return err
	}
	stop()
	playing.Wait()
	faults, err := a.players.judge(context.WithoutCancel(ctx))
	for _, f := range faults {
		a.Fault("%s", f)
	}
	if err != nil || a.Bad() {
		return err
	}
	return a.End(func() error { return nil })
}

// watch keeps the runners of a cell for the page.
func (a *arenaRun) watch(ctx context.Context, cell int) {
	for ; ctx.Err() == nil; time.Sleep(orderEvery) {
		if all, err := a.players.look(ctx, cell); err == nil {
			a.mutex.Lock()
			a.runners[cell] = all
			a.mutex.Unlock()
		}
	}
}

const (
	killEvery = 4 * time.Second
	healAfter = time.Second
)

// killAll kills processes, chosen on the page or by the seed, until the time is over.
func (a *arenaRun) killAll(ctx context.Context) error {
	timed, cancel := context.WithCancel(ctx)
	if a.limit > 0 {
		timed, cancel = context.WithTimeout(ctx, a.limit)
	}
	defer cancel()
	random := rand.New(rand.NewPCG(a.seed, playerCount))
	for last := time.Now(); !a.Bad(); {
		name := ""
		select {
		case <-timed.Done():
			return nil
		case name = <-a.kills:
		case <-time.After(healAfter):
			if a.kill && time.Since(last) > killEvery {
				name = a.All[random.IntN(len(a.All))].Name
			}
		}
		i := slices.IndexFunc(a.All, func(m *localnet.Member) bool { return m.Name == name })
		if i < 0 { // restart processes that ended by themselves
			if err := a.Heal(); err != nil {
				return err
			}
			continue
		}
		if err := a.killOne(ctx, a.All[i]); err != nil {
			return err
		}
		last = time.Now()
	}
	return nil
}

func (a *arenaRun) killOne(ctx context.Context, m *localnet.Member) error {
	leads := 0
	for _, p := range a.places() {
		if p.Leader == m.Name {
			leads++
		}
	}
	a.players.wait(true)
	m.Kill()
	if slices.Contains(a.Nodes, m) {
		a.receive(m, "[]") // until its next report
		a.Logf("node %s is killed; it led %d cells", m.Name, leads)
	} else {
		a.Logf("server %s is killed", m.Name)
	}
	time.Sleep(healAfter)
	if err := a.Heal(); err != nil {
		return err
	}
	healed := time.Now()
	if err := a.Until(ctx, func() bool {
		_, open := a.players.wait(false)
		return a.isHealthy() && open < time.Since(healed)
	}); err != nil {
		return err
	}
	longest, _ := a.players.wait(false)
	a.Logf("each cell has a leader and a follower; players waited at most %v", longest.Round(time.Millisecond))
	return nil
}
