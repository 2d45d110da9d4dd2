package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
	"handloom/store"
	"handloom/world"
)

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
		n, err := cluster.Try(ctx, func() (*Node, error) {
			return join(ctx, cluster.URLs(three.URLs(i)), 3, filepath.Join(dir, fmt.Sprint("node", i)))
		})
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
