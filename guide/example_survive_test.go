package main_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// region open

// openField makes a world of asteroids that drift, on the log l.
func openField(ctx context.Context, l world.Log) (*world.World, *store.Table[Asteroid], error) {
	s, err := store.New(store.Options{})
	if err != nil {
		return nil, nil, err
	}
	asteroids, err := store.Register(s, store.TableOptions[Asteroid]{Name: "asteroid"})
	if err != nil {
		return nil, nil, err
	}
	w, err := world.Open(ctx, s, l, world.Options{
		Program: "asteroids 1",
		Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
			if _, err := s.Flush(ctx); err != nil { // the input
				return err
			}
			return asteroids.ForEach(ctx, func(_ context.Context, c store.Chunk[Asteroid]) error {
				for i := range c.Items {
					c.Items[i].X += c.Items[i].VX
				}
				return nil
			})
		},
	})
	return w, asteroids, err
}

// endregion

// A program that is killed and goes on where it was.
func Example_survive() {
	folder, err := os.MkdirTemp("", "handloom")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	ctx := context.Background()

	// region journal
	log, err := journal.Open(folder, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	w, asteroids, err := openField(ctx, log)
	if err != nil {
		fmt.Println(err)
		return
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error)
	go func() { ended <- w.Run(running) }()
	// endregion

	// region submit
	var name store.Handle[Asteroid]
	receipt, err := w.Submit(ctx, func(q store.Queue) error {
		name = asteroids.Emplace(q, Asteroid{VX: 5, Size: 2})
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	h, ok := store.Resolved(receipt, name)
	fmt.Println(h, ok)
	// endregion

	stop()
	fmt.Println(errors.Is(<-ended, context.Canceled))
	tick := w.Status().Tick
	fmt.Println(log.Close()) // and nothing else is told: the world is not closed, and saves nothing

	// region again
	log, err = journal.Open(folder, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	w, asteroids, err = openField(ctx, log) // plays what the log has
	if err != nil {
		fmt.Println(err)
		return
	}
	err = w.Read(ctx, func(_ context.Context, t world.Tick) error {
		fmt.Println("as far as before:", t.Number == tick)
		fmt.Println("it is there:", asteroids.At(h).VX)
		return nil
	})
	fmt.Println(err, w.Close(ctx), log.Close())
	// endregion

	// Output:
	// 1:0.1 true
	// true
	// <nil>
	// as far as before: true
	// it is there: 5
	// <nil> <nil> <nil>
}
