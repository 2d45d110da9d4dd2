package store_test

import (
	"context"
	"fmt"
	"maps"

	"handloom/store"
)

type walker struct{ X, Speed int }

// region onlooker

// onlooker is a copy of the items.
type onlooker map[store.Handle[walker]]walker

// apply changes the copy by the lists of the last frame, and returns the number of changed items.
func (c onlooker) apply(walkers *store.Table[walker]) (n int) {
	for h := range store.Erased(walkers) {
		delete(c, h)
		n++
	}
	for h, v := range store.Created(walkers) {
		c[h] = *v
		n++
	}
	for h, v := range store.Written(walkers) {
		c[h] = *v
		n++
	}
	return n
}

// endregion

// The created, erased, put and written items of each frame keep a copy equal.
func ExampleWritten() {
	ctx := context.Background()
	s := store.New(store.Options{})
	// region walk
	walkers := store.Register(s, store.TableOptions[walker]{Changes: true})

	// Walkers are written in place, and are erased at 4.
	walk := func(ctx context.Context) error {
		return walkers.ForEach(ctx, func(c store.Chunk[walker]) {
			for i := range c.Items {
				v := &c.Items[i]
				if v.Speed == 0 {
					continue // unchanged
				}
				v.X += v.Speed
				c.Wrote(i)
				if v.X > 4 {
					c.Erase(i)
				}
			}
		})
	}
	// endregion
	// A walker at 2 stops, and a new one is created.
	rest := func(ctx context.Context) error {
		return s.Do(ctx, func(q store.Queue) {
			for h, v := range walkers.All() {
				if v.X == 2 && v.Speed > 0 {
					walkers.Put(q, h, walker{X: 2})
				}
			}
			walkers.Emplace(q, walker{Speed: 1 + walkers.Len()%2*2})
		})
	}
	tick := 0
	type on = []store.Resource
	frame := store.NewSchedule(
		s,
		store.System{Name: "walk", Writes: on{walkers}, Emits: on{walkers}, Run: walk},
		store.System{Name: "rest", Reads: on{walkers}, Emits: on{walkers}, Run: rest, If: func() bool { return tick < 5 }},
	)

	seen := onlooker{}
	for tick = range 6 { // the last frame records nothing
		if _, err := frame.Run(ctx); err != nil {
			fmt.Println(err)
		}
		n := seen.apply(walkers)
		all := onlooker{}
		for h, v := range walkers.All() {
			all[h] = *v
		}
		fmt.Println(n, "changes,", len(seen), "walkers", maps.Equal(seen, all))
	}
	// Output:
	// 1 changes, 1 walkers true
	// 2 changes, 2 walkers true
	// 3 changes, 3 walkers true
	// 3 changes, 3 walkers true
	// 3 changes, 4 walkers true
	// 2 changes, 4 walkers true
}
