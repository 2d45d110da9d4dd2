package main

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/proof/process"
	"handloom/world"
)

const reportEvery = 50 * time.Millisecond

// A cellReport is the state of a cell on a node.
type cellReport struct {
	Cell   cells.ID
	Leader bool
	Term   uint32 // 0: not open
	Fault  string // a state or a log that is wrong
}

// runNode plays this node's share of the cells, and reports them as JSON. words are the name, the
// number of workers, and server URLs.
func runNode(ctx context.Context, c *process.Child, words []string) error {
	workers, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	n, err := cluster.Join(ctx, cluster.URLs(strings.Split(words[2], ",")), cluster.Host{
		Name: words[0], Open: func(_ context.Context, id cells.ID) (*cluster.Cell, error) { return openCell(id, workers) },
	})
	for id := cells.ID(1); id <= fieldCells && err == nil; id++ {
		err = n.Place(ctx, id, 1)
	}
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	c.Logf("listen %s", words[0])
	go func() {
		for ; ctx.Err() == nil; time.Sleep(reportEvery) {
			report := []cellReport{}
			for _, s := range n.Status().Cells {
				report = append(report, cellReport{s.Cell, s.World.Leader, s.World.Term, fault(s.Err + s.World.Halted)})
			}
			b, _ := json.Marshal(report)
			c.Logf("%s", b)
		}
	}()
	if err := n.Run(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// fault returns the text of an error if it cannot come from killed processes.
func fault(text string) string {
	for _, wrong := range []error{world.ErrDiverged, world.ErrCorrupt, world.ErrTick, world.ErrVersion} {
		if strings.Contains(text, wrong.Error()) {
			return text
		}
	}
	return ""
}

func openCell(id cells.ID, workers int) (*cluster.Cell, error) {
	g, err := newArena(workers)
	if err != nil {
		return nil, err
	}
	return &cluster.Cell{
		Store: g.store, World: g.options(id), Serve: g.serve,
		Run: func(ctx context.Context, w *world.World, l *cluster.Log) error {
			return g.outbox.Run(ctx, w, l.Transport())
		},
	}, nil
}
