package store_test

import (
	"bytes"
	"context"
	"fmt"

	"handloom/store"
)

// A later version of a program loads an older snapshot: fields match by name, integers may be
// wider, and Migrate reads renamed fields. The key is the hash of the old schema. The error of
// a load without it has the hash.
func ExampleFields() {
	ctx := context.Background()
	// region old
	type OldShip struct {
		HP   int16
		Name string
		Crew []int32
	}
	// endregion
	old := store.New(store.Options{})
	oldShips := store.Register(old, store.TableOptions[OldShip]{Name: "ship"})
	var a store.Handle[OldShip]
	_ = old.Write(ctx, func(w *store.Writer) {
		a = oldShips.Insert(w, OldShip{HP: 5, Name: "a", Crew: []int32{7, 8}})
	})
	var file bytes.Buffer
	_ = old.Snapshot(ctx, &file)

	// region new
	type NewShip struct {
		Name  string
		Crew  []int64
		Hull  int32
		Speed float64
	}
	s := store.New(store.Options{})
	ships := store.Register(s, store.TableOptions[NewShip]{
		Name: "ship",
		Migrate: map[string]func(old store.Fields, ship *NewShip) error{
			"4626790b5caca817": func(old store.Fields, ship *NewShip) error {
				return old.Read("HP", &ship.Hull)
			},
		},
	})
	// endregion
	if err := s.Load(ctx, &file); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%+v\n", *ships.At(store.Handle[NewShip]{ID: a.ID}))
	// Output:
	// {Name:a Crew:[7 8] Hull:5 Speed:0}
}
