package main_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"handloom/store"
	"handloom/store/storetest"
)

// region setup

// setup makes the tables of a game in s, and returns what plays a frame of it.
func setup(s *store.Store) (frame func(ctx context.Context, tick int) error, err error) {
	asteroids, err := store.Register(s, store.TableOptions[Asteroid]{Name: "asteroid", Shards: 2, ChunkItems: 64})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tick int) error {
		if err := asteroids.ForEach(ctx, func(_ context.Context, c store.Chunk[Asteroid]) error {
			for i := range c.Items {
				a := &c.Items[i]
				a.X += a.VX
				if a.X > 20 {
					c.Erase(i)
				}
			}
			return nil
		}); err != nil {
			return err
		}
		if err := s.Each(ctx, 4, func(_ context.Context, task int, q store.Queue) error {
			for i := range 20 {
				asteroids.Emplace(q, Asteroid{VX: 1 + (tick+task+i)%7})
			}
			return nil
		}); err != nil {
			return err
		}
		_, err := s.Flush(ctx)
		return err
	}, nil
}

// endregion

// region random

// random returns the source of random numbers of a chunk.
func random(tick uint64, table, chunk int) *rand.Rand {
	return rand.New(rand.NewPCG(tick, uint64(table)<<32|uint64(chunk)))
}

// endregion

func TestRandom_DiffersByTickTableAndChunk(t *testing.T) {
	seen := make(map[uint64]bool)
	for i := range 8 * 2 * 4 {
		tick, table, chunk := uint64(i/8), i/4%2, i%4
		r, again := random(tick, table, chunk), random(tick, table, chunk)
		for range 4 {
			n := r.Uint64()
			if seen[n] || again.Uint64() != n {
				t.Fatalf("tick %d, table %d, chunk %d: number %d was drawn before, or differs the next time", tick, table, chunk, n)
			}
			seen[n] = true
		}
	}
}

// region test

func TestTheGameIsDeterministic(t *testing.T) {
	storetest.Run(t, storetest.Options{Frames: 20}, setup)
}

// endregion

// region reopen

func TestTheGameGoesOnFromASnapshot(t *testing.T) {
	storetest.Reopen(t, storetest.Options{Frames: 20}, setup)
}

// endregion
