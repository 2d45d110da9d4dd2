package main_test

import (
	"context"
	"fmt"
	"time"

	"handloom/store"
	"handloom/tasks"
)

const speed = 10 // asteroid speed per tick

// region engine

// window has the methods that an engine, such as Ebitengine, calls from its own loop.
type window struct {
	ctx       context.Context // team context
	clock     tasks.Loop
	now       func() time.Time // time.Now
	tick      *store.Schedule
	asteroids *store.Table[Asteroid]
	alpha     float64
}

func (g *window) Update() error {
	ticks, alpha := g.clock.Steps(g.now())
	for range ticks {
		if _, err := g.tick.Run(g.ctx); err != nil {
			return err
		}
	}
	g.alpha = alpha
	return nil
}

// Draw shows each asteroid between its last two ticks.
func (g *window) Draw() {
	for _, a := range g.asteroids.All() {
		fmt.Printf("%.1f ", float64(a.X)-speed*(1-g.alpha))
	}
}

// endregion

// An engine that owns the loop: the program asks how many ticks are due.
func Example_engine() {
	s, asteroids := newField(1)
	move := func(ctx context.Context) error {
		return asteroids.ForEach(ctx, func(c store.Chunk[Asteroid]) {
			for i := range c.Items {
				c.Items[i].X += speed
			}
		})
	}
	tick := store.NewSchedule(s, store.System{Name: "move", Writes: []store.Resource{asteroids}, Run: move})

	at := time.Unix(0, 0)
	runGame := func(g *window) error { // in place of the engine
		for _, pause := range []int{0, 4, 4, 4, 24, 500} {
			at = at.Add(time.Duration(pause) * time.Millisecond)
			if err := g.Update(); err != nil {
				return err
			}
			g.Draw()
		}
		return nil
	}
	g := &window{now: func() time.Time { return at }, clock: tasks.Loop{Hz: 100, MaxCatchUp: 5}, tick: tick, asteroids: asteroids}
	err := s.Team(context.Background(), func(ctx context.Context) error { // warm workers
		g.ctx = ctx
		return runGame(g) // the engine's loop
	})
	fmt.Println(err)
	fmt.Println(g.clock.Dropped(), "dropped")
	// Output:
	// 0.0 4.0 8.0 12.0 36.0 96.0 <nil>
	// 44 dropped
}
