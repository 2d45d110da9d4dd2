package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"handloom/cluster"
	"handloom/store"
	"handloom/world"
)

// region open
// openScore returns the program of a cell: a score, to which calls add points.
func openScore(context.Context, cluster.CellID) (*cluster.Cell, error) {
	s := store.New(store.Options{})
	score := store.AddValue[int](s, store.ColumnOptions[int]{Name: "score"})
	points := world.NewRequests[int, int](s, "points", 100_000, 10*time.Minute)
	tick := points.Tick(func(_ *store.Writer, _ world.Tick, n int) (sum int) {
		*score.Get() += n
		return *score.Get()
	})
	serve := func(ctx context.Context, w *world.World, c cluster.Call) (reply []byte, err error) {
		n, err := strconv.Atoi(string(c.Body))
		if err != nil {
			return nil, err // the caller gets ErrRefused with this text
		}
		sum, err := points.Submit(ctx, w, c.Key, n)
		return strconv.AppendInt(nil, int64(sum), 10), err
	}
	return &cluster.Cell{Store: s, World: world.Options{Version: "score 1", Wait: true, Tick: tick}, Serve: serve}, nil
}

// endregion

// region run
// runNode is a process that plays its share of the cells until ctx ends. page listens on a
// loopback address, such as 127.0.0.1:8080.
func runNode(ctx context.Context, servers cluster.Servers, name string, page net.Listener) error {
	n, err := cluster.Join(ctx, servers, cluster.Host{Name: name, Open: openScore})
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(page, cluster.Handler(n)) }()
	return errors.Join(n.Run(ctx), page.Close())
}

// endregion

func Example_cells() {
	dir, err := os.MkdirTemp("", "cells")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	servers := cluster.Embedded(dir)
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	ended := make(chan error, 1)
	page, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { ended <- runNode(ctx, servers, "node-1", page) }()

	operator, err := cluster.Join(ctx, servers, cluster.Host{Name: "operator", Open: openScore})
	if err != nil {
		fmt.Println(err)
		return
	}
	// region place
	for _, cell := range []cluster.CellID{8, 9} {
		if err := operator.Place(ctx, cell, 1); err != nil {
			fmt.Println(err)
		}
	}
	// endregion
	running := make(chan error, 1)
	go func() { running <- operator.Run(ctx) }()

	// region call
	client, err := cluster.Dial(ctx, servers)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	for _, points := range []string{"20", "22", "many"} {
		reply, err := client.Call(ctx, 8, []byte(points))
		fmt.Printf("%s %v\n", reply, err)
	}
	// endregion
	stop()
	<-running
	<-ended
	// Output:
	// 20 <nil>
	// 42 <nil>
	//  cluster: Call: cell 0000000000000008: the cell refused the call: strconv.Atoi: parsing "many": invalid syntax
}
