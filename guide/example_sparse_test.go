package main_test

import (
	"context"
	"fmt"

	"handloom/store"
)

// region types

// Unit has the fields of every unit.
type Unit struct {
	Name string
	HP   int
}

// Data of some units; Elite is a tag without a value.
type (
	Burning  struct{ Left int } // ticks
	Shielded struct{ Strength int }
	Elite    struct{}
)

// endregion

// Sparse data of units, set by systems that do not know each other.
func Example_sparse() {
	ctx := context.Background()
	s := store.New(store.Options{})
	// region add
	units := store.Register(s, store.TableOptions[Unit]{Name: "unit"})
	burning := store.AddSparse(units, store.ColumnOptions[Burning]{Name: "burning"})
	shielded := store.AddSparse(units, store.ColumnOptions[Shielded]{Name: "shielded"})
	elite := store.AddSparse(units, store.ColumnOptions[Elite]{Name: "elite"})
	// endregion

	err := s.Do(ctx, func(q store.Queue) {
		for i, name := range []string{"Ada", "Bo", "Cy", "Dee"} {
			h := units.Emplace(q, Unit{Name: name, HP: 10})
			if i == 0 {
				elite.Set(q, h, Elite{})
			}
		}
	})
	fmt.Println(err)
	fmt.Println(s.Flush(ctx))

	// region set
	// A dragon burns all except Dee, and a priest shields some units. Each
	// records its own data for the same units in the same tick.
	breathe := func(ctx context.Context) error {
		return s.Do(ctx, func(q store.Queue) {
			for h, unit := range units.All() {
				if unit.Name != "Dee" {
					burning.Set(q, h, Burning{Left: 2})
				}
			}
		})
	}
	bless := func(ctx context.Context) error {
		return s.Do(ctx, func(q store.Queue) {
			for h, unit := range units.All() {
				if elite.Has(h) || unit.Name == "Bo" {
					shielded.Set(q, h, Shielded{Strength: 3})
				}
			}
		})
	}
	// endregion

	// region visit
	// Fire ends by itself. The pass visits only burning units.
	burn := func(ctx context.Context) error {
		return burning.ForEach(ctx, func(c store.SparseChunk[Unit, Burning]) {
			for i, h := range c.Owners {
				damage := 4
				if shield, ok := shielded.Get(h); ok {
					damage -= shield.Strength
				}
				unit := *units.At(h)
				unit.HP -= damage
				units.Put(c.Queue, h, unit)
				if c.Items[i].Left--; c.Items[i].Left == 0 {
					burning.Unset(c.Queue, h)
				}
			}
		})
	}
	// endregion

	// region systems
	type on = []store.Resource
	fight := store.NewSchedule(
		s,
		store.System{Name: "breathe", Reads: on{units}, Emits: on{burning}, Run: breathe},
		store.System{Name: "bless", Reads: on{units, elite}, Emits: on{shielded}, Run: bless},
	)
	// endregion
	fmt.Print(fight.Explain())
	fmt.Println(fight.Run(ctx))
	tick := store.NewSchedule(s, store.System{Name: "burn", Reads: on{shielded}, Writes: on{burning}, Emits: on{units, burning}, Run: burn})
	for range 3 {
		fmt.Println(tick.Run(ctx))
	}
	for h, unit := range units.All() {
		fmt.Println(unit.Name, unit.HP, elite.Has(h), shielded.Has(h), burning.Has(h))
	}
	fmt.Println(burning.Len(), "burn,", shielded.Len(), "have a shield")

	// Output:
	// <nil>
	// epoch 1: 4 created 1 put <nil>
	// wave 1
	//   breathe
	//   bless
	// flush
	//     breathe emits unit.burning
	//     bless emits unit.shielded
	// epoch 2: 5 put <nil>
	// epoch 3: 3 put <nil>
	// epoch 4: 3 unset 3 put <nil>
	// epoch 4: nothing <nil>
	// Ada 8 true true false
	// Bo 8 false true false
	// Cy 2 false false false
	// Dee 10 false false false
	// 0 burn, 2 have a shield
}
