package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/cluster/internal/localnet"
	"handloom/internal/cli"
)

// copies is the number of nodes per cell.
const copies = 2

var nodeWorkers = [localnet.Size]int{1, 2, 8}

// An arenaRun is one run.
type arenaRun struct {
	options
	*localnet.Fleet
	players players
	begun   time.Time
	out     io.Writer
	kills   chan string // names to kill, from the page

	mutex   sync.Mutex
	reports [localnet.Size][]cellReport // last of each node
	views   [fieldCells][]fighter       // last of each cell
	events  []string
	faults  []string
}

func (a *arenaRun) logf(format string, args ...any) {
	line := fmt.Sprintf("%7.1fs  %s", time.Since(a.begun).Seconds(), fmt.Sprintf(format, args...))
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.events = append(a.events, line)
	fmt.Fprintln(a.out, line)
}

func (a *arenaRun) fault(format string, args ...any) {
	a.logf("fault: "+format, args...)
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.faults = append(a.faults, fmt.Sprintf(format, args...))
}

func (a *arenaRun) bad() bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return len(a.faults) > 0
}

// hear takes the report of a node. A state that differs from the leader's is a fault.
func (a *arenaRun) hear(n *localnet.Member, line string) {
	var report []cellReport
	if err := json.Unmarshal([]byte(line), &report); err != nil {
		n.Note(line)
		a.fault("%s says %q", n.Name, line)
		return
	}
	a.setReport(n, report)
	for _, c := range report {
		if strings.Contains(c.Err, "diverged") || strings.Contains(c.Err, "differs") || strings.Contains(c.Err, "corrupt") {
			a.fault("%s: %s", n.Name, c.Err)
		}
	}
}

func (a *arenaRun) setReport(n *localnet.Member, report []cellReport) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.reports[n.Index] = report
}

// places returns the leader of each cell, or "", and its followers.
func (a *arenaRun) places() (leaders [fieldCells]string, followers [fieldCells][]string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	var terms [fieldCells]uint32
	for i, report := range a.reports {
		name := fmt.Sprint("n", i)
		for _, c := range report {
			switch at := c.Cell - 1; {
			case c.Leader && c.Term >= terms[at]:
				leaders[at], terms[at] = name, c.Term
			case c.Term > 0:
				followers[at] = append(followers[at], name)
			}
		}
	}
	return leaders, followers
}

func (a *arenaRun) isHealthy() bool {
	leaders, followers := a.places()
	few := func(names []string) bool { return len(names) < copies-1 }
	return a.Up() && !slices.Contains(leaders[:], "") && !slices.ContainsFunc(followers[:], few)
}

// run plays until the time is over, and returns the verdict. It keeps the files of a failed run.
func (a *arenaRun) run(ctx context.Context) cli.Verdict {
	runtime.LockOSThread() // children die with the thread that started them
	defer runtime.UnlockOSThread()
	err := a.play(ctx)
	a.Close()
	if err != nil || a.bad() {
		a.logf("logs and stores are in %s", a.Dir)
	} else {
		err = os.RemoveAll(a.Dir)
	}
	all := "every player has one fighter, each answered order counts once"
	if a.bad() {
		all = a.faults[0]
	}
	return localnet.Judge(ctx, a.bad(), err, fmt.Sprintf("%s; %d orders, %d crossings", all, a.players.answered, a.players.crossed))
}

// start creates the fleet.
func (a *arenaRun) start() (err error) {
	a.Fleet, err = localnet.NewFleet(localnet.Options{
		Node: func(i int, _ string, urls []string) []string {
			return []string{fmt.Sprint("n", i), fmt.Sprint(nodeWorkers[i]), strings.Join(urls, ",")}
		},
		Hear: a.hear, Fault: a.fault, Bad: a.bad,
	})
	return err
}

func (a *arenaRun) play(ctx context.Context) error {
	if err := a.Heal(); err != nil {
		return err
	}
	if err := a.Until(ctx, a.isHealthy); err != nil || a.bad() {
		return err
	}
	a.logf("%d servers and %d nodes are up; %d cells, each on %d nodes; %d players", localnet.Size, localnet.Size, fieldCells, copies, playerCount)
	var err error
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
	if err := a.disturb(ctx); err != nil {
		return err
	}
	stop()
	playing.Wait()
	faults, err := a.players.judge(context.WithoutCancel(ctx))
	for _, f := range faults {
		a.fault("%s", f)
	}
	if err != nil || a.bad() {
		return err
	}
	return a.End(func() error { return nil })
}

// watch keeps the view of a cell for the page.
func (a *arenaRun) watch(ctx context.Context, i int) {
	for ; ctx.Err() == nil; time.Sleep(2 * reportEvery) {
		all, err := a.players.look(ctx, cells.ID(i+1))
		if err == nil {
			a.mutex.Lock()
			a.views[i] = all
			a.mutex.Unlock()
		}
	}
}

const (
	killEvery = 4 * time.Second
	healAfter = time.Second
)

// disturb kills processes, chosen on the page or by the seed, until the time is over.
func (a *arenaRun) disturb(ctx context.Context) error {
	timed, cancel := context.WithCancel(ctx)
	if a.limit > 0 {
		timed, cancel = context.WithTimeout(ctx, a.limit)
	}
	defer cancel()
	random := rand.New(rand.NewPCG(a.seed, playerCount))
	for last := time.Now(); !a.bad(); {
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
	leaders, _ := a.places()
	led := 0
	for _, name := range leaders {
		if name == m.Name {
			led++
		}
	}
	what := fmt.Sprintf("node %s is killed; it leads %d cells", m.Name, led)
	if m.Name[0] == 's' {
		what = fmt.Sprintf("server %s is killed", m.Name)
	}
	a.logf("%s", what)
	begun := time.Now()
	a.players.begin()
	m.Kill()
	if a.Nodes[m.Index] == m {
		a.setReport(m, nil)
	}
	select {
	case <-time.After(healAfter):
	case <-ctx.Done():
	}
	if err := a.Heal(); err != nil {
		return err
	}
	if err := a.Until(ctx, a.isHealthy); err != nil || a.bad() {
		return err
	}
	longest, _ := a.players.wait()
	a.logf("all cells have a leader and a follower after %.1fs; players waited %v at most", time.Since(begun).Seconds(), longest.Round(time.Millisecond))
	return nil
}
