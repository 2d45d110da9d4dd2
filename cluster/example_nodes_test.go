package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// A Sheep walks.
type Sheep struct{ X, Step int }

// region node
// Node is one process of a cell. All nodes run the same program.
type Node struct {
	world   *world.World
	sheep   *store.Table[Sheep]
	log     *cluster.Log
	journal *journal.Journal
}

// join opens a node of cell 7. Each node needs its own dir.
func join(ctx context.Context, s cluster.Servers, dir string) (n *Node, err error) {
	n = new(Node)
	herd := store.New(store.Options{})
	n.sheep = store.Register(herd, store.TableOptions[Sheep]{Name: "sheep"})
	if n.journal, err = journal.Open(dir, journal.Options{Sync: journal.Every(time.Second)}); err != nil {
		return nil, err
	}
	if n.log, err = cluster.Open(ctx, s, 7, cluster.Options{Journal: n.journal}); err != nil {
		return nil, errors.Join(err, n.journal.Close())
	}
	n.world, err = world.Open(ctx, herd, n.log, world.Options{
		Version: "herd 1", Hz: 60,
		Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
			if _, err := herd.Flush(ctx); err != nil { // input
				return err
			}
			return n.sheep.ForEach(ctx, func(c store.Chunk[Sheep]) {
				for i := range c.Items {
					c.Items[i].X += c.Items[i].Step
				}
			})
		},
	})
	if err != nil {
		return nil, errors.Join(err, n.log.Close(), n.journal.Close())
	}
	return n, nil
}

// run runs ticks until ctx ends: its own while the node leads, otherwise the leader's.
func (n *Node) run(ctx context.Context) error {
	err := n.world.Run(ctx)
	return errors.Join(err, n.world.Close(context.WithoutCancel(ctx)), n.log.Close(), n.journal.Close())
}

// endregion

// region submit
// submit calls Submit on one node after another until the leader accepts the call.
func submit(ctx context.Context, nodes []*Node, call func(n *Node, q store.Queue) error) error {
	for {
		for _, n := range nodes {
			_, err := n.world.Submit(ctx, func(q store.Queue) error { return call(n, q) })
			if !errors.Is(err, world.ErrNotLeader) {
				return err // nil: the call is in the log and in every later state
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// endregion

func Example_nodes() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "herd")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	three, err := localnet.Start(ctx, filepath.Join(dir, "servers"), 3, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer three.Close()

	var nodes []*Node
	var stop [2]context.CancelFunc
	var ended [2]chan error
	for i := range stop {
		n, err := join(ctx, cluster.URLs(three.URLs(i)), filepath.Join(dir, fmt.Sprint("node", i)))
		if err != nil {
			fmt.Println(err)
			return
		}
		nodes = append(nodes, n)
		var running context.Context
		running, stop[i] = context.WithCancel(ctx)
		ended[i] = make(chan error, 1)
		go func() { ended[i] <- n.run(running) }()
	}
	born := func(n *Node, q store.Queue) error {
		n.sheep.Emplace(q, Sheep{Step: 1})
		return nil
	}
	fmt.Println(submit(ctx, nodes, born))

	leader := 0
	if nodes[1].world.Status().Leader {
		leader = 1
	}
	stop[leader]()
	<-ended[leader]
	rest := nodes[1-leader : 2-leader]
	fmt.Println(submit(ctx, rest, born)) // after the failover
	_ = rest[0].world.Read(ctx, func(context.Context, world.Tick) error {
		fmt.Println(rest[0].sheep.Len(), "sheep")
		return nil
	})
	stop[1-leader]()
	<-ended[1-leader]
	// Output:
	// <nil>
	// <nil>
	// 2 sheep
}
