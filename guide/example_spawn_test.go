package main_test

import (
	"context"
	"encoding/json"
	"fmt"

	"handloom/store"
)

// region asteroid

type Asteroid struct {
	X, VX, Size int
}

// endregion

// newField returns a store with asteroids of size 2 at 0, 1, 2 and so on.
func newField(n int) (*store.Store, *store.Table[Asteroid]) {
	s := store.New(store.Options{})
	asteroids := store.Register(s, store.TableOptions[Asteroid]{Name: "asteroid"})
	ctx := context.Background()
	if err := s.Do(ctx, func(q store.Queue) {
		for x := range n {
			asteroids.Emplace(q, Asteroid{X: x, Size: 2})
		}
	}); err != nil {
		panic(err)
	}
	if _, err := s.Flush(ctx); err != nil {
		panic(err)
	}
	return s, asteroids
}

// Creates and erases: recorded in a pass, applied by a flush.
func Example_spawn() {
	ctx := context.Background()
	s, asteroids := newField(0)

	// region create
	err := s.Each(ctx, 1, func(task int, q store.Queue) {
		for x := range 4 {
			asteroids.Emplace(q, Asteroid{X: x, Size: 2})
		}
	})
	fmt.Println(err)
	fmt.Println(asteroids.Len(), "before the flush")
	report, err := s.Flush(ctx)
	fmt.Println(report, err)
	fmt.Println(asteroids.Len(), "after it")
	// endregion

	// region split
	err = asteroids.ForEach(ctx, func(c store.Chunk[Asteroid]) {
		for i := range c.Items {
			a := &c.Items[i]
			a.X += a.VX
			if a.X%2 == 1 { // it falls apart
				c.Erase(i)
				asteroids.Emplace(c.Queue, Asteroid{X: a.X, VX: -1, Size: a.Size - 1})
				asteroids.Emplace(c.Queue, Asteroid{X: a.X, VX: +1, Size: a.Size - 1})
			}
		}
	})
	fmt.Println(err)
	fmt.Println(s.Flush(ctx))
	// endregion

	// region name
	var name store.Handle[Asteroid] // provisional
	err = s.Do(ctx, func(q store.Queue) {
		name = asteroids.Emplace(q, Asteroid{Size: 9})
	})
	fmt.Println(err)
	fmt.Println(s.Flush(ctx))
	h, ok := asteroids.Resolve(name) // permanent
	fmt.Println(h, ok, asteroids.At(h).Size)
	// endregion

	// region kill
	err = s.Do(ctx, func(q store.Queue) {
		asteroids.Erase(q, h)
		asteroids.Erase(q, h) // a second erase is redundant
	})
	fmt.Println(err)
	fmt.Println(s.Flush(ctx))
	fmt.Println("is it there:", asteroids.Has(h))
	// endregion

	// region func
	err = store.EraseFunc(ctx, asteroids, func(a *Asteroid) bool { return a.X > 2 })
	fmt.Println(err)
	fmt.Println(s.Flush(ctx))
	// endregion

	// region now
	err = s.Write(ctx, func(w *store.Writer) {
		h := asteroids.Insert(w, Asteroid{Size: 3})
		fmt.Println("at once:", asteroids.At(h).Size)
		asteroids.Remove(w, h)
	})
	fmt.Println(err)
	// endregion

	// region all
	err = s.Do(ctx, func(q store.Queue) {
		asteroids.EraseAll(q)
		asteroids.Emplace(q, Asteroid{Size: 1}) // created by this batch: it stays
	})
	fmt.Println(err)
	fmt.Println(s.Flush(ctx))
	// endregion

	// Output:
	// <nil>
	// 0 before the flush
	// epoch 1: 4 created <nil>
	// 4 after it
	// <nil>
	// epoch 2: 4 created 2 erased <nil>
	// <nil>
	// epoch 3: 1 created <nil>
	// 1:6.1 true 9
	// <nil>
	// epoch 4: 1 erased 1 redundant <nil>
	// is it there: false
	// <nil>
	// epoch 5: 2 erased <nil>
	// at once: 3
	// <nil>
	// <nil>
	// epoch 6: 1 created 4 erased <nil>
}

// Lookups by handle.
func Example_handles() {
	ctx := context.Background()
	s, asteroids := newField(3)

	// region stale
	var all []store.Handle[Asteroid]
	for h := range asteroids.All() {
		all = append(all, h)
	}
	if err := s.Write(ctx, func(w *store.Writer) {
		asteroids.Remove(w, all[0]) // the last item takes its row
		asteroids.Insert(w, Asteroid{Size: 7})
	}); err != nil {
		fmt.Println(err)
	}
	if _, ok := asteroids.Get(all[0]); !ok {
		fmt.Println(all[0], "is stale")
	}
	fmt.Println(all[2], "has moved, and is found:", asteroids.At(all[2]).X)
	for h, a := range asteroids.All() {
		fmt.Println(h, *a)
	}
	// endregion

	// region number
	text, err := json.Marshal(all[2])
	fmt.Println(string(text), err)
	var back store.Handle[Asteroid]
	fmt.Println(json.Unmarshal(text, &back), back == all[2])
	// endregion

	// Output:
	// 1:0.1 is stale
	// 1:2.1 has moved, and is found: 2
	// 1:2.1 {2 0 2}
	// 1:1.1 {1 0 2}
	// 1:0.2 {0 0 7}
	// "1:2.1" <nil>
	// <nil> true
}
