package store_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"handloom/store"
)

// region part

// part is a node of a scene graph. It names its parent but not its children.
type part struct {
	Name   byte
	Parent store.Handle[part] // null: a root
	Depth  int                // number of ancestors
	Spin   int                // quarter turns per tick
	Bud    byte               // grows into a part of that name, if not 0
	Local  pose               // relative to the parent
	World  pose               // relative to the root
}

// pose is a turn and then a move.
type pose struct{ Quarters, X, Y int }

// endregion

// then returns q relative to the frame of p.
func (p pose) then(q pose) pose {
	x, y := q.X, q.Y
	for range p.Quarters & 3 {
		x, y = -y, x
	}
	return pose{(p.Quarters + q.Quarters) & 3, p.X + x, p.Y + y}
}

// scene keeps its parts ordered by depth. One walk through memory updates all transforms,
// because parents come first.
type scene struct {
	store *store.Store
	parts *store.Table[part]
	moves int // row moves of the last Defragment
}

func newScene(s *store.Store) *scene {
	// FixedKeys, because no code changes the depth of a part in place. One shard, because the
	// walk has one order.
	parts := store.Register(s, store.TableOptions[part]{Name: "part", FixedKeys: true})
	return &scene{store: s, parts: parts}
}

// add adds a part to a parent, which is null for a root.
func (g *scene) add(ctx context.Context, parent store.Handle[part], p part) (h store.Handle[part], err error) {
	err = g.store.Write(ctx, func(w *store.Writer) {
		if at, ok := g.parts.Get(parent); ok {
			p.Parent, p.Depth = parent, at.Depth+1
		}
		h = g.parts.Insert(w, p)
	})
	return h, err
}

// region cut

// cut removes a part and all its descendants in one Frame.
func (g *scene) cut(ctx context.Context, h store.Handle[part]) error {
	_, err := g.store.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		g.parts.Remove(w, h)
		return store.EraseOrphans(ctx, g.parts, g.parts, func(p *part) store.Handle[part] { return p.Parent })
	})
	return err
}

// endregion

// region tick

// tick runs the next tick in one Frame, so readers see whole ticks.
func (g *scene) tick(ctx context.Context) error {
	_, err := g.store.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		if err := g.parts.ForEach(ctx, g.live); err != nil {
			return err
		}
		if _, err := g.store.Flush(ctx); err != nil {
			return err
		}
		// No budget: the map knows which parts are new, and moves only these.
		moves, _, err := store.Defragment(ctx, g.parts, w, byDepth, 0)
		g.moves = moves
		for _, p := range g.parts.All() {
			if parent, ok := g.parts.Get(p.Parent); ok {
				p.World = parent.World.then(p.Local)
			} else if p.Parent.ID.IsZero() {
				p.World = p.Local
			}
		}
		return err
	})
	return err
}

func byDepth(a, b *part) int { return cmp.Compare(a.Depth, b.Depth) }

// endregion

// live turns the parts of a chunk and lets buds grow into a part with a leaf. The leaf's parent
// is a provisional handle, which the flush makes real.
func (g *scene) live(c store.Chunk[part]) {
	for i := range c.Items {
		p := &c.Items[i]
		p.Local.Quarters = (p.Local.Quarters + p.Spin) & 3
		if p.Bud != 0 {
			twig := g.parts.Emplace(c.Queue, part{Name: p.Bud, Parent: c.Handle(i), Depth: p.Depth + 1, Local: pose{X: 1}})
			g.parts.Emplace(c.Queue, part{Name: p.Bud + 1, Parent: twig, Depth: p.Depth + 2, Local: pose{X: 1}})
			p.Bud = 0
		}
	}
}

func (g *scene) String() string {
	var b strings.Builder
	for _, p := range g.parts.All() {
		fmt.Fprintf(&b, " %c(%d,%d)", p.Name, p.World.X, p.World.Y)
	}
	return b.String()
}

// A scene graph: parents named by handle, links to parts that are only recorded, and transforms
// in an order that Defragment keeps.
func Example_sceneGraph() {
	ctx := context.Background()
	s := store.New(store.Options{})
	g := newScene(s)
	body, _ := g.add(ctx, store.Handle[part]{}, part{Name: 'b', Spin: 1})
	arm, _ := g.add(ctx, body, part{Name: 'a', Local: pose{X: 10}})
	hand, _ := g.add(ctx, arm, part{Name: 'h', Local: pose{X: 5}, Spin: 1})
	_, _ = g.add(ctx, body, part{Name: 'l', Local: pose{Y: 7}, Bud: 't'})

	for tick := range 7 {
		if tick == 2 {
			_, _ = g.add(ctx, hand, part{Name: 'f', Local: pose{X: 1}})
		}
		if tick == 4 {
			_ = g.cut(ctx, arm)
		}
		if err := g.tick(ctx); err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%d moves:%v\n", g.moves, g)
	}
	// Output:
	// 2 moves: b(0,0) a(0,10) l(-7,0) h(0,15) t(-7,1) u(-7,2)
	// 0 moves: b(0,0) a(-10,0) l(0,-7) h(-15,0) t(-1,-7) u(-2,-7)
	// 0 moves: b(0,0) a(0,-10) l(7,0) h(0,-15) t(7,-1) u(7,-2) f(-1,-15)
	// 0 moves: b(0,0) a(10,0) l(0,7) h(15,0) t(1,7) u(2,7) f(16,0)
	// 2 moves: b(0,0) l(-7,0) t(-7,1) u(-7,2)
	// 0 moves: b(0,0) l(0,-7) t(-1,-7) u(-2,-7)
	// 0 moves: b(0,0) l(7,0) t(7,-1) u(7,-2)
}
