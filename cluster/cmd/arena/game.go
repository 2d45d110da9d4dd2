package main

import (
	"context"
	"encoding/json"
	"time"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

// The cells form a ring. A runner enters the next cell after a lap of steps.
const cellCount, lap = 6, 8

// A runner is the piece of a player. Orders and crossings change it.
type runner struct {
	Player uint64
	Done   uint64 // number of the last order carried out
}

// An order is a step of a player, numbered from 1. Order 1 creates the runner. Only the next
// number is carried out, so repeats count once.
type order struct{ Player, Number uint64 }

// An answer has the cell of the runner after an order. It is zero if the runner is not here.
type answer struct {
	At   cells.ID
	Done uint64
}

// An arena is the program of a cell.
type arena struct {
	*store.Store
	runners  *store.Table[runner]
	byPlayer *store.Index[uint64, runner]
	orders   *world.Requests[order, answer]
	outbox   *cells.Outbox[runner]
	leaving  []runner // in the current tick
}

// openCell returns the program of a cell for a node.
func openCell(_ context.Context, id cells.ID) (c *cluster.Cell, err error) {
	a := &arena{Store: store.New(store.Options{})}
	a.runners = store.Register(a.Store, store.TableOptions[runner]{Name: "runners"})
	a.byPlayer = store.AddIndex(a.runners, "player", func(r *runner) (uint64, bool) { return r.Player, true })
	a.orders = world.NewRequests[order, answer](a.Store, "orders", 100_000, 30*time.Second)
	a.outbox, err = cells.New(a.Store, cells.Options[runner]{})
	o := world.Options{
		Version: "arena 3", SnapshotTicks: 300, DigestTicks: 30, Portable: true, Tick: a.outbox.Tick(a.tick),
		Init: func(_ context.Context, w *store.Writer) error { return a.outbox.Init(w, id) },
	}
	return &cluster.Cell{Store: a.Store, World: o, Serve: a.serve, Outbox: a.outbox}, err
}

func (a *arena) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	for _, r := range a.outbox.Received() {
		a.runners.Insert(w, *r)
	}
	a.leaving = a.leaving[:0]
	if err := a.orders.Tick(a.obey)(ctx, w, t); err != nil {
		return err
	}
	return a.Do(ctx, func(q store.Queue) {
		for _, r := range a.leaving {
			a.outbox.Send(q, a.next(), r)
		}
	})
}

func (a *arena) next() cells.ID { return a.outbox.Self()%cellCount + 1 }

// obey carries out an order.
func (a *arena) obey(w *store.Writer, _ world.Tick, o order) answer {
	self := a.outbox.Self()
	h, here := a.byPlayer.Find(o.Player)
	switch {
	case !here && o.Number == 1:
		a.runners.Insert(w, runner{o.Player, 1})
		return answer{self, 1}
	case !here:
		return answer{}
	}
	r := a.runners.At(h)
	if o.Number != r.Done+1 {
		return answer{self, r.Done} // carried out before
	}
	r.Done++
	done := answer{self, r.Done}
	if r.Done%lap == 0 {
		done.At = a.next()
		a.leaving = append(a.leaving, *r)
		a.runners.Remove(w, h)
	}
	return done
}

func (a *arena) serve(ctx context.Context, w *world.World, c cluster.Call) (reply []byte, err error) {
	var o order
	if err = json.Unmarshal(c.Body, &o); err != nil {
		return nil, err
	}
	done, err := a.orders.Submit(ctx, w, c.Key, o)
	reply, _ = json.Marshal(done)
	return reply, err
}
