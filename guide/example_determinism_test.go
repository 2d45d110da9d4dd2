package main_test

import (
	"context"
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
