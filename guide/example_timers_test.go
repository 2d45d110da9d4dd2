package main_test

import (
	"context"
	"fmt"
	"time"

	"handloom/store"
)

// Hz is the number of ticks per second.
const Hz = 60

// ticks returns a duration in ticks.
func ticks(d time.Duration) uint64 { return uint64(d * Hz / time.Second) }

// Clock is the time of the game.
type Clock struct{ Tick uint64 }

// Timer rings for a ship.
type Timer struct {
	Due, Every uint64 // ticks; Every 0: once
	Ship       store.Handle[Ship]
}

// Ring is the event of a due timer.
type Ring struct{ Ship store.Handle[Ship] }

// Ship has an energy, which timers fill.
type Ship struct{ Energy int }

type harbour struct {
	store  *store.Store
	clock  *store.Value[Clock]
	timers *store.Table[Timer]
	ships  *store.Table[Ship]
	frame  *store.Schedule
}

func newHarbour(s *store.Store) *harbour {
	h := &harbour{store: s}
	h.clock = store.AddValue(s, store.ColumnOptions[Clock]{Name: "clock"})
	h.timers = store.Register(s, store.TableOptions[Timer]{Name: "timer"})
	h.ships = store.Register(s, store.TableOptions[Ship]{Name: "ship"})
	rings := store.Register(s, store.TableOptions[Ring]{Name: "ring", Events: true})
	type on = []store.Resource
	h.frame = store.NewSchedule(
		s,
		store.System{Name: "clock", Writes: on{h.clock}, Run: func(context.Context) error {
			h.clock.Get().Tick++
			return nil
		}},
		store.System{Name: "ring", Reads: on{h.clock}, Writes: on{h.timers}, Emits: on{h.timers, rings}, Run: func(ctx context.Context) error {
			now := h.clock.Get().Tick
			return h.timers.ForEach(ctx, func(c store.Chunk[Timer]) {
				for i := range c.Items {
					t := &c.Items[i]
					if t.Due > now {
						continue
					}
					rings.Emplace(c.Queue, Ring{t.Ship})
					if t.Due += t.Every; t.Every == 0 {
						c.Erase(i)
					}
				}
			})
		}},
		store.System{Name: "load", Reads: on{rings}, Writes: on{h.ships}, Run: func(ctx context.Context) error {
			return store.Fold(ctx, rings, h.ships, func(r *Ring) store.Handle[Ship] { return r.Ship },
				func(s *Ship, _ *Ring) { s.Energy++ })
		}},
	)
	return h
}

func Example_timers() {
	ctx := context.Background()
	h := newHarbour(store.New(store.Options{}))
	var ship store.Handle[Ship]
	err := h.store.Write(ctx, func(w *store.Writer) {
		now := h.clock.Get().Tick
		ship = h.ships.Insert(w, Ship{})
		h.timers.Insert(w, Timer{Due: now + ticks(500*time.Millisecond), Ship: ship})
		h.timers.Insert(w, Timer{Due: now + ticks(time.Second), Every: ticks(time.Second), Ship: ship})
	})
	fmt.Println(err)
	for range 3 * Hz {
		if _, err := h.frame.Run(ctx); err != nil {
			fmt.Println(err)
			return
		}
		if now := h.clock.Get().Tick; now%60 == 0 {
			fmt.Println("tick", now, "energy", h.ships.At(ship).Energy)
		}
	}
	// Output:
	// <nil>
	// tick 60 energy 2
	// tick 120 energy 3
	// tick 180 energy 4
}
