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

	// A pass of three tasks: each records into a queue of its own.
	err := s.Each(ctx, 3, func(task int, q store.Queue) {
		for i := range 1000 {
			particles.Emplace(q, Particle{Vel: float32(task), Life: 1 + i%5})
		}
	})
	fmt.Println(err)
	fmt.Println(s.Flush(ctx)) // creates them, in the same order on any machine

	for range 3 { // ticks
		// A pass over all particles: each task owns the rows of its chunk.
		_ = particles.ForEach(ctx, func(c store.Chunk[Particle]) {
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
	fmt.Println(particles.Len(), "particles left")
	// Output:
	// <nil>
	// epoch 1: 3000 created <nil>
	// epoch 2: 600 erased <nil>
	// epoch 3: 600 erased <nil>
	// epoch 4: 600 erased <nil>
	// 1200 particles left
}
