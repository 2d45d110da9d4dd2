package main_test

import (
	"context"
	"errors"
	"fmt"

	"handloom/store"
)

// Phases: calls that join, and calls that are refused.
func Example_phases() {
	ctx := context.Background()
	s, asteroids := newField(4)

	// region join
	_, err := s.Frame(ctx, func(ctx context.Context, w *store.Writer) error { // this ctx carries the phase
		return asteroids.ForEach(ctx, func(c store.Chunk[Asteroid]) {
			c.Erase(0)
		})
	})
	fmt.Println(asteroids.Len(), err)
	// endregion

	// region read
	err = s.Read(ctx, func(context.Context) error {
		for _, a := range asteroids.All() {
			fmt.Print(a.X, " ")
		}
		return nil
	})
	fmt.Println(err)
	// endregion

	// region refused
	err = asteroids.ForEach(ctx, func(c store.Chunk[Asteroid]) {
		_, err := s.Flush(c.Queue.Context())
		c.Queue.Fail(err)
	})
	fmt.Println(errors.Is(err, store.ErrPhase))
	fmt.Println(err)
	// endregion

	// region failed
	err = asteroids.ForEach(ctx, func(c store.Chunk[Asteroid]) {
		c.Erase(0)
		c.Queue.Fail(errors.New("no fuel"))
	})
	fmt.Println(err)
	fmt.Println(s.Flush(ctx)) // the records of the pass are dropped
	// endregion

	err = asteroids.ForEach(ctx, func(c store.Chunk[Asteroid]) {
		c.Items[len(c.Items)].Size = 1
	})
	var panicked *store.PanicError
	if errors.As(err, &panicked) {
		fmt.Println(panicked.Value)
	}

	// Output:
	// 3 <nil>
	// 3 1 2 <nil>
	// true
	// store: Flush inside ForEach: not allowed in this phase; only Reduce joins a task; call it when ForEach has returned
	// no fuel
	// epoch 2: nothing <nil>
	// runtime error: index out of range [3] with length 3
}

// A flush: its counters, and its limits.
func Example_flush() {
	ctx := context.Background()
	s := store.New(store.Options{})
	asteroids := store.Register(s, store.TableOptions[Asteroid]{Name: "asteroid", MaxItems: 2})
	err := s.Each(ctx, 3, func(task int, q store.Queue) {
		asteroids.Emplace(q, Asteroid{X: task})
	})
	fmt.Println(err)
	_, err = s.Flush(ctx)
	fmt.Println(errors.Is(err, store.ErrFull), asteroids.Len())
	fmt.Println(s.Discard())

	if err := s.Write(ctx, func(w *store.Writer) { asteroids.Insert(w, Asteroid{}) }); err != nil {
		fmt.Println(err)
	}
	err = s.Each(ctx, 3, func(task int, q store.Queue) {
		for h := range asteroids.All() {
			asteroids.Put(q, h, Asteroid{X: task})
		}
	})
	fmt.Println(err)
	fmt.Println(s.Flush(ctx))
	for _, a := range asteroids.All() {
		fmt.Println("the last task wins:", a.X)
	}

	// Output:
	// <nil>
	// true 0
	// <nil>
	// <nil>
	// epoch 1: 1 put 2 superseded <nil>
	// the last task wins: 2
}
