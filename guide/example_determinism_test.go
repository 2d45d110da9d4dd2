package main_test

import (
	"context"
	"math/rand/v2"
	"slices"
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

// A die shows what was drawn for it.
type die struct{ Shows uint64 }

// clock keeps the number of the tick, as a part of the state.
type clock struct{ Tick uint64 }

// dice are two tables of dice, and a clock.
type dice struct {
	*store.Store
	tables [2]*store.Table[die]
	clocks *store.Table[clock]
	now    store.Handle[clock]
}

func newDice(t *testing.T, workers int) *dice {
	t.Helper()
	s, err := store.New(store.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	d := &dice{Store: s}
	for i, name := range []string{"red", "blue"} {
		if d.tables[i], err = store.Register(s, store.TableOptions[die]{Name: name, ChunkItems: 4}); err != nil {
			t.Fatal(err)
		}
	}
	if d.clocks, err = store.Register(s, store.TableOptions[clock]{Name: "clock"}); err != nil {
		t.Fatal(err)
	}
	err = s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
		for range 10 {
			for _, table := range d.tables {
				if _, err := table.Insert(w, die{}); err != nil {
					return err
				}
			}
		}
		d.now, err = d.clocks.Insert(w, clock{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// tick rolls all dice in place, without a command, and returns what they show.
func (d *dice) tick(t *testing.T) (shows []uint64) {
	t.Helper()
	err := d.Write(t.Context(), func(ctx context.Context, _ *store.Writer) error {
		now := d.clocks.At(d.now)
		now.Tick++
		for number, table := range d.tables {
			if err := table.ForEach(ctx, func(_ context.Context, c store.Chunk[die]) error {
				r := random(now.Tick, number, c.Index)
				for i := range c.Items {
					c.Items[i].Shows = r.Uint64()
				}
				return nil
			}); err != nil {
				return err
			}
			for _, v := range table.All() {
				shows = append(shows, v.Shows)
			}
		}
		_, err := d.Flush(ctx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return shows
}

func TestRandom_DiffersByTickTableAndChunk(t *testing.T) {
	var first []uint64
	for _, workers := range []int{1, 2, 8} {
		d := newDice(t, workers)
		var all []uint64
		var saved store.Checkpoint
		for tick := range 8 {
			if tick == 3 {
				if err := d.Checkpoint(t.Context(), &saved); err != nil {
					t.Fatal(err)
				}
			}
			all = append(all, d.tick(t)...)
		}
		seen := make(map[uint64]bool)
		for i, n := range all {
			if seen[n] {
				t.Fatalf("%d workers: number %d was drawn before", workers, i)
			}
			seen[n] = true
		}
		if err := d.Rollback(t.Context(), &saved); err != nil {
			t.Fatal(err)
		}
		again := d.tick(t)
		if !slices.Equal(again, all[3*len(again):4*len(again)]) {
			t.Errorf("%d workers: after a Rollback the tick draws other numbers", workers)
		}
		if first == nil {
			first = all
		}
		if !slices.Equal(all, first) {
			t.Errorf("%d workers draw other numbers than 1", workers)
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
