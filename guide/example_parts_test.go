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
	err = ships.ForEachRows(ctx, func(_ context.Context, c store.RowsChunk[Hull]) error {
		shield := shields.Write(c)
		for i := range shield {
			if shield[i].Strength > 0 {
				shield[i].Strength -= 4
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	for h, ship := range ships.All() {
		fmt.Println(ship.Name, *shields.At(h), *cargos.At(h))
	}
	// endregion

	// Output:
	// epoch 2: 4 put <nil>
	// Argo {6} {7}
	// Bounty {6} {7}
	// Calypso {0} {0}
}
