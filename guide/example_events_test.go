package main_test

import (
	"context"
	"fmt"

	"handloom/store"
)

// region types

// Hit is an event: many may name one asteroid.
type Hit struct {
	Target store.Handle[Asteroid]
	Damage int
}

// endregion

// Events are items; the schedule erases them after their last reader.
func Example_events() {
	ctx := context.Background()
	s, asteroids := newField(3)
	// region schedule
	hits := store.Register(s, store.TableOptions[Hit]{Name: "hit", Events: true})
	type on = []store.Resource
	frame := store.NewSchedule(
		s,
		store.System{Name: "shoot", Reads: on{asteroids}, Emits: on{hits}, Run: func(ctx context.Context) error {
			return s.Each(ctx, 2, func(gun int, q store.Queue) {
				for h, a := range asteroids.All() {
					if a.X >= gun {
						hits.Emplace(q, Hit{Target: h, Damage: 1 + gun})
					}
				}
			})
		}},
		store.System{Name: "suffer", Reads: on{hits}, Writes: on{asteroids}, Run: func(ctx context.Context) error {
			return store.Fold(ctx, hits, asteroids, func(h *Hit) store.Handle[Asteroid] { return h.Target },
				func(a *Asteroid, h *Hit) { a.Size -= h.Damage })
		}},
	)
	for range 2 {
		fmt.Println(frame.Run(ctx))
	}
	for h, a := range asteroids.All() {
		fmt.Println(h, a.Size)
	}
	// endregion

	// Output:
	// epoch 3: 5 created 5 erased <nil>
	// epoch 5: 5 created 5 erased <nil>
	// 1:0.1 0
	// 1:1.1 -4
	// 1:2.1 -4
}
