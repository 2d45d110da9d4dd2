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
	fullHull      = 3
	reach         = 12 // of a shot
)

// cellAt returns the ID of the cell at a column and a row.
func cellAt(column, row int32) cells.ID {
	return cells.ID(1 + (row+rows)%rows*columns + (column+columns)%columns)
}

// A fighter is the piece of a player. Orders and crossings change it.
type fighter struct {
	Player  uint64
	Done    uint64 // number of the last order carried out
	X, Y    int32  // in its cell
	Heading heading
	Fires   bool
	Hull    int32
	Hits    int32
	Deaths  int32
}

// An order is a command of a player, numbered from 1. Order 1 creates the fighter. Only the
// next number is carried out, so repeats count once.
type order struct {
	Player, Number uint64
	Turn           heading
	Step, Fire     bool
}

// A heading is one of four, clockwise from east.
type heading uint8

func (h heading) vector() (x, y int32) {
	return [4]int32{1, 0, -1, 0}[h&3], [4]int32{0, 1, 0, -1}[h&3]
}

// An arena is the program of a cell.
type arena struct {
	store    *store.Store
	fighters *store.Table[fighter]
	byPlayer *store.Index[uint64, fighter]
	orders   *world.Requests[order, cells.ID] // the answer is the fighter's cell after the order, 0: another one
	outbox   *cells.Outbox[fighter]
	leaving  []crossing // in the current tick
}

type crossing struct {
	to cells.ID
	fighter
}

func newArena(workers int) (*arena, error) {
	g := &arena{store: store.New(store.Options{Workers: workers})}
	g.fighters = store.Register(g.store, store.TableOptions[fighter]{Name: "fighters"})
	g.byPlayer = store.AddIndex(g.fighters, "player", func(f *fighter) (uint64, bool) { return f.Player, true })
	g.orders = world.NewRequests[order, cells.ID](g.store, "orders", 100_000, 30*time.Second)
	var err error
	g.outbox, err = cells.New(g.store, cells.Options[fighter]{Tries: -1})
	return g, err
}

func (g *arena) options(id cells.ID) world.Options {
	obey := g.orders.Tick(g.obey)
	return world.Options{
		Version: "arena 2", SnapshotTicks: 300, DigestTicks: 30, Portable: true,
		Init: func(_ context.Context, w *store.Writer) error { return g.outbox.Init(w, id) },
		Tick: g.outbox.Tick(func(ctx context.Context, w *store.Writer, t world.Tick) error {
			for _, f := range g.outbox.Received() {
				g.fighters.Insert(w, *f)
			}
			g.leaving = g.leaving[:0]
			if err := obey(ctx, w, t); err != nil {
				return err
			}
			return g.store.Do(ctx, func(q store.Queue) {
				for _, c := range g.leaving {
					g.outbox.Send(q, c.to, c.fighter)
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
		f := fighter{Player: o.Player, Done: 1, Heading: o.Turn & 3, Hull: fullHull}
		f.X, f.Y = int32(t.Seed>>33%width), int32(t.Seed>>48%height)
		g.fighters.Insert(w, f)
		return self
	case !here:
		return 0
	}
	f := g.fighters.At(h)
	if o.Number != f.Done+1 {
		return self // carried out before
	}
	f.Done, f.Heading, f.Fires = o.Number, o.Turn&3, o.Fire
	if o.Fire {
		g.shoot(f)
	}
	if !o.Step {
		return self
	}
	x, y := f.Heading.vector()
	f.X, f.Y = f.X+x, f.Y+y
	if f.X >= 0 && f.X < width && f.Y >= 0 && f.Y < height {
		return self
	}
	f.X, f.Y = (f.X+width)%width, (f.Y+height)%height
	place := int32(self - 1)
	to := cellAt(place%columns+x, place/columns+y)
	g.leaving = append(g.leaving, crossing{to, *f})
	g.fighters.Remove(w, h)
	return to
}

// shoot hits the nearest fighter ahead. A fighter without hull restarts in place.
func (g *arena) shoot(f *fighter) {
	x, y := f.Heading.vector()
	var hit *fighter
	nearest := int32(reach + 1)
	for _, other := range g.fighters.All() {
		ahead, aside := (other.X-f.X)*x+(other.Y-f.Y)*y, (other.X-f.X)*y-(other.Y-f.Y)*x
		if ahead > 0 && ahead < nearest && aside*aside <= 1 {
			hit, nearest = other, ahead
		}
	}
	if hit == nil {
		return
	}
	f.Hits++
	if hit.Hull--; hit.Hull == 0 {
		hit.Hull = fullHull
		hit.Deaths++
	}
}

// serve answers an order with the fighter's cell, and an empty call with all fighters.
func (g *arena) serve(ctx context.Context, w *world.World, c cluster.Call) (reply []byte, err error) {
	if len(c.Body) == 0 {
		err = w.Read(ctx, func(context.Context, world.Tick) error {
			all := []fighter{}
			for _, f := range g.fighters.All() {
				all = append(all, *f)
			}
			reply, err = json.Marshal(all)
			return err
		})
		return reply, err
	}
	var o order
	if err := json.Unmarshal(c.Body, &o); err != nil {
		return nil, err
	}
	at, err := g.orders.Submit(ctx, w, c.Key, o)
	if err != nil {
		return nil, err
	}
	return json.Marshal(at)
}
