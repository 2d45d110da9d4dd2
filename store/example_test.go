package store_test

import (
	"context"
	"fmt"

	"handloom/store"
)

type Ship struct {
	Name   string
	Hull   int
	Target store.Handle[Ship]
}

func ExampleRegister() {
	s := store.New(store.Options{Workers: 4})
	ships := store.Register(s, store.TableOptions[Ship]{Name: "ship", Shards: 2})
	fmt.Println(ships.Name(), ships.Len())

	defer func() { fmt.Println(recover()) }()
	store.Register(s, store.TableOptions[Ship]{Name: "ship", ChunkItems: -1})
	// Output:
	// ship 0
	// store: Register table "ship": the name is taken; give each table its own Name
	// store: Register table "ship": ChunkItems -1 is negative; 0 means the default
}

// In a stable table a pointer stays valid until its item is erased.
func ExampleRegisterStable() {
	ctx := context.Background()
	s := store.New(store.Options{})
	ships := store.RegisterStable(s, store.TableOptions[Ship]{Name: "ship"})

	qs, _ := s.Queues(1)
	for hull := range 4 {
		ships.Emplace(qs[0], Ship{Hull: hull})
	}
	last := ships.Emplace(qs[0], Ship{Name: "last"})
	_, _ = s.Flush(ctx)
	last, _ = ships.Resolve(last)
	pointer := ships.At(last)

	err := ships.ForEach(ctx, func(c store.StableChunk[Ship]) {
		for h, ship := range c.All() {
			if ship.Hull == 1 || ship.Hull == 2 {
				ships.Erase(c.Queue, h)
			}
		}
		ships.Emplace(c.Queue, Ship{Name: "new"})
	})
	fmt.Println(err)
	fmt.Println(s.Flush(ctx))
	for h, ship := range ships.All() {
		fmt.Println(h, ship.Name, ship.Hull) // the slot erased first has a new item
	}
	fmt.Println(pointer == ships.At(last), pointer.Name)
	// Output:
	// <nil>
	// epoch 2: 1 created 2 erased <nil>
	// 1:0.1  0
	// 1:1.2 new 0
	// 1:3.1  3
	// 1:4.1 last 0
	// true last
}

// A create returns a provisional handle, and items recorded in the same batch may hold it.
func ExampleStore_Each() {
	ctx := context.Background()
	s := store.New(store.Options{})
	ships := store.Register(s, store.TableOptions[Ship]{})

	err := s.Each(ctx, 2, func(task int, q store.Queue) {
		leader := ships.Emplace(q, Ship{Name: fmt.Sprint("leader ", task)})
		ships.Emplace(q, Ship{Name: fmt.Sprint("wingman ", task), Target: leader})
	})
	fmt.Println(err)
	fmt.Println(s.Flush(ctx))
	for h, ship := range ships.All() {
		fmt.Println(h, ship.Name, ship.Target)
	}
	// Output:
	// <nil>
	// epoch 1: 4 created <nil>
	// 1:0.1 leader 0 0:0.0
	// 1:1.1 wingman 0 1:0.1
	// 1:2.1 leader 1 0:0.0
	// 1:3.1 wingman 1 1:2.1
}

func ExampleTable_ForEach() {
	ctx := context.Background()
	s := store.New(store.Options{})
	ships := store.Register(s, store.TableOptions[Ship]{})
	qs, _ := s.Queues(1)
	for hull := range 4 {
		ships.Emplace(qs[0], Ship{Hull: hull})
	}
	_, _ = s.Flush(ctx)

	err := ships.ForEach(ctx, func(c store.Chunk[Ship]) {
		for i := range c.Items {
			c.Items[i].Hull--
			if c.Items[i].Hull < 0 {
				c.Erase(i)
			}
		}
	})
	fmt.Println(err)
	fmt.Println(s.Flush(ctx))
	for h, ship := range ships.All() {
		fmt.Println(h, ship.Hull) // the last row moved into the gap
	}
	// Output:
	// <nil>
	// epoch 2: 1 erased <nil>
	// 1:3.1 2
	// 1:1.1 0
	// 1:2.1 1
}

// Queues serve goroutines that the store does not start.
func ExampleStore_Queues() {
	ctx := context.Background()
	s := store.New(store.Options{})
	ships := store.Register(s, store.TableOptions[Ship]{})

	qs, err := s.Queues(2)
	ships.Emplace(qs[1], Ship{Name: "second"})
	ships.Emplace(qs[0], Ship{Name: "first"}) // queues are ordered, calls are not
	fmt.Println(err)
	fmt.Println(s.Flush(ctx))
	for h, ship := range ships.All() {
		fmt.Println(h, ship.Name)
	}
	// Output:
	// <nil>
	// epoch 1: 2 created <nil>
	// 1:0.1 first
	// 1:1.1 second
}

func ExampleStore_Frame() {
	ctx := context.Background()
	s := store.New(store.Options{})
	ships := store.Register(s, store.TableOptions[Ship]{})

	var flagship store.Handle[Ship]
	_, err := s.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		flagship = ships.Insert(w, Ship{Name: "flagship"}) // at once, without a flush
		return ships.ForEach(ctx, func(c store.Chunk[Ship]) {
			for i := range c.Items {
				c.Items[i].Hull = 100
			}
		})
	})
	fmt.Println(err)

	err = s.Read(ctx, func(context.Context) error {
		fmt.Println(flagship, ships.At(flagship).Name, ships.At(flagship).Hull)
		return nil
	})
	fmt.Println(err)
	// Output:
	// <nil>
	// 1:0.1 flagship 100
	// <nil>
}

func ExampleTable_Resolve() {
	ctx := context.Background()
	s := store.New(store.Options{})
	ships := store.Register(s, store.TableOptions[Ship]{})

	qs, _ := s.Queues(1)
	kept := ships.Emplace(qs[0], Ship{Name: "kept"})
	gone := ships.Emplace(qs[0], Ship{Name: "gone"})
	ships.Erase(qs[0], gone)
	fmt.Println(s.Flush(ctx))

	fmt.Println(ships.Has(kept)) // provisional handles are for the batch, not for lookups
	fmt.Println(ships.Resolve(kept))
	fmt.Println(ships.Resolve(gone))
	// Output:
	// epoch 1: 1 created 2 cancelled out <nil>
	// false
	// 1:0.1 true
	// 0:0.0 false
}
