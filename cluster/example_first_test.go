package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"handloom/cluster"
	"handloom/store"
	"handloom/world"
)

type Goat struct{ X, Step int }

func Example() {
	dir, err := os.MkdirTemp("", "herd") // a real node keeps its folder
	if err == nil {
		err = errors.Join(goats(context.Background(), dir), os.RemoveAll(dir))
	}
	if err != nil {
		log.Fatal(err)
	}
	// Output: 1 goat
}

func goats(ctx context.Context, dir string) error {
	herd := store.New(store.Options{})
	goats := store.Register(herd, store.TableOptions[Goat]{Name: "goat"})
	cell, err := cluster.Open(ctx, cluster.Embedded(dir), 7, cluster.Options{Replicas: 1, Snapshots: cluster.Folder(dir + "/snapshots")})
	if err != nil {
		return err
	}
	w, err := world.Open(ctx, herd, cell, world.Options{
		Version: "goats 1", Hz: 60,
		Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
			if _, err := herd.Flush(ctx); err != nil { // input
				return err
			}
			return goats.ForEach(ctx, func(c store.Chunk[Goat]) {
				for i := range c.Items {
					c.Items[i].X += c.Items[i].Step
				}
			})
		},
	})
	if err != nil {
		return errors.Join(err, cell.Close())
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(running) }()
	_, err = w.Submit(ctx, func(q store.Queue) error { // waits until the log has the call
		goats.Emplace(q, Goat{Step: 1})
		return nil
	})
	stop()
	<-ended
	fmt.Println(goats.Len(), "goat")
	return errors.Join(err, w.Close(ctx), cell.Close())
}
