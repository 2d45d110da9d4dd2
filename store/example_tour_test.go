package store_test

import (
	"context"
	"fmt"

	"handloom/store"
)

type Squad struct{ Name string }

type Unit struct {
	Squad store.Handle[Squad] // one item names another
	Hull  int
}

// Items that name each other, systems, commands from outside, atomic ticks, and rollback.
func Example_tour() {
	ctx := context.Background()
	s := store.New(store.Options{})
	units := store.Register(s, store.TableOptions[Unit]{Name: "unit", Shards: 4})
	squads := store.RegisterStable(s, store.TableOptions[Squad]{Name: "squad"}) // a *Squad stays valid

	// Emplace returns a provisional handle at once. The flush replaces it in all recorded
	// values; Resolve returns the real handle.
	var red store.Handle[Squad]
	_ = s.Do(ctx, func(q store.Queue) {
		red = squads.Emplace(q, Squad{Name: "red"})
		for hull := range 3 {
			units.Emplace(q, Unit{Squad: red, Hull: 1 + hull})
		}
	})
	fmt.Println(s.Flush(ctx))
	red, _ = squads.Resolve(red)

	// Systems declare the resources that they use. Systems without a conflict run at the same
	// time, and a flush comes before a system that reads emitted items.
	type on = []store.Resource
	frame := store.NewSchedule(
		s,
		store.System{Name: "burn", Writes: on{units}, Emits: on{units}, Run: func(ctx context.Context) error {
			return units.ForEach(ctx, func(c store.Chunk[Unit]) {
				for i := range c.Items {
					if c.Items[i].Hull--; c.Items[i].Hull == 0 {
						c.Erase(i)
					}
				}
			})
		}},
		store.System{Name: "count", Reads: on{units, squads}, Run: func(ctx context.Context) error {
			hull, err := store.Reduce(ctx, units, func(r store.Chunk[Unit]) (sum int) {
				for _, u := range r.Items {
					sum += u.Hull
				}
				return sum
			}, func(a, b int) int { return a + b })
			fmt.Println(units.Len(), "units of squad", squads.At(red).Name, "with hull", hull)
			return err
		}},
	)

	// Any goroutine may leave commands, at any time.
	arrived := make(chan error)
	go func() {
		arrived <- s.Inbox(func(q store.Queue) error {
			units.Emplace(q, Unit{Squad: red, Hull: 9})
			return nil
		})
	}()
	fmt.Println(<-arrived)

	// A tick is one Frame, so readers inside s.Read see whole ticks.
	var before store.Checkpoint
	tick := func(ctx context.Context, _ *store.Writer) error {
		if err := s.Checkpoint(ctx, &before); err != nil {
			return err
		}
		report, err := frame.Run(ctx)
		fmt.Println(report)
		return err
	}
	_, _ = s.Frame(ctx, tick)
	_, _ = s.Frame(ctx, tick)
	fmt.Println(s.Rollback(ctx, &before), "back to", units.Len(), "units")
	// Output:
	// epoch 1: 4 created <nil>
	// <nil>
	// 3 units of squad red with hull 12
	// epoch 2: 1 created 1 erased
	// 2 units of squad red with hull 9
	// epoch 3: 1 erased
	// <nil> back to 3 units
}
