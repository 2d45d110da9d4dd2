package arenagame

import (
	"context"
	"errors"

	"handloom/store"
	"handloom/world"
)

// The field is a torus.
const (
	Width  = 96
	Height = 54
)

const (
	fullHull   = 3
	bulletLife = 16 // ticks
	bulletStep = 2
	reach      = 1 // of a bullet, to all sides
)

// A Fighter is a player's piece.
type Fighter struct {
	Player  uint64
	Done    uint64 // number of the last order that was carried out
	X, Y    int32
	Heading Heading
	Hull    int32
	Hits    int32 // on others
	Deaths  int32
}

// A Bullet flies until it hits somebody, or its life ends.
type Bullet struct {
	Owner   store.Handle[Fighter]
	X, Y    int32
	Heading Heading
	Life    int32
}

// An Order is what a player wants done, as soon as may be.
type Order struct {
	Player, Number uint64
	Turn           Heading
	Step, Fire     bool
}

// A wound is an event, and therefore an item: many bullets may hit one fighter.
type wound struct{ Target, By store.Handle[Fighter] }

// Heading is one of four, clockwise from east.
type Heading uint8

func (h Heading) move(x, y, by int32) (int32, int32) {
	dx := [4]int32{1, 0, -1, 0}[h&3]
	dy := [4]int32{0, 1, 0, -1}[h&3]
	return (x + dx*by + Width) % Width, (y + dy*by + Height) % Height
}

// Game is a store with the tables and systems of an arena.
type Game struct {
	Store    *store.Store
	Fighters *store.Table[Fighter]
	Bullets  *store.Table[Bullet]
	Orders   *store.Table[Order] // of the tick that is played
	Obeyed   []Order             // those that the last tick carried out; no part of the state
	wounds   *store.Table[wound] // likewise
	suffered store.Groups[wound, Fighter]
	frame    *store.Schedule
}

// New returns an arena without players.
func New(workers int) (*Game, error) {
	s, err := store.New(store.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	g := &Game{Store: s}
	if g.Fighters, err = store.Register(s, store.TableOptions[Fighter]{Name: "fighters", ChunkItems: 8}); err != nil {
		return nil, err
	}
	if g.Bullets, err = store.Register(s, store.TableOptions[Bullet]{Name: "bullets", Shards: 2, ChunkItems: 16}); err != nil {
		return nil, err
	}
	if g.Orders, err = store.Register(s, store.TableOptions[Order]{Name: "orders"}); err != nil {
		return nil, err
	}
	if g.wounds, err = store.Register(s, store.TableOptions[wound]{Name: "wounds"}); err != nil {
		return nil, err
	}
	type on = []store.Resource
	g.frame, err = store.NewSchedule(
		s,
		store.System{Name: "fly", Writes: on{g.Bullets}, Emits: on{g.Bullets}, Run: g.fly},
		store.System{Name: "hit", Reads: on{g.Bullets, g.Fighters}, Emits: on{g.Bullets, g.wounds}, Run: g.hit},
		store.System{Name: "suffer", Reads: on{g.wounds}, Writes: on{g.Fighters}, Run: g.suffer},
	)
	return g, err
}

// Options returns the options of a World of the arena.
func (g *Game) Options() world.Options {
	return world.Options{Program: "arena 1", Tick: g.tick, SnapshotTicks: 300, DigestTicks: 30, Portable: true}
}

func (g *Game) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	if _, err := g.Store.Flush(ctx); err != nil { // the orders arrive
		return err
	}
	if err := g.obey(w, t.Seed); err != nil {
		return err
	}
	g.Orders.Clear(w)
	_, err := g.frame.Run(ctx)
	g.wounds.Clear(w)
	return err
}

// obey carries out the orders, one after the other.
func (g *Game) obey(w *store.Writer, seed uint64) error {
	g.Obeyed = g.Obeyed[:0]
	of := make(map[uint64]store.Handle[Fighter], g.Fighters.Len())
	for h, f := range g.Fighters.All() {
		of[f.Player] = h
	}
	for _, o := range g.Orders.All() {
		h, plays := of[o.Player]
		if !plays && o.Number == 1 {
			seed = seed*6364136223846793005 + 1442695040888963407
			f := Fighter{Player: o.Player, Done: 1, Heading: o.Turn & 3, Hull: fullHull}
			f.X, f.Y = int32(seed>>33%Width), int32(seed>>48%Height)
			h, err := g.Fighters.Insert(w, f)
			if err != nil {
				return err
			}
			of[o.Player] = h
			g.Obeyed = append(g.Obeyed, *o)
		}
		if f, _ := g.Fighters.Get(h); plays && o.Number == f.Done+1 {
			if err := g.carryOut(w, h, f, o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *Game) carryOut(w *store.Writer, h store.Handle[Fighter], f *Fighter, o *Order) (err error) {
	g.Obeyed = append(g.Obeyed, *o)
	f.Done++
	f.Heading = o.Turn & 3
	if o.Step {
		f.X, f.Y = f.Heading.move(f.X, f.Y, 1)
	}
	if o.Fire {
		_, err = g.Bullets.Insert(w, Bullet{Owner: h, X: f.X, Y: f.Y, Heading: f.Heading, Life: bulletLife})
	}
	return err
}

func (g *Game) fly(ctx context.Context) error {
	return g.Bullets.ForEach(ctx, func(_ context.Context, c store.Chunk[Bullet]) error {
		for i := range c.Items {
			b := &c.Items[i]
			b.X, b.Y = b.Heading.move(b.X, b.Y, bulletStep)
			if b.Life--; b.Life <= 0 {
				c.Erase(i)
			}
		}
		return nil
	})
}

func (g *Game) hit(ctx context.Context) error {
	return g.Bullets.ForEachRows(ctx, func(_ context.Context, c store.RowsChunk[Bullet]) error {
		for i, b := range c.Items {
			for h, f := range g.Fighters.All() {
				if h != b.Owner && near(f.X-b.X, Width) && near(f.Y-b.Y, Height) {
					g.wounds.Emplace(c.Queue, wound{h, b.Owner})
					c.Erase(i)
					break
				}
			}
		}
		return nil
	})
}

// near reports whether two places on a ring are within reach.
func near(d, around int32) bool {
	d = (d + around) % around
	return min(d, around-d) <= reach
}

// suffer counts the wounds, for who has them and for whose bullets they are. Who has no
// hull left begins anew in the same place.
func (g *Game) suffer(ctx context.Context) error {
	group := func(key func(*wound) store.Handle[Fighter], count func(f *Fighter, n int32)) error {
		return errors.Join(
			store.GroupBy(ctx, &g.suffered, g.wounds, g.Fighters, key),
			g.suffered.ForEach(ctx, func(_ context.Context, c store.GroupChunk[wound, Fighter]) error {
				for i := range c.Owners {
					count(&c.Owners[i], int32(c.Members(i).Len()))
				}
				return nil
			}),
		)
	}
	return errors.Join(
		group(func(w *wound) store.Handle[Fighter] { return w.By }, func(f *Fighter, n int32) { f.Hits += n }),
		group(func(w *wound) store.Handle[Fighter] { return w.Target }, func(f *Fighter, n int32) {
			if f.Hull -= n; f.Hull <= 0 {
				f.Hull = fullHull
				f.Deaths++
			}
		}),
	)
}
