package main

import (
	"context"
	"strconv"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/cluster/internal/nemesis"
	"handloom/proof/process"
	"handloom/world"
)

// runNode is a node of the cells. words are the name, the number of workers, and server URLs.
func runNode(ctx context.Context, c *process.Child, words []string) error {
	workers, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	open := func(_ context.Context, id cells.ID) (*cluster.Cell, error) {
		g, err := newArena(workers)
		if err != nil {
			return nil, err
		}
		mail := func(ctx context.Context, w *world.World, l *cluster.Log) error {
			return g.outbox.Run(ctx, w, l.Transport())
		}
		return &cluster.Cell{Store: g.store, World: g.options(id), Serve: g.serve, Run: mail}, nil
	}
	return nemesis.Host(ctx, c, words[2], fieldCells, cluster.Host{Name: words[0], Open: open})
}
