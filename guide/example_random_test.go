package main_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"handloom/store"
)

// region random

type walker struct{ Pos float64 }

// walk moves each walker by a random step.
func walk(ctx context.Context, walkers *store.Table[walker]) error {
	return walkers.ForEach(ctx, func(c store.Chunk[walker]) {
		r := c.Queue.Rand()
		for i := range c.Items {
			c.Items[i].Pos += r.Float64() - 0.5
		}
	})
}

// endregion

func TestWalk_DiffersByTickAndTable(t *testing.T) {
	ctx := t.Context()
	noError := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	s := store.New(store.Options{Seed: 1})
	var tables [2]*store.Table[walker]
	for i := range tables {
		tables[i] = store.Register(s, store.TableOptions[walker]{Name: fmt.Sprint("walkers ", i)})
		noError(s.Write(ctx, func(w *store.Writer) {
			for range 3000 {
				tables[i].Insert(w, walker{})
			}
		}))
	}
	tick := func() (steps []float64) {
		for _, walkers := range tables {
			for _, v := range walkers.All() {
				v.Pos = 0
			}
			noError(walk(ctx, walkers))
			for _, v := range walkers.All() {
				steps = append(steps, v.Pos)
			}
		}
		return steps
	}
	var before store.Checkpoint
	noError(s.Checkpoint(ctx, &before))
	first := tick()
	all := append(slices.Clone(first), tick()...)
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 12000 {
		t.Errorf("two ticks of two tables of 3000 walkers: got %d different steps, want 12000", n)
	}
	noError(s.Rollback(ctx, &before))
	if !slices.Equal(tick(), first) {
		t.Error("after a Rollback the first tick has other steps")
	}
}

func Example_random() {
	ctx := context.Background()
	// region seed
	for _, workers := range []int{1, 8} {
		s := store.New(store.Options{Seed: 42, Workers: workers})
		asteroids := store.Register(s, store.TableOptions[Asteroid]{Name: "asteroid"})
		err := s.Do(ctx, func(q store.Queue) { // a pass of one task
			r := q.Rand()
			for range 4 {
				asteroids.Emplace(q, Asteroid{X: int(r.Uint32N(100))})
			}
		})
		fmt.Println(err)
		fmt.Println(s.Flush(ctx))
		for _, a := range asteroids.All() {
			fmt.Print(a.X, " ")
		}
		fmt.Println("by", workers)
	}
	// endregion

	// Output:
	// <nil>
	// epoch 1: 4 created <nil>
	// 1 20 66 77 by 1
	// <nil>
	// epoch 1: 4 created <nil>
	// 1 20 66 77 by 8
}
