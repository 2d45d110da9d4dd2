package main

import (
	"context"

	"handloom/store"
	"handloom/world"
)

// The field is a torus.
const (
	width  = 96
	height = 54
)

const (
	fullHull   = 3
	bulletLife = 16 // ticks
	bulletStep = 2
	reach      = 1 // range of a bullet in all directions
)

// A fighter is the piece of a player.
type fighter struct {
	Player  uint64
	Done    uint64 // number of the last order carried out
	X, Y    int32
	Heading heading
	Hull    int32
	Hits    int32
	Deaths  int32
}

// A bullet flies until it hits a fighter or its life ends.
type bullet struct {
	Owner   store.Handle[fighter]
	X, Y    int32
	Heading heading
	Life    int32
}

// An order is a command of a player, numbered from 1. Order 1 creates the fighter. Only the
// next number is carried out, so repeats count once.
type order struct {
	Player, Number uint64
	Turn           heading
	Step, Fire     bool
}

// A wound is an event, and therefore an item: many bullets may hit one fighter.
type wound struct{ Target, By store.Handle[fighter] }

// A heading is one of four, clockwise from east.
type heading uint8

func (h heading) move(x, y, by int32) (int32, int32) {
	dx := [4]int32{1, 0, -1, 0}[h&3]
	dy := [4]int32{0, 1, 0, -1}[h&3]
	return (x + dx*by + width) % width, (y + dy*by + height) % height
}

type arena struct {
	store    *store.Store
	fighters *store.Table[fighter]
	bullets  *store.Table[bullet]
	orders   *store.Table[order] // in the current tick
	obeyed   []order             // orders of the last tick; not part of the state
	wounds   *store.Table[wound]
	frame    *store.Schedule
}

func newArena(workers int) *arena {
	s := store.New(store.Options{Workers: workers})
	g := &arena{store: s}
	g.fighters = store.Register(s, store.TableOptions[fighter]{Name: "fighters", ChunkItems: 8})
	g.bullets = store.Register(s, store.TableOptions[bullet]{Name: "bullets", Shards: 2, ChunkItems: 16})
	g.orders = store.Register(s, store.TableOptions[order]{Name: "orders"})
	g.wounds = store.Register(s, store.TableOptions[wound]{Name: "wounds"})
	type on = []store.Resource
	g.frame = store.NewSchedule(
		s,
		store.System{Name: "fly", Writes: on{g.bullets}, Emits: on{g.bullets}, Run: g.fly},
		store.System{Name: "hit", Reads: on{g.bullets, g.fighters}, Emits: on{g.bullets, g.wounds}, Run: g.hit},
	)
	return g
}

func (g *arena) options() world.Options {
	return world.Options{Version: "arena 1", Tick: g.tick, SnapshotTicks: 300, DigestTicks: 30, Portable: true}
}

func (g *arena) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	if _, err := g.store.Flush(ctx); err != nil { // input
		return err
	}
	g.obey(w, t.Seed)
	g.orders.Clear(w)
	_, err := g.frame.Run(ctx)
	g.takeDamage()
	g.wounds.Clear(w)
	return err
}

// obey carries out the orders in sequence.
func (g *arena) obey(w *store.Writer, seed uint64) {
	g.obeyed = g.obeyed[:0]
	byPlayer := make(map[uint64]store.Handle[fighter], g.fighters.Len())
	for h, f := range g.fighters.All() {
		byPlayer[f.Player] = h
	}
	for _, o := range g.orders.All() {
		h, plays := byPlayer[o.Player]
		if !plays && o.Number == 1 {
			seed = seed*6364136223846793005 + 1442695040888963407
			f := fighter{Player: o.Player, Done: 1, Heading: o.Turn & 3, Hull: fullHull}
			f.X, f.Y = int32(seed>>33%width), int32(seed>>48%height)
			byPlayer[o.Player] = g.fighters.Insert(w, f)
			g.obeyed = append(g.obeyed, *o)
		}
		if f, _ := g.fighters.Get(h); plays && o.Number == f.Done+1 {
			g.carryOut(w, h, f, o)
		}
	}
}

func (g *arena) carryOut(w *store.Writer, h store.Handle[fighter], f *fighter, o *order) {
	g.obeyed = append(g.obeyed, *o)
	f.Done++
	f.Heading = o.Turn & 3
	if o.Step {
		f.X, f.Y = f.Heading.move(f.X, f.Y, 1)
	}
	if o.Fire {
		g.bullets.Insert(w, bullet{Owner: h, X: f.X, Y: f.Y, Heading: f.Heading, Life: bulletLife})
	}
}

func (g *arena) fly(ctx context.Context) error {
	return g.bullets.ForEach(ctx, func(c store.Chunk[bullet]) {
		for i := range c.Items {
			b := &c.Items[i]
			b.X, b.Y = b.Heading.move(b.X, b.Y, bulletStep)
			if b.Life--; b.Life <= 0 {
				c.Erase(i)
			}
		}
	})
}

func (g *arena) hit(ctx context.Context) error {
	return g.bullets.ForEachRows(ctx, func(c store.Rows[bullet]) {
		for i, b := range c.Items {
			for h, f := range g.fighters.All() {
				if h != b.Owner && near(f.X-b.X, width) && near(f.Y-b.Y, height) {
					g.wounds.Emplace(c.Queue, wound{h, b.Owner})
					c.Erase(i)
					break
				}
			}
		}
	})
}

func near(d, around int32) bool {
	d = (d + around) % around
	return min(d, around-d) <= reach
}

// takeDamage counts the wounds for fighters and shooters. A fighter without hull restarts in
// place.
func (g *arena) takeDamage() {
	for _, x := range g.wounds.All() {
		if by, ok := g.fighters.Get(x.By); ok {
			by.Hits++
		}
		f, ok := g.fighters.Get(x.Target)
		if !ok {
			continue
		}
		if f.Hull--; f.Hull == 0 {
			f.Hull = fullHull
			f.Deaths++
		}
	}
}
