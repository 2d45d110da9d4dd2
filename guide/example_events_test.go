package main_test

import (
	"context"
	"fmt"

	"handloom/store"
)

type Rock struct{ X, Size int }

// Hit is an event: many may name one rock.
type Hit struct {
	Target store.Handle[Rock]
	Damage int
}

func Example_events() {
	ctx := context.Background()
	s := store.New(store.Options{})
	rocks := store.Register(s, store.TableOptions[Rock]{Name: "rock"})
	hits := store.Register(s, store.TableOptions[Hit]{Name: "hit", Events: true})
	type on = []store.Resource
	frame := store.NewSchedule(
		s,
		store.System{Name: "shoot", Reads: on{rocks}, Emits: on{hits}, Run: func(ctx context.Context) error {
			return s.Each(ctx, 2, func(gun int, q store.Queue) {
				for h, r := range rocks.All() {
					if r.X >= gun {
						hits.Emplace(q, Hit{Target: h, Damage: 1 + gun})
					}
				}
			})
		}},
		store.System{Name: "suffer", Reads: on{hits}, Writes: on{rocks}, Run: func(ctx context.Context) error {
			return store.Fold(ctx, hits, rocks, func(h *Hit) store.Handle[Rock] { return h.Target },
				func(r *Rock, h *Hit) { r.Size -= h.Damage })
		}},
	)
	err := s.Write(ctx, func(w *store.Writer) {
		for x := range 3 {
			rocks.Insert(w, Rock{x, 9})
		}
	})
	fmt.Println(err)
	for range 2 {
		fmt.Println(frame.Run(ctx))
	}
	for h, r := range rocks.All() {
		fmt.Println(h, r.Size)
	}
	// Output:
	// <nil>
	// epoch 2: 5 created 5 erased <nil>
	// epoch 4: 5 created 5 erased <nil>
	// 1:0.1 7
	// 1:1.1 3
	// 1:2.1 3
}
