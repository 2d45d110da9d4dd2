package nemesis

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
	"handloom/internal/cli"
	"handloom/journal"
	"handloom/proof/process"
	"handloom/world"
)

// A Fleet has nodes that run [Host].
type Fleet struct {
	*localnet.Fleet
	applied func(node string, tick, digest uint64) // called with ticks of nodes

	mutex  sync.Mutex
	cells  [localnet.Size]map[cluster.CellID]world.Status // last reports, by node
	newest uint32                                         // the newest reported term
	since  time.Time                                      // the first report that has newest
}

// Play is [localnet.Play] with a Fleet.
func Play(ctx context.Context, out io.Writer, node func(i int, dir, urls string) []string, run func(f *Fleet) (all string, err error)) cli.Verdict {
	f := new(Fleet)
	return localnet.Play(ctx, localnet.Options{Node: node, Receive: f.receive, Out: out}, func(l *localnet.Fleet) (string, error) {
		f.Fleet = l
		return run(f)
	})
}

// receive takes a line of a node.
func (f *Fleet) receive(n *localnet.Member, line string) {
	what, rest, _ := strings.Cut(line, " ")
	var tick, digest uint64
	var c cluster.CellStatus
	var err error
	switch what {
	case "listen":
		f.mutex.Lock()
		f.cells[n.Index] = make(map[cluster.CellID]world.Status)
		f.mutex.Unlock()
	case "tick":
		if _, err = fmt.Sscan(rest, &tick, &digest); err == nil {
			f.applied(n.Name, tick, digest)
		}
	default:
		if err = json.Unmarshal([]byte(line), &c); err == nil {
			f.mutex.Lock()
			f.cells[n.Index][c.Cell] = c.World
			if c.World.Term > f.newest {
				f.newest, f.since = c.World.Term, time.Now()
			}
			f.mutex.Unlock()
		}
	}
	if err != nil {
		f.Fault("%s says %q: %v", n.Name, line, err)
	}
	if wrong := fault(c); wrong != "" {
		f.Fault("%s: cell %v: %s", n.Name, c.Cell, wrong)
	}
}

// fault returns an error of a cell, or "" if it may come from a fault of machines and networks.
func fault(c cluster.CellStatus) string {
	text := c.Err + c.World.Halted
	for _, wrong := range []error{
		world.ErrCorrupt, world.ErrDiverged, world.ErrVersion, world.ErrTick,
		cluster.ErrSettings, cluster.ErrCorrupt, cluster.ErrBehind, cluster.ErrOtherStream, journal.ErrBroken,
	} {
		if strings.Contains(text, wrong.Error()) {
			return text
		}
	}
	return ""
}

// Status returns the last report of a node about a cell, or zero if the cell is not open.
func (f *Fleet) Status(n *localnet.Member, id cluster.CellID) world.Status {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.cells[n.Index][id]
}

// Cell returns the nodes that lead a cell, or nil, and that follow.
func (f *Fleet) Cell(id cluster.CellID) (leader *localnet.Member, followers []*localnet.Member) {
	var term uint32
	for _, n := range f.Nodes {
		switch s := f.Status(n, id); {
		case !n.Up():
		case s.Leader && s.Term > term:
			leader, term = n, s.Term
		case s.Term > 0:
			followers = append(followers, n)
		}
	}
	return leader, followers
}

// Call runs clients until during returns, and returns its error.
func (f *Fleet) Call(ctx context.Context, clients int, client func(ctx context.Context, c *cluster.Client, i int), during func(c *cluster.Client) error) error {
	c, err := cluster.Dial(ctx, cluster.URLs(f.URLs))
	if err != nil {
		return err
	}
	defer c.Close()
	live, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for i := range clients {
		all.Go(func() { client(live, c, i) })
	}
	return during(c)
}

const reportEvery = 50 * ms

// Host joins the cells 1 to last as a node, with URLs joined by commas, and reports each cell
// every 50 ms, until ctx ends.
func Host(ctx context.Context, c *process.Child, urls string, last cluster.CellID, h cluster.Host) error {
	for ; ctx.Err() == nil; time.Sleep(reportEvery) {
		n, err := cluster.Join(ctx, cluster.URLs(strings.Split(urls, ",")), h)
		for id := cluster.CellID(1); id <= last && err == nil; id++ {
			err = n.Place(ctx, id, 1)
		}
		if err == nil {
			c.Logf("listen %s", h.Name)
			running, stop := context.WithCancel(ctx)
			go func() {
				for ; running.Err() == nil; time.Sleep(reportEvery) {
					printCells(c, n.Status(), last)
				}
			}()
			err = n.Run(ctx)
			stop()
		}
		if ctx.Err() == nil {
			c.Logf("wait %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	return nil
}

// printCells prints a line for each cell, because short lines are written at once or not at all.
func printCells(c *process.Child, s cluster.NodeStatus, last cluster.CellID) {
	all := make([]cluster.CellStatus, last)
	for i := range all {
		all[i].Cell = cluster.CellID(i + 1)
	}
	for _, s := range s.Cells {
		all[s.Cell-1] = s
	}
	for _, s := range all {
		line, _ := json.Marshal(s)
		c.Logf("%s", line)
	}
}
