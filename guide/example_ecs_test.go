package main_test

import (
	"context"
	"fmt"

	"handloom/store"
)

// region types

type Mover struct {
	X, Y   float64 // a component Position in an ECS
	VX, VY float64 // a component Velocity
}

// endregion

// A pass over one struct, which an ECS does by a query of two components.
func Example_ecs() {
	ctx := context.Background()
	// region move
	s := store.New(store.Options{})
	movers := store.Register(s, store.TableOptions[Mover]{Name: "mover"})
	err := s.Write(ctx, func(w *store.Writer) { movers.Insert(w, Mover{VX: 1, VY: 2}) })
	fmt.Println(err)
	err = movers.ForEach(ctx, func(c store.Chunk[Mover]) { // in parallel
		for i := range c.Items {
			m := &c.Items[i]
			m.X += m.VX
			m.Y += m.VY
			if m.X > 100 {
				c.Erase(i)
			}
		}
	})
	// endregion
	for h, m := range movers.All() {
		fmt.Println(h, *m, err)
	}
	// Output:
	// <nil>
	// 1:0.1 {1 2 1 2} <nil>
}
