package main_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"handloom/store"
	"handloom/store/storetest"
)

// region setup

// setup registers the tables of a game in s and returns a function that runs a frame.
func setup(s *store.Store) (frame func(ctx context.Context, tick int) error, err error) {
	asteroids := store.Register(s, store.TableOptions[Asteroid]{Name: "asteroid", Shards: 2, ChunkItems: 64})
	return func(ctx context.Context, tick int) error {
		if err := asteroids.ForEach(ctx, func(c store.Chunk[Asteroid]) {
			for i := range c.Items {
				a := &c.Items[i]
				a.X += a.VX
				if a.X > 20 {
					c.Erase(i)
				}
			}
		}); err != nil {
			return err
		}
		if err := s.Each(ctx, 4, func(task int, q store.Queue) {
			for i := range 20 {
				asteroids.Emplace(q, Asteroid{VX: 1 + (tick+task+i)%7})
			}
		}); err != nil {
			return err
		}
		_, err := s.Flush(ctx)
		return err
	}, nil
}

// endregion

// region random

func walk(ctx context.Context, walkers *store.Table[walker]) error {
	return walkers.ForEach(ctx, func(c store.Chunk[walker]) {
		r := c.Queue.Rand()
		for i := range c.Items {
			c.Items[i].Pos += r.Float64() - 0.5
		}
	})
}

// endregion

type walker struct{ Pos float64 }

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
			_, err := store.Maps(tables[i], w)[0].InsertItems(make([]walker, 3000), nil)
			noError(err)
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

// region test

func TestGame_IsDeterministic(t *testing.T) {
	storetest.Run(t, storetest.Options{Frames: 20}, setup)
}

// endregion

// region reopen

func TestGame_ContinuesFromSnapshot(t *testing.T) {
	storetest.Reopen(t, storetest.Options{Frames: 20}, setup)
}

// endregion
