package nemesis

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"handloom/cluster"
	"handloom/cluster/internal/audit"
	"handloom/journal"
	"handloom/proof/process"
	"handloom/world"
)

const (
	cell        cluster.CellID = 1
	reportEvery                = 50 * ms
)

// Host joins the cells 1 to last as a node, with URLs joined by commas, and prints a report
// every 50 ms, until ctx ends.
func Host(ctx context.Context, c *process.Child, urls string, last cluster.CellID, h cluster.Host, report func(s cluster.NodeStatus) string) error {
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
					c.Logf("%s", report(n.Status()))
				}
			}()
			err = n.Run(ctx)
			stop()
		}
		if ctx.Err() == nil {
			c.Logf("wait %s", oneLine(err.Error()))
		}
	}
	return nil
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "; ") }

// Fault returns an error of a cell, or "" if it may come from a fault of machines and networks.
func Fault(c cluster.CellStatus) string {
	text := oneLine(c.Err + c.World.Halted)
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

// Node is a node of the cell, for [localnet.Child]. words are: folder, workers, server URLs, folder
// of snapshots or none.
func Node(ctx context.Context, c *process.Child, words []string) error {
	workers, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	open := func(context.Context, cluster.CellID) (*cluster.Cell, error) {
		j, err := journal.Open(filepath.Join(words[0], "journal"), journal.Options{Sync: journal.Every(time.Second), SegmentBytes: 1 << 20})
		if err != nil {
			return nil, err
		}
		s, requests, o := newGame(workers, func(r audit.TickResult) { c.Logf("tick %d %d", r.Number, r.Digest) })
		serve := func(ctx context.Context, w *world.World, call cluster.Call) (reply []byte, err error) {
			key, err := strconv.ParseUint(string(call.Body), 10, 64)
			if err == nil {
				key, err = requests.Submit(ctx, w, call.Key, key)
			}
			return strconv.AppendUint(nil, key, 10), err
		}
		return &cluster.Cell{Store: s, World: o, Log: logOptions(j, words[3]), Serve: serve, Close: j.Close}, nil
	}
	return Host(ctx, c, words[2], cell, cluster.Host{Name: filepath.Base(words[0]), Copies: 3, Open: open}, func(s cluster.NodeStatus) string {
		if len(s.Cells) == 0 || s.Cells[0].World.Term == 0 {
			return "closed"
		}
		if wrong := Fault(s.Cells[0]); wrong != "" {
			return wrong
		}
		w := s.Cells[0].World
		return fmt.Sprintf("status %t %d %d %d %s", w.Leader, w.Term, w.Tick, w.LostAppends, oneLine(w.SaveErr))
	})
}

// logOptions returns options with a journal, which may be nil, and a folder of snapshots, or "".
func logOptions(j *journal.Journal, snapshots string) cluster.Options {
	o := cluster.Options{Journal: j}
	if snapshots != "" {
		o.Snapshots = cluster.Folder(snapshots)
	}
	return o
}
