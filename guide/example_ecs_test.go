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
	// region world
	s := store.New(store.Options{})
	movers := store.Register(s, store.TableOptions[Mover]{Name: "mover"})
	// endregion

	// region spawn
	err := s.Do(ctx, func(q store.Queue) {
		movers.Emplace(q, Mover{VX: 1, VY: 2})
	})
	if err != nil {
		fmt.Println(err)
	}
	if _, err = s.Flush(ctx); err != nil {
		fmt.Println(err)
	}
	// endregion

	// region move
	err = movers.ForEach(ctx, func(c store.Chunk[Mover]) {
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
	// 1:0.1 {1 2 1 2} <nil>
}
