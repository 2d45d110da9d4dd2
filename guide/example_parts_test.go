package main_test

import (
	"context"
	"fmt"

	"handloom/store"
)

// region types

// Hull is what every ship has.
type Hull struct{ Name string }

// Shield and Cargo are what some have. Zero: none.
type (
	Shield struct{ Strength int }
	Cargo  struct{ Tons int }
)

// endregion

// Parts that not every item has, put on by tasks that know nothing of each other.
func Example_parts() {
	ctx := context.Background()
	s, err := store.New(store.Options{})
	if err != nil {
		fmt.Println(err)
	}
	// region add
	ships, err := store.Register(s, store.TableOptions[Hull]{Name: "ship"})
	if err != nil {
		fmt.Println(err)
	}
	shields, err := store.AddColumn(ships, store.ColumnOptions[Shield]{Name: "shield"})
	if err != nil {
		fmt.Println(err)
	}
	cargos, err := store.AddColumn(ships, store.ColumnOptions[Cargo]{Name: "cargo"})
	if err != nil {
		fmt.Println(err)
	}
	// endregion
	err = s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
		for _, name := range []string{"Argo", "Bounty", "Calypso"} {
			ships.Emplace(q, Hull{Name: name})
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	if _, err := s.Flush(ctx); err != nil {
		fmt.Println(err)
	}

	// region set
	// Two tasks, each with a part for the same ships: both win.
	err = s.Each(ctx, 2, func(_ context.Context, task int, q store.Queue) error {
		for h, ship := range ships.All() {
			switch {
			case ship.Name == "Calypso":
			case task == 0:
				shields.Set(q, h, Shield{Strength: 10})
			default:
				cargos.Set(q, h, Cargo{Tons: 7})
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(s.Flush(ctx))
	// endregion

	// region visit
	// Whoever has a shield wears it down, until it is gone.
	wear := func(ctx context.Context) error {
		return ships.ForEachRows(ctx, func(_ context.Context, c store.RowsChunk[Hull]) error {
			shield := shields.Write(c)
			for i := range shield {
				shield[i].Strength = max(0, shield[i].Strength-4)
			}
			return nil
		})
	}
	// endregion
	load := func(ctx context.Context) error {
		return s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			for h, ship := range ships.All() {
				if ship.Name == "Calypso" {
					cargos.Set(q, h, Cargo{Tons: 9})
				}
			}
			return nil
		})
	}

	// region systems
	type on = []store.Resource
	frame, err := store.NewSchedule(
		s,
		store.System{Name: "wear", Writes: on{shields}, Run: wear},                 // a ForEachRows
		store.System{Name: "load", Reads: on{ships}, Emits: on{cargos}, Run: load}, // All, and Set
	)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Print(frame.Explain())
	for range 3 { // ticks
		fmt.Println(frame.Run(ctx))
	}
	for h, ship := range ships.All() {
		fmt.Println(ship.Name, *shields.At(h), *cargos.At(h))
	}
	// endregion

	// Output:
	// epoch 2: 4 put <nil>
	// wave 1
	//   wear
	//   load
	// flush
	//     load emits ship.cargo
	// epoch 3: 1 put <nil>
	// epoch 4: 1 put <nil>
	// epoch 5: 1 put <nil>
	// Argo {0} {7}
	// Bounty {0} {7}
	// Calypso {0} {9}
}
