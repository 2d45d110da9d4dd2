package store_test

import (
	"context"
	"fmt"

	"handloom/store"
)

type Particle struct {
	Pos, Vel float32
	Life     int
}

func Example() {
	ctx := context.Background()
	s := store.New(store.Options{})
	particles := store.Register(s, store.TableOptions[Particle]{Name: "particle", Shards: 4})
	_ = s.Do(ctx, func(q store.Queue) { // a task records commands into its queue
		for i := range 1000 {
			particles.Emplace(q, Particle{Vel: 1, Life: 1 + i%3})
		}
	})
	fmt.Println(s.Flush(ctx)) // creates them, in the same order on any machine
	for range 2 {             // ticks
		_ = particles.ForEach(ctx, func(c store.Chunk[Particle]) { // in parallel: each task owns a chunk of rows
			for i := range c.Items {
				p := &c.Items[i]
				p.Pos += p.Vel
				if p.Life--; p.Life == 0 {
					c.Erase(i)
				}
			}
		})
		fmt.Println(s.Flush(ctx))
	}
	// Output:
	// epoch 1: 1000 created <nil>
	// epoch 2: 334 erased <nil>
	// epoch 3: 333 erased <nil>
}
