package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"handloom/cluster"
	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// A Sheep walks.
type Sheep struct{ X, Step int }

// Node is one process of a cell. All nodes run the same program.
type Node struct {
	world   *world.World
	sheep   *store.Table[Sheep]
	log     *cluster.Log
	journal *journal.Journal
}

// The first argument is a folder for the node alone. A node of several machines also needs
// the folder of the program's files and the URLs of the servers.
func Example_herd() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	servers, replicas := cluster.Embedded(filepath.Join(os.Args[1], "server")), 1
	if len(os.Args) > 2 {
		servers, replicas = connect(os.Args[2], os.Args[3:]...), 3
	}
	n, err := join(ctx, servers, replicas, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	go n.tend(ctx)
	fmt.Println(n.run(ctx))
}

// connect returns the servers for a node with the program's files in dir.
func connect(dir string, urls ...string) cluster.Servers {
	return cluster.URLs(
		urls,
		nats.RootCAs(filepath.Join(dir, "ca.pem")),
		nats.ClientCert(filepath.Join(dir, "node.pem"), filepath.Join(dir, "node.key")),
	)
}

// join opens a node of cell 7. The journal in dir is the node's copy of the log.
func join(ctx context.Context, s cluster.Servers, replicas int, dir string) (n *Node, err error) {
	n = new(Node)
	herd := store.New(store.Options{})
	n.sheep = store.Register(herd, store.TableOptions[Sheep]{Name: "sheep"})
	if n.journal, err = journal.Open(dir, journal.Options{Sync: journal.Every(time.Second)}); err != nil {
		return nil, err
	}
	if n.log, err = cluster.Open(ctx, s, 7, cluster.Options{Replicas: replicas, Journal: n.journal}); err != nil {
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

// tend adds a sheep each second while the node leads, and counts the sheep on any node.
func (n *Node) tend(ctx context.Context) {
	for ctx.Err() == nil {
		_, err := n.world.Submit(ctx, func(q store.Queue) error {
			n.sheep.Emplace(q, Sheep{Step: 1})
			return nil
		})
		if err != nil && !errors.Is(err, world.ErrNotLeader) {
			fmt.Println(err)
		}
		_ = n.world.Read(ctx, func(_ context.Context, t world.Tick) error {
			fmt.Println("tick", t.Number, "leader", err == nil, "sheep", n.sheep.Len())
			return nil
		})
		time.Sleep(time.Second)
	}
}
