package store_test

import (
	"context"
	"fmt"

	"handloom/store"
)

// Rollback netcode: run ahead with a guessed input. When the real input arrives, go back to its
// tick and run the later ticks again.
func ExampleStore_Rollback() {
	ctx := context.Background()
	s := store.New(store.Options{})
	ships := store.Register(s, store.TableOptions[Ship]{Name: "ship"})
	// region tick
	tick := func(input int) {
		_ = ships.ForEach(ctx, func(c store.Chunk[Ship]) {
			for i := range c.Items {
				if c.Items[i].Hull -= input; c.Items[i].Hull <= 0 {
					c.Erase(i)
				}
			}
		})
		_, _ = s.Flush(ctx)
	}
	// endregion
	show := func(when string) {
		fmt.Println(when, "epoch", s.Epoch())
		for h, ship := range ships.All() {
			fmt.Println(" ", h, ship.Name, ship.Hull)
		}
	}
	qs, _ := s.Queues(1)
	ships.EmplaceItems(qs[0], []Ship{{Name: "a", Hull: 5}, {Name: "b", Hull: 9}}, nil)
	_, _ = s.Flush(ctx)

	// region rollback
	var before [4]store.Checkpoint // states of the last ticks; reused
	for i, guess := range []int{1, 1, 4} {
		_ = s.Checkpoint(ctx, &before[i])
		tick(guess)
	}
	show("guessed:")

	_ = s.Rollback(ctx, &before[1]) // tick 1 had another input
	show("back:")
	for i, input := range []int{2, 1} {
		_ = s.Checkpoint(ctx, &before[1+i])
		tick(input)
	}
	show("corrected:")
	// endregion

	// Output:
	// guessed: epoch 2
	//   1:1.1 b 3
	// back: epoch 1
	//   1:0.1 a 4
	//   1:1.1 b 8
	// corrected: epoch 1
	//   1:0.1 a 1
	//   1:1.1 b 5
}

// Items that hold slices need a Clone function.
func ExampleStore_Checkpoint() {
	ctx := context.Background()
	s := store.New(store.Options{})
	// region clone
	type Route struct{ Stops []string }
	routes := store.Register(s, store.TableOptions[Route]{
		Name: "route",
		Clone: func(dst, src *Route) {
			dst.Stops = append(dst.Stops[:0], src.Stops...)
		},
	})
	// endregion
	qs, _ := s.Queues(1)
	name := routes.Emplace(qs[0], Route{Stops: []string{"here", "there"}})
	_, _ = s.Flush(ctx)
	h, _ := routes.Resolve(name)

	var undo store.Checkpoint
	_ = s.Checkpoint(ctx, &undo)
	_ = s.Write(ctx, func(w *store.Writer) {
		routes.At(h).Stops[1] = "nowhere"
	})
	fmt.Println(routes.At(h).Stops)
	_ = s.Rollback(ctx, &undo)
	fmt.Println(routes.At(h).Stops)
	// Output:
	// [here nowhere]
	// [here there]
}
