package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/cluster/internal/localnet"
	"handloom/cluster/internal/nemesis"
	"handloom/internal/cli"
)

// copies is the number of nodes per cell.
const copies = 2

// An arenaRun is one run.
type arenaRun struct {
	options
	*nemesis.Fleet
	players players
	kills   chan string // names of processes to kill, from the page

	mutex   sync.Mutex
	runners [fieldCells][]runner // shown on the page
}

// run plays until the time is over, and returns the verdict.
func run(ctx context.Context, o options, out io.Writer) cli.Verdict {
	a := &arenaRun{options: o, kills: make(chan string, 1)}
	node := func(i int, _, urls string) []string { return []string{fmt.Sprint("n", i), fmt.Sprint(1 << i), urls} }
	return nemesis.Play(ctx, out, node, func(f *nemesis.Fleet) (string, error) {
		a.Fleet = f
		err := a.play(ctx)
		t := a.players.tally(false)
		return fmt.Sprintf("each of %d players has one runner, which carried out each answered order once; %d orders, %d crossings", playerCount, t.Answered, t.Crossed), err
	})
}

func (a *arenaRun) play(ctx context.Context) error {
	l, err := net.Listen("tcp", a.page)
	if err != nil {
		return err
	}
	defer a.serve(l).Close()
	fmt.Fprintf(a.Out, "go run ./cluster/cmd/arena -seed %d -kill=%t\npage: http://%s/\n", a.seed, a.kill, l.Addr())
	if err = a.Start(); err == nil {
		err = a.Until(ctx, a.isHealthy)
	}
	if err != nil || a.Bad() {
		return err
	}
	a.Logf("3 servers and 3 nodes are up; %d cells, each on %d nodes; %d players", fieldCells, copies, playerCount)
	client := func(ctx context.Context, c *cluster.Client, i int) {
		if i < playerCount {
			a.players.play(ctx, c, i, rand.New(rand.NewPCG(a.seed, uint64(i))))
		} else {
			a.watch(ctx, c, i-playerCount)
		}
	}
	if err := a.Call(ctx, playerCount+fieldCells, client, func(*cluster.Client) error { return a.killAll(ctx) }); err != nil {
		return err
	}
	err = a.Call(ctx, 0, nil, func(c *cluster.Client) error { return a.players.judge(context.WithoutCancel(ctx), c, a.Fault) })
	if err != nil || a.Bad() {
		return err
	}
	return a.End(func() error { return nil })
}

// A place is the state of a cell on the page.
type place struct {
	Leader    string // a node, or ""
	Followers []string
	Runners   []runner
}

func (a *arenaRun) places() (all [fieldCells]place) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for i := range all {
		leader, followers := a.Cell(cells.ID(i + 1))
		if leader != nil {
			all[i].Leader = leader.Name
		}
		for _, n := range followers {
			all[i].Followers = append(all[i].Followers, n.Name)
		}
		all[i].Runners = a.runners[i]
	}
	return all
}

func (a *arenaRun) isHealthy() bool {
	all := a.places()
	return a.Up() && !slices.ContainsFunc(all[:], func(p place) bool { return p.Leader == "" || len(p.Followers) < copies-1 })
}

// watch keeps the runners of a cell for the page.
func (a *arenaRun) watch(ctx context.Context, c *cluster.Client, cell int) {
	for ; ctx.Err() == nil; time.Sleep(orderEvery) {
		if all, err := look(ctx, c, cell); err == nil {
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
	timed, cancel := context.WithTimeout(ctx, cmp.Or(a.limit, math.MaxInt64))
	defer cancel()
	random := rand.New(rand.NewPCG(a.seed, playerCount))
	for !a.Bad() {
		name := ""
		select {
		case <-timed.Done():
			return nil
		case name = <-a.kills:
		case <-time.After(killEvery):
			if a.kill {
				name = a.All[random.IntN(len(a.All))].Name
			}
		}
		err := error(nil)
		if i := slices.IndexFunc(a.All, func(m *localnet.Member) bool { return m.Name == name }); i >= 0 {
			err = a.killOne(ctx, a.All[i])
		} else {
			err = a.Heal() // reports processes that ended by themselves
		}
		if err != nil {
			return err
		}
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
	a.players.tally(true)
	a.Kill(m)
	if slices.Contains(a.Nodes, m) {
		a.Logf("node %s is killed; it led %d cells", m.Name, leads)
	} else {
		a.Logf("server %s is killed", m.Name)
	}
	time.Sleep(healAfter)
	if err := a.Heal(); err != nil {
		return err
	}
	healed := time.Now()
	err := a.Until(ctx, func() bool { return a.isHealthy() && a.players.tally(false).Open < time.Since(healed) })
	if err == nil {
		a.Logf("each cell has a leader and a follower; players waited at most %v", a.players.tally(false).Longest.Round(time.Millisecond))
	}
	return err
}
