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

// The field is a torus of cells, each with a world of its own.
const (
	columns, rows = 3, 2
	fieldCells    = columns * rows
	width, height = 32, 27 // of a cell
)

// A runner is the piece of a player. Orders and crossings change it.
type runner struct {
	Player  uint64
	Done    uint64 // number of the last order carried out
	X, Y    int32  // in its cell
	Heading int32  // one of four, clockwise from east
}

// An order is a step of a player, numbered from 1. Order 1 creates the runner. Only the next
// number is carried out, so repeats count once.
type order struct {
	Player, Number uint64
	Heading        int32
}

// An arena is the program of a cell.
type arena struct {
	store    *store.Store
	runners  *store.Table[runner]
	byPlayer *store.Index[uint64, runner]
	orders   *world.Requests[order, cells.ID] // answers: the cell of the runner after the order, or 0 if it is not here
	outbox   *cells.Outbox[runner]
	leaving  map[cells.ID][]runner // in the current tick, by cell
}

func newArena(workers int) (g *arena, err error) {
	g = &arena{store: store.New(store.Options{Workers: workers}), leaving: make(map[cells.ID][]runner)}
	g.runners = store.Register(g.store, store.TableOptions[runner]{Name: "runners"})
	g.byPlayer = store.AddIndex(g.runners, "player", func(r *runner) (uint64, bool) { return r.Player, true })
	g.orders = world.NewRequests[order, cells.ID](g.store, "orders", 100_000, 30*time.Second)
	g.outbox, err = cells.New(g.store, cells.Options[runner]{})
	return g, err
}

func (g *arena) options(id cells.ID) world.Options {
	obey := g.orders.Tick(g.obey)
	return world.Options{
		Version: "arena 2", SnapshotTicks: 300, DigestTicks: 30, Portable: true,
		Init: func(_ context.Context, w *store.Writer) error { return g.outbox.Init(w, id) },
		Tick: g.outbox.Tick(func(ctx context.Context, w *store.Writer, t world.Tick) error {
			for _, r := range g.outbox.Received() {
				g.runners.Insert(w, *r)
			}
			clear(g.leaving)
			if err := obey(ctx, w, t); err != nil {
				return err
			}
			return g.store.Do(ctx, func(q store.Queue) {
				for to := range cells.ID(fieldCells + 1) {
					for _, r := range g.leaving[to] {
						g.outbox.Send(q, to, r)
					}
				}
			})
		}),
	}
}

// obey carries out an order.
func (g *arena) obey(w *store.Writer, t world.Tick, o order) cells.ID {
	self := g.outbox.Self()
	h, here := g.byPlayer.Find(o.Player)
	switch {
	case !here && o.Number == 1:
		g.runners.Insert(w, runner{o.Player, 1, int32(t.Seed >> 33 % width), int32(t.Seed >> 48 % height), o.Heading & 3})
		return self
	case !here:
		return 0
	}
	r := g.runners.At(h)
	if o.Number != r.Done+1 {
		return self // carried out before
	}
	r.Done, r.Heading = o.Number, o.Heading&3
	dx, dy := [4]int32{1, 0, -1, 0}[r.Heading], [4]int32{0, 1, 0, -1}[r.Heading]
	r.X, r.Y = r.X+dx, r.Y+dy
	if r.X >= 0 && r.X < width && r.Y >= 0 && r.Y < height {
		return self
	}
	r.X, r.Y = (r.X+width)%width, (r.Y+height)%height
	column, row := int32(self-1)%columns+dx, int32(self-1)/columns+dy
	to := cells.ID(1 + (row+rows)%rows*columns + (column+columns)%columns)
	g.leaving[to] = append(g.leaving[to], *r)
	g.runners.Remove(w, h)
	return to
}

// serve answers an order with the runner's cell, and an empty call with all runners.
func (g *arena) serve(ctx context.Context, w *world.World, c cluster.Call) (reply []byte, err error) {
	if len(c.Body) == 0 {
		err = w.Read(ctx, func(context.Context, world.Tick) error {
			all := []runner{}
			for _, r := range g.runners.All() {
				all = append(all, *r)
			}
			reply, err = json.Marshal(all)
			return err
		})
		return reply, err
	}
	var o order
	if err = json.Unmarshal(c.Body, &o); err != nil {
		return nil, err
	}
	at, err := g.orders.Submit(ctx, w, c.Key, o)
	if err == nil {
		reply, err = json.Marshal(at)
	}
	return reply, err
}
